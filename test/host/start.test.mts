import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import { installHost } from '../../host/install.mts';
import { projectRoot } from '../../host/paths.mts';
import { freePort } from '../../host/ports.mts';
import { reportTo } from '../../host/progress.mts';
import { EditorApi } from '../../host/rest.mts';
import { owner } from '../../host/workspace.mts';
import { startMilliseconds } from './instance.mts';
import { launchIn, whenReady, type Launcher } from './launcher.mts';

let data: string;
let port: number;
let sandboxPort: number;
const running: ChildProcess[] = [];

beforeAll(async () => {
	await installHost(2, reportTo(process.stderr));
	data = await mkdtemp(join(tmpdir(), 'resume-management-start-'));
	port = await freePort();
	sandboxPort = await freePort();
}, startMilliseconds);

afterAll(async () => {
	for (const child of running) {
		if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
	}
	await rm(data, { recursive: true, force: true, maxRetries: 5 });
});

/** `npm start` as npm runs it, with data of its own. */
function launch(...options: string[]): Launcher {
	const ports = ['--port', String(port), '--sandbox-port', String(sandboxPort)];
	const launcher = launchIn(projectRoot, data, ...ports, ...options);
	running.push(launcher.child);
	return launcher;
}

async function answers(address: string): Promise<boolean> {
	const answer = await axios
		.get(address, { proxy: false, validateStatus: null, timeout: 2_000 })
		.catch(() => undefined);
	return answer !== undefined;
}

async function occupy(occupied: number): Promise<Server> {
	const server = createServer().listen(occupied, '127.0.0.1');
	await once(server, 'listening');
	return server;
}

it('starts, stops at Ctrl-C without a trace, and starts again with the same data', async () => {
	const first = launch();
	await whenReady(first);
	expect(first.text()).toContain(`http://127.0.0.1:${port}`);
	expect(first.text()).toContain(`http://127.0.0.1:${sandboxPort}`);
	expect(first.text()).toContain(owner.password);
	first.child.kill('SIGINT');
	expect(await first.exit).toBe(0);
	expect(first.text()).not.toMatch(/^\s+at /m);
	expect(await answers(`http://127.0.0.1:${port}/healthz`)).toBe(false);
	expect(await answers(`http://127.0.0.1:${sandboxPort}/v1/users`)).toBe(false);

	const second = launch();
	await whenReady(second);
	const api = new EditorApi(`http://127.0.0.1:${port}`);
	await api.signIn(owner);
	const workflows = await api.listWorkflows();
	expect(workflows.map(({ name }) => name).sort()).toEqual([
		'Answer questions about a user',
		'Export all resumes to a folder',
		'MCP server that only reads',
		'New or changed users',
		'Nightly sync across workers',
		'Nightly sync of changed resumes',
		'Nightly sync: one batch',
		'Onboard a user with a resume and a token',
		'Score a resume when a section is saved',
		'Upgrade a plan after a payment',
		'Upgrade a plan after a person approves',
		'Upgrade the plan of a list of e-mails',
		'Users, resumes and scores into a Data Table',
	]);
	expect(await api.listCredentials()).toHaveLength(2);

	// The example that waits for events is active, and its address is registered once.
	const waiting = workflows.filter(({ active }) => active);
	expect(waiting.map(({ name }) => name)).toEqual(['Score a resume when a section is saved']);
	const webhooks = await axios.get<string>(`http://127.0.0.1:${sandboxPort}/console/webhooks`);
	const addresses = webhooks.data.matchAll(/<strong>(http[^<]*)/g);
	expect(Array.from(addresses, ([, address]) => address)).toEqual([
		expect.stringMatching(`^http://127.0.0.1:${port}/webhook/[0-9a-f-]{36}/webhook$`),
	]);

	const third = launch();
	expect(await third.exit).toBe(1);
	expect(third.text()).toContain('Another `npm start` is using');

	// However it ends, n8n ends with it.
	second.child.kill('SIGKILL');
	await second.exit;
	while (await answers(`http://127.0.0.1:${port}/healthz`)) await sleep(200);
}, 180_000);

it('says which option chooses another port when one is in use', async () => {
	// An n8n of the test before may be about to end.
	[port, sandboxPort] = [await freePort(), await freePort()];
	const editor = await occupy(port);
	const one = launch();
	expect(await one.exit).toBe(1);
	expect(one.text().trim()).toBe(
		`Port ${port} is in use by another program: stop that program, or choose another port, for example \`npm start -- --port ${port + 1}\`.`,
	);
	editor.close();

	const sandbox = await occupy(sandboxPort);
	const other = launch();
	expect(await other.exit).toBe(1);
	expect(other.text()).toContain(`--sandbox-port ${sandboxPort + 1}`);
	sandbox.close();
});

it('explains itself when the command line is wrong', async () => {
	const unknown = launch('--colour');
	expect(await unknown.exit).toBe(1);
	expect(unknown.text()).toContain('--sandbox-port <number>');

	const wrong = launch('--port', 'high');
	expect(await wrong.exit).toBe(1);
	expect(wrong.text().trim()).toBe('--port takes a number from 1 to 65535, not "high".');
});
