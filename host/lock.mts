import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/** SQLite's error code for a locked database: https://sqlite.org/rescode.html#busy */
const sqliteBusy = 5;

/**
 * Takes the lock in `file`, and returns the function that releases it; `undefined` while another process or caller has it.
 * The lock is SQLite's on an empty database. The operating system releases it when its holder dies, while lock files
 * (proper-lockfile) go stale.
 */
export async function tryLock(file: string): Promise<(() => void) | undefined> {
	await mkdir(dirname(file), { recursive: true });
	const database = new DatabaseSync(file, { timeout: 0 });
	try {
		database.exec('BEGIN EXCLUSIVE');
		return () => database.close();
	} catch (error) {
		database.close();
		if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined;
		throw error;
	}
}

/** Waits for the lock: see {@link tryLock}. */
export async function waitForLock(file: string, signal?: AbortSignal): Promise<() => void> {
	for (;;) {
		const release = await tryLock(file);
		if (release !== undefined) return release;
		await sleep(500, undefined, { signal });
	}
}
