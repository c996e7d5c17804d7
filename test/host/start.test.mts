import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import type { INodeTypeDescription } from 'n8n-workflow';
import { installHost, watchInstallation } from '../../host/install.mts';
import { packageName, projectRoot } from '../../host/paths.mts';
import { freePort } from '../../host/ports.mts';
import { reportTo } from '../../host/progress.mts';
import { owner, readExamples } from '../../host/workspace.mts';
import { TestApi } from '../support/testApi.mts';
import { startMilliseconds } from './instance.mts';

// prettier-ignore
const parts = [
	'credentials', 'dist', 'gulpfile.js', 'host', 'icons', 'nodes', 'package.json', 'sandbox',
	'tsconfig.json', 'workflows', 'README.md', 'LICENSE.md',
];

let folder: string;
/** A copy of the project, because the tests change its sources. */
let checkout: string;
let port: number;
let sandboxPort: number;
const children: ChildProcess[] = [];

beforeAll(async () => {
	await installHost(2, reportTo(process.stderr));
	folder = await mkdtemp(join(tmpdir(), 'resume-management-start-'));
	checkout = join(folder, 'checkout');
	const options = { recursive: true, preserveTimestamps: true };
	for (const part of parts) await cp(join(projectRoot, part), join(checkout, part), options);
	await symlink(join(projectRoot, 'node_modules'), join(checkout, 'node_modules'));
	// `npm run dev` gets the data of `npm start`, so that one n8n shows both that data stay and that changes are loaded.
	await mkdir(join(folder, packageName));
	await symlink('.', join(folder, packageName, 'dev'));
}, startMilliseconds);

beforeEach(async () => {
	port = await freePort();
	sandboxPort = await freePort();
});

