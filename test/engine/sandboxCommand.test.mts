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

it('serves as many users as it is told to, each answer late, and keeps to the file that it has', async () => {
	const file = join(folder, 'many.sqlite');
	const switches = ['--port', '0', '--file', file, '--users', '1000'];
	const { child, ended, printed } = run(...switches, '--latency', '200');
	const baseUrl = /http:\S+\/v1/.exec(await printed('AI tokens'))?.[0];
	const started = performance.now();
	const { data } = await axios.get(`${baseUrl}/users`, {
		headers: requiredHeaders(SANDBOX_KEYS.live),
		data: undefined,
	});
	expect(data.data).toHaveLength(1_000);
	expect(performance.now() - started).toBeGreaterThan(190);
	child.kill('SIGINT');
	expect((await ended).code).toBe(0);

	const { code, output } = await run('--port', '0', '--file', file, '--users', '60').ended;
	expect(code).toBe(1);
	expect(output).toContain(`${file} has 1000 users. Start once with --reset to fill it with 60`);
});

it('explains its switches', async () => {
	const { code, output } = await run('--help').ended;
	expect(code).toBe(0);
	const names = ['--port', '--file', '--in-memory', '--reset', '--users', '--latency'];
	for (const name of names) expect(output).toContain(name);
});

it.each([
	[['--prot', '1'], "Unknown option '--prot'"],
	[['--port', 'http'], '--port takes a number from 0 to 65535, not "http".'],
	[['--port', '65536'], '--port takes a number from 0 to 65535, not "65536".'],
	[['--users', '0'], '--users takes a number from 1 to 1000000, not "0".'],
	[['--latency', 'slow'], '--latency takes a number from 0 to 600000, not "slow".'],
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
	const port = Number(new URL(other.url).port);
	expect(output).toBe(
		`Port ${port} is in use by another program: stop that program, or choose another port, for example \`npm run sandbox -- --port ${port + 1}\`.\n`,
	);
});
