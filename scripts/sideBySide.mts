/**
 * `node scripts/sideBySide.mts <command> …`: runs shell commands at the same time, and prints the output of each when it
 * ends. Fails if one of them fails.
 */
import execa from 'execa';

const options = { shell: true, stdin: 'ignore', all: true, reject: false } as const;

await Promise.all(
	process.argv.slice(2).map(async (command) => {
		const started = performance.now();
		const { failed, all } = await execa(command, options);
		const seconds = Math.round((performance.now() - started) / 1_000);
		console.log(`\n${failed ? '✗' : '✓'} ${command} (${seconds} s)\n${all}`);
		if (failed) process.exitCode = 1;
	}),
);
