import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Trouble } from '../host/trouble.mts';

/** Marks a SQLite file as the sandbox's, so that a reset never empties somebody else's file. */
const APPLICATION_ID = 0x52_53_4d_45;

/** To be raised with every change of the schema. */
const SCHEMA_VERSION = 3;

/**
 * Times are Unix timestamps in seconds, as in the specification's subscription record (§2), except
 * where a name ends in `_ms`.
 */
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

	CREATE TABLE upgrades (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		email TEXT NOT NULL,
		plan_id TEXT NOT NULL,
		ai_token_id TEXT,
		created INTEGER NOT NULL
	) STRICT;

	CREATE TABLE webhooks (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		url TEXT NOT NULL UNIQUE,
		registration TEXT NOT NULL
	) STRICT;

	CREATE TABLE deliveries (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		webhook_id INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
		event_id TEXT NOT NULL,
		body TEXT NOT NULL,
		status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
		attempts INTEGER NOT NULL DEFAULT 0,
		last_status INTEGER,
		last_error TEXT,
		last_attempt_at_ms INTEGER
	) STRICT;
`;

/**
 * Opens the sandbox's database, creating file, folder and schema where they are missing.
 *
 * @param file path of the SQLite file, or `:memory:`
 * @param reset empty the database first
 * @returns the open database, and whether its tables were created just now and need their seed
 * @throws {Trouble} the file cannot be written, is no SQLite file, or belongs to another
 * program or to another version of the sandbox
 */
export function openDatabase(file: string, reset: boolean) {
	let database: DatabaseSync | undefined;
	try {
		if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
		database = new DatabaseSync(file, { timeout: 5_000 });
		return { database, created: prepareSchema(database, file, reset) };
	} catch (error) {
		database?.close();
		if (error instanceof Trouble) throw error;
		throw new Trouble(
			`The data file ${file} cannot be opened for writing ` +
				`(${(error as Error).message}). ` +
				'Check its folder and permissions, or choose another file with --file.',
		);
	}
}

/** Runs work in one transaction, which is rolled back when the work throws; answers its result. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
	database.exec('BEGIN IMMEDIATE');
	try {
		const result = work();
		database.exec('COMMIT');
		return result;
	} catch (error) {
		// After a full disk, for one, SQLite has rolled back: https://www.sqlite.org/lang_transaction.html
		if (database.isTransaction) database.exec('ROLLBACK');
		throw error;
	}
}

function prepareSchema(database: DatabaseSync, file: string, reset: boolean): boolean {
	const sql = database.createTagStore();
	// Those that refer to others come first, so that they can be dropped in this order.
	const tables = sql.all`SELECT name FROM sqlite_schema
		WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC`;
	const isEmpty = tables.length === 0;
	if (!isEmpty && sql.get`PRAGMA application_id`?.application_id !== APPLICATION_ID) {
		throw new Trouble(
			`The file ${file} belongs to another program. Choose another file with --file.`,
		);
	}
	if (!isEmpty && !reset && sql.get`PRAGMA user_version`?.user_version !== SCHEMA_VERSION) {
		throw new Trouble(
			`The data file ${file} was written by another version of the sandbox. ` +
				'Start once with --reset to fill it anew.',
		);
	}
	database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
	// Also where there is nothing to create: a file that can only be read fails here, and not later.
	inTransaction(database, () => {
		if (!isEmpty && !reset) return;
		for (const { name } of tables) database.exec(`DROP TABLE "${String(name)}"`);
		database.exec(SCHEMA);
		database.exec(
			`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`,
		);
	});
	return isEmpty || reset;
}
