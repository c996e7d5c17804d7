import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axios from 'axios';
import { runCommand } from '../../host/command.mts';
import { installHost } from '../../host/install.mts';
import { startN8n, type N8n } from '../../host/n8n.mts';
import { packageName, projectRoot } from '../../host/paths.mts';
import { freePort } from '../../host/ports.mts';
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
import { startRegistry } from './registry.mts';
import { environment } from './sharedN8n.mts';

let folder: string;
let port: number;
let registry: Awaited<ReturnType<typeof startRegistry>>;
let sandbox: Sandbox;
let n8n: N8n;
let api: TestApi;
/** The workflow that all of it happens to, and how many events it has taken. */
let workflowId: string;
let taken = 0;

beforeAll(async () => {
	folder = await mkdtemp(join(tmpdir(), 'resume-management-registry-'));
	port = await freePort();
	registry = await startRegistry(folder);
	sandbox = await startSandbox({ port: 0 });
	await start();
	api = new TestApi(n8n.url);
	await api.signIn(owner);
}, startMilliseconds);

afterAll(async () => {
	await n8n?.stop();
	await sandbox?.close();
	registry?.close();
	if (folder) await rm(folder, { recursive: true, force: true });
}, 60_000);

/** Starts n8n, the next time with the same data and at the same address. */
async function start(): Promise<void> {
	const nodes = join(folder, '.n8n', 'nodes');
	await mkdir(nodes, { recursive: true });
	await writeFile(join(nodes, '.npmrc'), registry.npmrc);
	const host = await installHost(tested, reportTo(process.stderr));
	const env = { ...environment, ...registry.env };
	n8n = await startN8n({ host, userFolder: folder, port, env });
}

/** Unpacks a tarball and makes it a higher version, whose events say that they are of it. */
async function prepareNext(tarball: string, manifest: { version: string }) {
	await runCommand('tar', ['-xzf', tarball], { cwd: folder });
	const project = join(folder, 'package');
	const version = `${parseInt(manifest.version) + 1}.0.0`;
	await writeFile(join(project, 'package.json'), JSON.stringify({ ...manifest, version }));
	await appendFile(
		join(project, 'dist/nodes/ResumeManagementTrigger/ResumeManagementTrigger.node.js'),
		`
		const { prototype } = exports.ResumeManagementTrigger;
		const { webhook } = prototype;
		prototype.webhook = async function () {
			const result = await webhook.call(this);
			result.workflowData[0][0].json.release = '${version}';
			return result;
		};`,
	);
	return { project, version };
}

/** An event for the workflow; answers n8n's status. */
async function post(): Promise<number> {
	const url = `${n8n.url}/webhook/events-of-the-registry-test/webhook`;
	const event = { event: 'Resume Section Saved', userId: 'user-001' };
	const headers = { 'X-Webhook-Secret': webhookSecret };
	return (await axios.post(url, event, { headers, proxy: false, validateStatus: null })).status;
}

/** Sends an event that starts the workflow; answers the version that it is of. */
async function handle(): Promise<unknown> {
	expect(await post()).toBe(200);
	const execution = (await api.waitForExecutions(workflowId, ++taken)).at(-1)!;
	expect(outputOf(execution, 'Get user')).toMatchObject([{ json: { id: 'user-001' } }]);
	return outputOf(execution, 'Trigger')[0]!.json.release;
}

async function createWorkflow(): Promise<void> {
	const [name, type] = ['Sandbox', 'resumeManagementApi'];
	const data = { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	const { id } = await api.createCredential({ name, type, data });
	const credentials = { [type]: { id, name } };
	const trigger = {
		name: 'Trigger',
		type: triggerType,
		typeVersion: 1.1,
		webhookId: 'events-of-the-registry-test',
		parameters: { verification: 'header', headerName: 'X-Webhook-Secret' },
		credentials,
	};
	const parameters = userGet('={{ $json.data.userId }}');
	const action = { name: 'Get user', type: actionType, parameters, credentials };
	workflowId = (await api.createWorkflow(chain([trigger, action]))).id;
	await api.activateWorkflow(workflowId);
}

it('is installed from the registry, updated under a workflow in use, and removed without it', async () => {
	const { manifest, tarball } = await registry.publish(projectRoot);
	const installed = await api.installPackage(packageName);
	expect(installed.installedVersion).toBe(manifest.version);
	await createWorkflow();
	expect(await handle()).toBeUndefined();

	const { project, version } = await prepareNext(tarball, manifest);
	await registry.publish(project);
	expect(await api.listPackages()).toMatchObject([{ packageName, updateAvailable: version }]);
	expect((await api.updatePackage(packageName)).installedVersion).toBe(version);
	expect(await handle()).toBe(version);

	await api.uninstallPackage(packageName);
	expect(await api.listPackages()).toEqual([]);
	expect(await post()).not.toBe(200);

	// The workflow is still active, and has its credential.
	await api.installPackage(packageName);
	expect(await handle()).toBe(version);
	await n8n.stop();
	await start();
	expect(await handle()).toBe(version);
}, 240_000);
