import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

export type Launcher = ReturnType<typeof launch>;

/**
 * Starts `host/start.mts` as npm does.
 *
 * @param checkout the folder of the project
 * @param data where it keeps its data
 */
export function launch(checkout: string, data: string, ...options: string[]) {
	const child = spawn(process.execPath, ['host/start.mts', ...options], {
		cwd: checkout,
		env: { ...process.env, XDG_DATA_HOME: data },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let text = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
	}
	return {
		child,
		/** Everything that it has written. */
		text: () => text,
		/** Settles when it has ended, with its exit code. */
		exit: once(child, 'close').then(([code]) => code as number | null),
		/** Waits for a text that it writes, or for the last line. */
		written: async (expected = 'Ctrl-C stops both') => {
			while (!text.includes(expected)) {
				if (child.exitCode !== null) throw new Error(text);
				await sleep(100);
			}
		},
	};
}
