import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/** SQLite's code of a database that another connection has locked: https://sqlite.org/rescode.html#busy */
const sqliteBusy = 5;

/**
 * Takes the lock kept in `file` and answers the function that gives it back; `undefined` while
 * another process (or caller) has it. The lock is SQLite's own on an empty database: the operating
 * system gives it back when its holder dies, while lock files (proper-lockfile) go stale.
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

/** {@link tryLock} that waits for the other holder. */
export async function waitForLock(file: string, signal?: AbortSignal): Promise<() => void> {
	for (;;) {
		const release = await tryLock(file);
		if (release !== undefined) return release;
		await sleep(500, undefined, { signal });
	}
}
