import { spawn } from 'node:child_process';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../sandbox/main.mts');

/**
 * Starts the sandbox as `npm run sandbox` does; `printed` resolves with the output once it holds a
 * text, or once the command has ended.
 */
export function runSandbox(switches: string[], environment: NodeJS.ProcessEnv = {}) {
	const child = spawn(process.execPath, [MAIN, ...switches], {
		env: { ...process.env, ...environment },
	});
	let output = '';
	const collect = (chunk: Buffer) => {
		output += chunk.toString();
	};
	child.stdout.on('data', collect);
	child.stderr.on('data', collect);
	const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
		child.on('close', (code) => resolve({ code, output }));
	});
	const printed = async (text: string): Promise<string> => {
		while (!output.includes(text) && child.exitCode === null) {
			await new Promise((resolve) => setTimeout(resolve, 10));
		}
		return output;
	};
	return { child, ended, printed };
}
