import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import { installHost } from '../../host/install.mts';
import { projectRoot } from '../../host/paths.mts';
import { freePort } from '../../host/ports.mts';
import { reportTo } from '../../host/progress.mts';
import { EditorApi } from '../../host/rest.mts';
import { owner, readExamples } from '../../host/workspace.mts';
import { startMilliseconds } from './instance.mts';
import { launch, type Launcher } from './launcher.mts';

let data: string;
let port: number;
let sandboxPort: number;
const launched: Launcher[] = [];

beforeAll(async () => {
	await installHost(2, reportTo(process.stderr));
	data = await mkdtemp(join(tmpdir(), 'resume-management-start-'));
}, startMilliseconds);

beforeEach(async () => {
	port = await freePort();
	sandboxPort = await freePort();
});

afterAll(async () => {
	for (const { child } of launched) child.kill('SIGTERM');
	await rm(data, { recursive: true, force: true, maxRetries: 5 });
});

/** `npm start` with data of its own. */
function start(...options: string[]): Launcher {
	const ports = ['--port', String(port), '--sandbox-port', String(sandboxPort)];
	const launcher = launch(projectRoot, data, ...ports, ...options);
	launched.push(launcher);
	return launcher;
}

async function answers(port: number): Promise<boolean> {
	const options = { proxy: false, validateStatus: null, timeout: 2_000 } as const;
	return await axios.get(`http://127.0.0.1:${port}/healthz`, options).then(
		() => true,
		() => false,
	);
}

it('starts, stops at Ctrl-C without a trace, and starts again with the same data', async () => {
	const first = start();
	await first.written();
	for (const shown of [`http://127.0.0.1:${port}`, `http://127.0.0.1:${sandboxPort}`]) {
		expect(first.text()).toContain(shown);
	}
	expect(first.text()).toContain(owner.password);
	first.child.kill('SIGINT');
	expect(await first.exit).toBe(0);
	expect(first.text()).not.toMatch(/^\s+at /m);
	expect([await answers(port), await answers(sandboxPort)]).toEqual([false, false]);

	// The address from before would reach nobody.
	port = await freePort();
	const second = start();
	await second.written();
	const api = new EditorApi(`http://127.0.0.1:${port}`);
	await api.signIn(owner);
	const workflows = await api.listWorkflows();
	const examples = (await readExamples()).map(({ definition }) => definition.name);
	expect(workflows.map(({ name }) => name).sort()).toEqual(examples.sort());
	expect(await api.listCredentials()).toHaveLength(2);

	// The example that waits for events is active, and its address is registered once.
	const waiting = workflows.filter(({ active }) => active);
	expect(waiting).toMatchObject([{ name: 'Score a resume when a section is saved' }]);
	const webhooks = await axios.get<string>(`http://127.0.0.1:${sandboxPort}/console/webhooks`);
	const addresses = webhooks.data.matchAll(/<strong>(http[^<]*)/g);
	expect(Array.from(addresses, ([, address]) => address)).toEqual([
		expect.stringMatching(`^http://127.0.0.1:${port}/webhook/[0-9a-f-]{36}/webhook$`),
	]);

	const third = start();
	expect(await third.exit).toBe(1);
	expect(third.text()).toContain('Another `npm start` is using');

	// However it ends, n8n ends with it.
	second.child.kill('SIGKILL');
	await second.exit;
	while (await answers(port)) await sleep(200);
}, 180_000);

it.each([
	['--port', () => port],
	['--sandbox-port', () => sandboxPort],
])('says that %s chooses another port when one is in use', async (option, used) => {
	const program = createServer().listen(used(), '127.0.0.1');
	await once(program, 'listening');
	const { exit, text } = start();
	expect(await exit).toBe(1);
	expect(text().trim()).toBe(
		`Port ${used()} is in use by another program: stop that program, or choose another port, for example \`npm start -- ${option} ${used() + 1}\`.`,
	);
	program.close();
});

it.each([
	[['--colour'], '--sandbox-port <number>'],
	[['--port', 'high'], '--port takes a number from 1 to 65535, not "high".'],
])('explains itself when the command line is wrong: %j', async (options, sentence) => {
	const { exit, text } = start(...options);
	expect(await exit).toBe(1);
	expect(text()).toContain(sentence);
});
