import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Trouble } from '../host/trouble.mts';

/** Marks a SQLite file as the sandbox's, so that a reset never empties a file of another program. */
const APPLICATION_ID = 0x52_53_4d_45;

/** Raise it if files with the schema of before no longer work. */
const SCHEMA_VERSION = 4;

/** Times are Unix seconds, as in the subscription record (specification §2). */
const SCHEMA = `
	CREATE TABLE users (
		id TEXT PRIMARY KEY,
		email TEXT NOT NULL UNIQUE COLLATE NOCASE,
		first_name TEXT NOT NULL,
		last_name TEXT NOT NULL,
		ai_credits INTEGER NOT NULL DEFAULT 0,
		created INTEGER NOT NULL
	) STRICT;

	CREATE TABLE subscriptions (
		user_id TEXT PRIMARY KEY REFERENCES users (id),
		plan_id TEXT NOT NULL,
		status TEXT NOT NULL,
		created INTEGER NOT NULL,
		current_period_start INTEGER NOT NULL,
		current_period_end INTEGER NOT NULL
	) STRICT;

	CREATE TABLE resumes (
		id TEXT PRIMARY KEY,
		user_id TEXT NOT NULL REFERENCES users (id),
		title TEXT NOT NULL,
		created INTEGER NOT NULL,
		updated INTEGER NOT NULL,
		extra TEXT NOT NULL DEFAULT '{}'
	) STRICT;
	CREATE INDEX resumes_of_user ON resumes (user_id);

	CREATE TABLE sections (
		id TEXT PRIMARY KEY,
		resume_id TEXT NOT NULL REFERENCES resumes (id),
		position INTEGER NOT NULL,
		type TEXT NOT NULL,
		title TEXT NOT NULL,
		content TEXT NOT NULL,
		extra TEXT NOT NULL DEFAULT '{}',
		UNIQUE (resume_id, position)
	) STRICT;

	CREATE TABLE upgrade_requests (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		email TEXT,
		plan_id TEXT,
		ai_token_id TEXT,
		api_key TEXT NOT NULL,
		error_code TEXT,
		created INTEGER NOT NULL
	) STRICT;
	CREATE VIEW upgrades AS SELECT id, email, plan_id, ai_token_id, created
		FROM upgrade_requests WHERE error_code IS NULL;

	CREATE TABLE webhooks (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		url TEXT NOT NULL UNIQUE,
		registration TEXT NOT NULL
	) STRICT;
`;

/**
 * Opens the sandbox's database, and creates the file, its folder and its tables where they are missing.
 *
 * @param file path of the SQLite file, or `:memory:`
 * @returns the database, and whether its tables are new and need their data
 * @throws {Trouble} if the file can't be written, or is another program's or another version's
 */
export function openDatabase(file: string, reset = false) {
	let database: DatabaseSync | undefined;
	try {
		if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
		database = new DatabaseSync(file, { timeout: 5_000 });
		return { database, created: prepareSchema(database, reset) };
	} catch (error) {
		database?.close();
		const reason = (error as Error).message;
		throw new Trouble(
			`The data file ${file} can't be used: ${reason}. You can choose another file with --file.`,
		);
	}
}

/** Does work in one transaction, which is rolled back if the work throws. Returns its result. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
	database.exec('BEGIN IMMEDIATE');
	try {
		const result = work();
		database.exec('COMMIT');
		return result;
	} catch (error) {
		// After some errors, such as a full disk, SQLite has rolled back: https://www.sqlite.org/lang_transaction.html
		if (database.isTransaction) database.exec('ROLLBACK');
		throw error;
	}
}

/** Returns whether the tables were created. */
function prepareSchema(database: DatabaseSync, reset: boolean): boolean {
	const sql = database.createTagStore();
	// Tables and views that refer to others come first, so that they can be dropped in this order.
	const tables = sql.all`SELECT type, name FROM sqlite_schema
		WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC`;
	const isNew = tables.length === 0;
	if (!isNew && sql.get`PRAGMA application_id`?.application_id !== APPLICATION_ID) {
		throw new Error('it belongs to another program');
	}
	if (!isNew && !reset && sql.get`PRAGMA user_version`?.user_version !== SCHEMA_VERSION) {
		throw new Error('another version of the sandbox wrote it. --reset fills it again');
	}
	if (!isNew && !reset) return false;
	database.exec('PRAGMA journal_mode = WAL');
	inTransaction(database, () => {
		for (const { type, name } of tables) database.exec(`DROP ${type} "${String(name)}"`);
		database.exec(`${SCHEMA}
			PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
	});
	return true;
}
