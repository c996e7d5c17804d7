/** Imported before n8n-core, which reads these while it loads and writes into the user folder. */
import 'reflect-metadata';

import { Console } from 'node:console';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';

process.env.N8N_USER_FOLDER = mkdtempSync(join(tmpdir(), 'n8n-engine-'));
process.env.N8N_ENCRYPTION_KEY = 'engine-tests';
process.env.N8N_LOG_LEVEL = 'debug';

/** What n8n-core's own logger prints. */
export const printed: string[] = [];

globalThis.console = new Console(
	new Writable({
		decodeStrings: false,
		write(text: string, _encoding, done) {
			printed.push(text);
			done();
		},
	}),
);
