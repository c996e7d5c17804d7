import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** A running `host/start.mts`. */
export interface Launcher {
	child: ChildProcess;
	/** Everything that it has written. */
	text(): string;
	/** Settles when it has ended, with its exit code. */
	exit: Promise<number | null>;
}

/**
 * Starts `host/start.mts` as npm does.
 *
 * @param checkout the folder of the project
 * @param data where it keeps its data
 */
export function launchIn(checkout: string, data: string, ...options: string[]): Launcher {
	const child = spawn(process.execPath, ['host/start.mts', ...options], {
		cwd: checkout,
		env: { ...process.env, XDG_DATA_HOME: data },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let text = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
	}
	return { child, text: () => text, exit: once(child, 'close').then(([code]) => code as number) };
}

/** Waits for the last line that it writes. */
export async function whenReady(launcher: Launcher): Promise<void> {
	await whenWritten(launcher, 'Ctrl-C stops both');
}

/** Waits for a text that it writes. */
export async function whenWritten(launcher: Launcher, expected: string): Promise<void> {
	while (!launcher.text().includes(expected)) {
		if (launcher.child.exitCode !== null) throw new Error(launcher.text());
		await sleep(100);
	}
}
