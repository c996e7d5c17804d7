import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import { runCommand } from '../../host/command.mts';
import { installHost } from '../../host/install.mts';
import { startN8n, type N8n } from '../../host/n8n.mts';
import { packageName, projectRoot } from '../../host/paths.mts';
import { reportTo } from '../../host/progress.mts';
import { chain } from '../../host/workflow.mts';
import { owner } from '../../host/workspace.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startSandbox, type Sandbox } from '../../sandbox/server.mts';
import { userGet } from '../support/parameters.mts';
import { TestApi } from '../support/testApi.mts';
import {
	actionType,
	outputOf,
	startMilliseconds,
	tested,
	triggerType,
	webhookSecret,
} from './instance.mts';
import { startRegistry, type Registry } from './registry.mts';

/**
 * The package's life in n8n as its users live it: installed from the registry on the page of community
 * nodes, updated with workflows in use, uninstalled, installed again. In this order.
 */

let folder: string;
let registry: Registry;
let sandbox: Sandbox;
let n8n: N8n;
let api: TestApi;
/** The workflow that all of it happens to. */
let workflowId: string;
let versions: { first: string; second: string };

beforeAll(async () => {
	folder = await mkdtemp(join(tmpdir(), 'resume-management-registry-'));
	registry = await startRegistry(join(folder, 'registry'));
	sandbox = await startSandbox({ port: 0, record: true });
	versions = await publish();
	await startAgain();
	await api.signIn(owner);
}, startMilliseconds);

afterAll(async () => {
	await n8n?.stop();
	await sandbox?.close();
	await registry?.close();
	if (folder) await rm(folder, { recursive: true, force: true });
}, 60_000);

/** Publishes the package; answers its version, and a higher one that is to be published later. */
async function publish(): Promise<typeof versions> {
	const tarball = await registry.publish(projectRoot);
	await runCommand('tar', ['-xzf', tarball], { cwd: folder });
	const file = join(folder, 'package', 'package.json');
	const manifest = JSON.parse(await readFile(file, 'utf8')) as { version: string };
	const first = manifest.version;
	const second = `${Number(first.split('.')[0]) + 1}.0.0`;
	await writeFile(file, JSON.stringify({ ...manifest, version: second }));
	// Its events say that they are of the second version.
	await appendFile(
		join(folder, 'package/dist/nodes/ResumeManagementTrigger/ResumeManagementTrigger.node.js'),
		`
		const trigger = exports.ResumeManagementTrigger.prototype;
		const { webhook } = trigger;
		trigger.webhook = async function () {
			const { workflowData, ...result } = await webhook.call(this);
			for (const { json } of workflowData[0]) json.release = '${second}';
			return { workflowData, ...result };
		};`,
	);
	return { first, second };
}

/** Starts n8n with the same data, and at the same address. */
async function startAgain(): Promise<void> {
	const userFolder = join(folder, 'n8n');
	await mkdir(join(userFolder, '.n8n', 'nodes'), { recursive: true });
	await writeFile(join(userFolder, '.n8n', 'nodes', '.npmrc'), registry.npmrc);
	n8n = await startN8n({
		host: await installHost(tested, reportTo(process.stderr)),
		userFolder,
		port: n8n && Number(new URL(n8n.url).port),
		env: { ...registry.env, N8N_LOG_LEVEL: 'debug', DB_SQLITE_POOL_SIZE: '3' },
	});
	api ??= new TestApi(n8n.url);
}

async function ourTypes(): Promise<string[]> {
	let types = await api.nodeTypes();
	// n8n 1 answers with a page of its editor until it has written the list.
	while (!Array.isArray(types)) types = await sleep(100).then(async () => await api.nodeTypes());
	const names = types.map(({ name }) => name);
	return names.filter((name) => name.startsWith(packageName)).sort();
}

/** Sends an event; answers n8n's status and, where it was taken, the items of both nodes. */
async function sendEvent() {
	const before = await api.listExecutions(workflowId);
	const { status } = await axios.post(
		`${n8n.url}/webhook/events-of-the-registry-test/webhook`,
		{ event: 'Resume Section Saved', userId: 'user-001' },
		{ headers: { 'X-Webhook-Secret': webhookSecret }, proxy: false, validateStatus: null },
	);
	if (status !== 200) return { status };
	const executions = await api.waitForExecutions(workflowId, before.length + 1);
	const execution = executions.at(-1)!;
	expect(execution.status).toBe('success');
	const [event, user] = ['Trigger', 'Get user'].map((node) => outputOf(execution, node)[0]!.json);
	return { status, event, user };
}

const user = expect.objectContaining({ id: 'user-001', email: 'emma.larsen@example.com' });

it('is installed from the registry, and works at once', async () => {
	expect(await ourTypes()).toEqual([]);
	const installed = await api.installPackage(packageName);
	expect(installed.installedVersion).toBe(versions.first);
	expect(await ourTypes()).toEqual([actionType, `${actionType}Tool`, triggerType]);

	const type = 'resumeManagementApi';
	const access = { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	const { id } = await api.createCredential({ name: 'Sandbox', type, data: access });
	const credentials = { [type]: { id, name: 'Sandbox' } };
	const created = await api.createWorkflow(
		chain([
			{
				name: 'Trigger',
				type: triggerType,
				typeVersion: 1.1,
				webhookId: 'events-of-the-registry-test',
				parameters: { verification: 'header', headerName: 'X-Webhook-Secret' },
				credentials,
			},
			{
				name: 'Get user',
				type: actionType,
				parameters: userGet('={{ $json.data.userId }}'),
				credentials,
			},
		]),
	);
	await api.activateWorkflow(created.id);
	workflowId = created.id;
	const answer = await sendEvent();
	expect(answer).toEqual({ status: 200, event: expect.any(Object), user });
	expect(answer.event).not.toHaveProperty('release');
}, 120_000);

it('is updated under a workflow in use, which stays active and goes on with the new version', async () => {
	expect(await api.listPackages()).toEqual([
		expect.objectContaining({ packageName, installedVersion: versions.first }),
	]);
	await registry.publish(join(folder, 'package'));
	expect(await api.listPackages()).toEqual([
		expect.objectContaining({ packageName, updateAvailable: versions.second }),
	]);
	const updated = await api.updatePackage(packageName);
	expect(updated.installedVersion).toBe(versions.second);

	expect((await api.readWorkflow(workflowId)).active).toBe(true);
	const event = expect.objectContaining({ release: versions.second });
	expect(await sendEvent()).toEqual({ status: 200, event, user });
}, 120_000);

it('is uninstalled, with nothing left of it but the workflow', async () => {
	await api.uninstallPackage(packageName);
	expect(await api.listPackages()).toEqual([]);
	expect(await ourTypes()).toEqual([]);
	expect((await sendEvent()).status).not.toBe(200);
	expect(await api.readWorkflow(workflowId)).toMatchObject({ active: true });
}, 120_000);

it('is installed again, and the workflow of before works with its credential', async () => {
	await api.installPackage(packageName);
	const event = expect.objectContaining({ release: versions.second });
	expect(await sendEvent()).toEqual({ status: 200, event, user });

	await n8n.stop();
	await startAgain();
	expect(await sendEvent()).toEqual({ status: 200, event, user });
	expect(sandbox.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(
		Array(4).fill('GET /v1/user/user-001'),
	);
}, 120_000);
