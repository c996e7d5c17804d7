import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import axios from 'axios';

import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startSandbox } from '../../sandbox/server.mts';
import { requiredHeaders } from '../support/sandboxClient.mts';
import { runSandbox } from '../support/sandboxCommand.mts';

let folder: string;
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the command with its data away from the user's own. */
const run = (...switches: string[]) => runSandbox(switches, { XDG_DATA_HOME: folder });

it('starts, names address, file and keys, serves, and stops on Ctrl-C', async () => {
	const file = join(folder, 'named.sqlite');
	const { child, ended, printed } = run('--port', '0', '--file', file);
	const output = await printed('AI tokens');
	expect(output).toContain(file);
	for (const key of Object.values(SANDBOX_KEYS)) expect(output).toContain(key);
	const baseUrl = /http:\S+\/v1/.exec(output)?.[0];
	const { data } = await axios.get(`${baseUrl}/users`, {
		headers: requiredHeaders(SANDBOX_KEYS.live),
		data: undefined,
	});
	expect(data.data).toHaveLength(60);
	child.kill('SIGINT');
	expect((await ended).code).toBe(0);
});

it('explains its switches', async () => {
	const { code, output } = await run('--help').ended;
	expect(code).toBe(0);
	for (const name of ['--port', '--file', '--in-memory', '--reset']) expect(output).toContain(name);
});

it.each([
	[['--prot', '1'], "Unknown option '--prot'"],
	[['--port', 'http'], '--port takes a number from 0 to 65535, not "http".'],
	[['--port', '65536'], '--port takes a number from 0 to 65535, not "65536".'],
	[['--in-memory', '--file', 'x'], 'Use either --file or --in-memory, not both.'],
	[['--port', '0', '--file', tmpdir()], 'Check its folder and permissions'],
])('refuses %j in a sentence', async (switches, sentence) => {
	const { code, output } = await run(...switches).ended;
	expect(code).toBe(1);
	expect(output).toContain(sentence);
	expect(output).not.toMatch(/\n\s+at /);
});

it('says so when the port is in use', async () => {
	const other = await startSandbox({ port: 0 });
	const { code, output } = await run('--in-memory', '--port', new URL(other.url).port).ended;
	await other.close();
	expect(code).toBe(1);
	expect(output).toBe(
		`Port ${new URL(other.url).port} is in use. ` +
			'Stop the program that uses it, or choose another port with --port.\n',
	);
});