afterAll(async () => {
	for (const child of children) child.kill('SIGTERM');
	await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const launcher = [process.execPath, 'host/start.mts'];

function start(options: string[] = [], env: Record<string, string> = {}, program = launcher) {
	const ports = ['--port', String(port), '--sandbox-port', String(sandboxPort)];
	const [command, ...args] = [...program, ...ports, ...options];
	const child = spawn(command!, args, {
		cwd: checkout,
		env: { ...process.env, XDG_DATA_HOME: folder, ...env },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	children.push(child);
	let text = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
	}
	return {
		child,
		text: () => text,
		/** Settles with the exit code. */
		exit: once(child, 'close').then(([code]) => code as number | null),
		/** Waits for a text, or for the last line of the start. */
		written: async (expected = 'Ctrl-C stops both') => {
			while (!text.includes(expected)) {
				if (child.exitCode !== null) throw new Error(text);
				await sleep(100);
			}
		},
	};
}

async function isOpen(port: number): Promise<boolean> {
	const options = { proxy: false, validateStatus: null, timeout: 2_000 } as const;
	const response = axios.get(`http://127.0.0.1:${port}/healthz`, options);
	return await response.then(Boolean, () => false);
}

async function change(file: string, from: string, to: string): Promise<void> {
	const path = join(checkout, file);
	const before = await readFile(path, 'utf8');
	expect(before).toContain(from);
	await writeFile(path, before.replace(from, to));
}

test('npm start prints addresses and login, and Ctrl-C stops everything', async () => {
	const first = start();
	await first.written();
	for (const text of [`127.0.0.1:${port}`, `127.0.0.1:${sandboxPort}`, owner.password]) {
		expect(first.text()).toContain(text);
	}
	first.child.kill('SIGINT');
	expect(await first.exit).toBe(0);
	expect(first.text()).not.toMatch(/^\s+at /m);
	expect([await isOpen(port), await isOpen(sandboxPort)]).toEqual([false, false]);
}, 300_000);

test('a second start keeps the data, npm run dev loads changes, and n8n ends with its launcher', async () => {
	// Registered before webhooks had names, with a signature that the user chose.
	const database = new DatabaseSync(join(folder, packageName, 'sandbox.sqlite'));
	database.exec(`UPDATE webhooks SET registration =
		json_set(json_remove(registration, '$.name'), '$.style', 'hmac')`);
	database.close();

	const second = start(['--watch']);
	await second.written();
	const api = new TestApi(`http://127.0.0.1:${port}`);
	await api.signIn(owner);
	const workflows = await api.listWorkflows();
	const examples = (await readExamples()).map(({ definition }) => definition.name);
	expect(workflows.map(({ name }) => name).sort()).toEqual(examples.sort());
	expect(await api.listCredentials()).toHaveLength(4);

	// The example that waits for events is active, and registered once, although the port has changed.
	const waiting = workflows.filter(({ active }) => active);
	expect(waiting).toMatchObject([{ name: 'Score a resume when a section is saved' }]);
	const readPage = async (name: string) =>
		(await axios.get<string>(`http://127.0.0.1:${sandboxPort}/${name}`)).data;
	const addresses = (await readPage('webhooks')).matchAll(
		/is saved<\/strong> \(hmac\)<br>(http[^<]*)/g,
	);
	expect(Array.from(addresses, ([, address]) => address)).toEqual([
		expect.stringMatching(`^http://127.0.0.1:${port}/webhook/[0-9a-f-]{36}/webhook$`),
	]);

	// So has the port for emails, which the credential follows.
	const mailing = workflows.find(({ name }) => name === 'Tell of failed executions')!;
	await api.waitForExecution(await api.runWorkflow(mailing.id, 'Execution failed'));
	expect(await readPage('emails')).toContain('<h2>Failed: ');

	const third = start(['--watch']);
	expect(await third.exit).toBe(1);
	expect(third.text()).toContain('Another `npm start` is using');

	const description = 'nodes/ResumeManagement/ResumeManagement.node.ts';
	await change(description, "displayName: 'Resume Management'", 'displayName: 5');
	await second.written("Type 'number' is not assignable to type 'string'");
	await change('nodes/ResumeManagement/ResumeManagement.node.json', '"cv"', '"vita"');
	await change(description, 'displayName: 5', "displayName: 'Changed'");
	const isChanged = ({ displayName, codex }: INodeTypeDescription) =>
		displayName === 'Changed' && codex?.alias?.includes('vita');
	while (!(await api.readTypes('nodes')).some(isChanged)) await sleep(200);

	second.child.kill('SIGKILL');
	await second.exit;
	while (await isOpen(port)) await sleep(200);
}, 180_000);

test.each([
	['--port', () => port],
	['--sandbox-port', () => sandboxPort],
])('if a port is in use, the error names %s', async (option, used) => {
	const program = createServer().listen(used(), '127.0.0.1');
	await once(program, 'listening');
	const { exit, text } = start();
	expect(await exit).toBe(1);
	expect(text().trim()).toBe(
		`Port ${used()} is in use by another program: stop that program, or choose another port, for example \`npm start -- ${option} ${used() + 1}\`.`,
	);
	program.close();
});

test.each(['XDG_CACHE_HOME', 'XDG_DATA_HOME'])(
	'if %s is a file, one line says so',
	async (name) => {
		const file = join(folder, 'file');
		await writeFile(file, '');
		const { exit, text } = start([], { XDG_DATA_HOME: join(folder, 'other'), [name]: file });
		expect(await exit).toBe(1);
		expect(text().trim()).toMatch(
			/^A folder may not be written, or its path leads .*ENOTDIR.*'\)$/,
		);
	},
);

test('if the home is a file, npm start says so in one line', async () => {
	const HOME = join(folder, 'home');
	await writeFile(HOME, '');
	const env = { HOME, npm_config_update_notifier: 'false' };
	const { exit, text } = start([], env, ['npm', 'start', '--']);
	expect(await exit).toBe(1);
	const lines = text().split('\n');
	expect(lines.filter((line) => line && !line.startsWith('> '))).toEqual([
		`Your home, ${HOME}, is a file: set HOME to a folder, and run the command again.`,
	]);
});

const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0;

(canMount ? test : test.skip)(
	'on a disk without room, one line says how much n8n needs',
	async () => {
		const disk = join(folder, 'disk');
		await mkdir(disk);
		const mounted = 'mount -t tmpfs -o size=1m none "$XDG_CACHE_HOME" && exec "$0" "$@"';
		const { exit, text } = start(
			[],
			{ XDG_CACHE_HOME: disk, XDG_DATA_HOME: join(folder, 'other') },
			['unshare', '-rm', 'sh', '-c', mounted, ...launcher],
		);
		expect(await exit).toBe(1);
		expect(text().trim()).toMatch(
			/^n8n needs \d\.\d GB of disk space in .*, and 0\.0 GB are free: .*$/,
		);
	},
);

test('without a network, the installation of n8n fails with a sentence, and leaves nothing unfinished', async () => {
	const cache = join(folder, 'cache');
	const { exit, text } = start([], {
		XDG_CACHE_HOME: cache,
		npm_config_cache: join(folder, 'npm'),
		npm_config_registry: `http://127.0.0.1:${await freePort()}`,
	});
	expect(await exit).toBe(1);
	expect(text()).toContain("The npm registry can't be reached: check the network connection");
	expect(await readdir(join(cache, packageName))).toEqual(['n8n-2.lock']);
}, 300_000);

test('an installation says every ten seconds how much is there, also without a terminal', async () => {
	const installed = join(folder, 'installed');
	const packages = { '': {}, 'node_modules/a': {}, 'node_modules/b': { optional: true } };
	await mkdir(join(installed, 'node_modules', 'a'), { recursive: true });
	await writeFile(join(installed, 'package.json'), '{}');
	await writeFile(join(installed, 'package-lock.json'), JSON.stringify({ packages }));
	const howFar = watchInstallation(installed);
	expect(howFar()).toMatch(/^[\d,]+ MB and 50 % of the packages$/);
	await writeFile(join(installed, 'node_modules', 'a', 'package.json'), '{}');
	expect(howFar()).toMatch(/ 100 % /);

	jest.useFakeTimers();
	const write = jest.fn<boolean, [string]>();
	// The imported sleep keeps the real time.
	const task = () => new Promise<void>((done) => setTimeout(done, 25_000));
	const work = reportTo({ write } as never)('Work', task, () => 'far');
	await jest.advanceTimersByTimeAsync(25_000);
	await work;
	jest.useRealTimers();
	const lines = ['… Work (0 s)', '… Work: far (10 s)', '… Work: far (20 s)', '✓ Work (25 s)'];
	expect(write.mock.calls.flat()).toEqual(lines.map((line) => `${line}\n`));
});
