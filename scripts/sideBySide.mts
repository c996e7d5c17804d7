/**
 * `node scripts/sideBySide.mts <command> …`: runs commands of the shell at the same time, and shows what
 * each has written once it has ended. Fails if one of them does.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const succeeded = await Promise.all(process.argv.slice(2).map(run));
process.exitCode = succeeded.every(Boolean) ? 0 : 1;

async function run(command: string): Promise<boolean> {
	const begin = performance.now();
	const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
	const written: Buffer[] = [];
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (piece: Buffer) => written.push(piece));
	}
	const [code] = (await once(child, 'close')) as [number | null];
	const seconds = Math.round((performance.now() - begin) / 1_000);
	process.stdout.write(`\n${code === 0 ? '✓' : '✗'} ${command} (${seconds} s)\n`);
	process.stdout.write(Buffer.concat(written));
	return code === 0;
}
