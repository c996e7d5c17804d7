/** Imported before n8n-core, which reads these while it loads and writes into the user folder. */
import 'reflect-metadata';
import { Console } from 'node:console';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { runInThisContext } from 'node:vm';

/** The globals of n8n's packages, which all test files of a worker share (loadOnce.cjs). */
export const shared = runInThisContext('globalThis') as typeof globalThis;

const folder = join(process.env.RUN_FOLDER ?? tmpdir(), 'n8n-engine-');
shared.process.env.N8N_USER_FOLDER ??= mkdtempSync(folder);
shared.process.env.N8N_ENCRYPTION_KEY = 'engine-tests';
shared.process.env.N8N_LOG_LEVEL = 'debug';

export const printed: string[] = [];

shared.console = new Console(
	new Writable({
		decodeStrings: false,
		write(text: string, _encoding, done) {
			printed.push(text);
			done();
		},
	}),
);

// A change by a test, such as a fixed Math.random, reaches the nodes, and ends with the test file.
shared.Math = Math;
