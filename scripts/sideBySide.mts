/**
 * `node scripts/sideBySide.mts <number> <command>…`: runs the commands, so many at once, and prints the output of each
 * when it ends. If one fails, the others run to their end.
 */
import execa from 'execa';
import { projectRoot } from '../host/paths.mts';

const [atOnce, ...commands] = process.argv.slice(2);
const env = { ...(process.stdout.isTTY && { FORCE_COLOR: '1' }) };
const failed: string[] = [];

async function runNext(): Promise<void> {
	const command = commands.shift();
	if (command === undefined) return;
	const start = performance.now();
	const options = { cwd: projectRoot, env, all: true, stdin: 'ignore', reject: false } as const;
	const result = await execa(command, { ...options, preferLocal: true, shell: true });
	const seconds = Math.round((performance.now() - start) / 1_000);
	console.log(`\n${result.failed ? '✗' : '✓'} ${command} (${seconds} s)\n${result.all}`);
	if (result.failed) failed.push(command);
	await runNext();
}

await Promise.all(Array.from({ length: Number(atOnce) }, runNext));
for (const command of failed) console.error(`Failed: ${command}`);
if (failed.length > 0) process.exitCode = 1;
