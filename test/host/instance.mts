import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
	IDataObject,
	INode,
	INodeCredentials,
	INodeExecutionData,
	INodeParameters,
} from 'n8n-workflow';
import { connectExamples } from '../../host/events.mts';
import { installHost } from '../../host/install.mts';
import { startN8n, type N8n } from '../../host/n8n.mts';
import { reportTo } from '../../host/progress.mts';
import type { Execution } from '../../host/rest.mts';
import { owner, prepareWorkspace, type ExampleWorkflow } from '../../host/workspace.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startSandbox, type Sandbox } from '../../sandbox/server.mts';
import { TestApi } from '../support/testApi.mts';
import { adaptToN8n1 } from './adapt.mts';
import { environment, tested, webhookSecret, type SharedN8n } from './sharedN8n.mts';

export { webhookSecret } from './sharedN8n.mts';

// A whole n8n on a machine that may have other work.
jest.setTimeout(120_000);

/** The first run on a machine installs n8n. */
export const startMilliseconds = 15 * 60_000;

/** The n8n that the tests of a run share, and a fresh sandbox. */
export interface SharedInstance {
	api: TestApi;
	/** Of n8n, without a slash at the end. */
	url: string;
	sandbox: Sandbox;
	/** The only folder that workflows may read from and write to. */
	filesFolder: string;
	/** Where n8n keeps the files of executions. */
	binaryFolder: string;
	/** The rows of a data table, by its name. */
	readTable(name: string): Promise<Array<Record<string, unknown>>>;
	/** Adds a credential for the sandbox, but for what `data` says; answers a node's reference to it. */
	addCredential(data?: Record<string, string>): Promise<INodeCredentials>;
	/** Runs a node after the manual trigger `Start`, in a workflow of their own, to its end. */
	runNode(node: NodeToRun): Promise<Execution>;
	/** Ends what is not shared and removes its data. */
	close(): Promise<void>;
}

/** A fresh n8n with the packed package and an owner, and a fresh sandbox, on free ports. */
export interface EmptyInstance extends SharedInstance {
	n8n: N8n;
	/** Starts n8n again after `n8n.stop()`, with the same data and at the same address. */
	startN8nAgain(): Promise<void>;
}

/** With the credential and the examples in place, as `npm start` does. */
export interface Instance extends EmptyInstance {
	examples: ExampleWorkflow[];
	/** The id of a workflow of `workflows/`, by its file's name. */
	exampleId(file: string): string;
}

export interface NodeToRun {
	type: string;
	typeVersion?: number;
	parameters: INodeParameters;
	credentials: INodeCredentials;
	onError?: INode['onError'];
	/** What `Start` gives out: one empty item without it. */
	items?: IDataObject[];
	timeoutMilliseconds?: number;
}

/** The name of the node that {@link SharedInstance.runNode} runs. */
const nodeName = 'Node';

/** Items of a node's output, in its only or last run. */
export function outputOf(execution: Execution, node = nodeName, index = 0): INodeExecutionData[] {
	return execution.data.resultData.runData[node]?.at(-1)?.data?.main?.[index] ?? [];
}

/** The addresses of the sandbox's users, the first user's first. */
export function emailsOf({ database }: Sandbox): string[] {
	const rows = database.prepare('SELECT email FROM users ORDER BY id').all();
	return rows.map(({ email }) => String(email));
}

const shared = () => JSON.parse(process.env.SHARED_N8N!) as SharedN8n;

/** The n8n of all tests with a sandbox of its own, for tests that neither end it nor measure it. */
export async function joinInstance(): Promise<SharedInstance> {
	const { url, userFolder, session } = shared();
	const api = new TestApi(url);
	api.resume(session);
	const sandbox = await startSandbox({ port: 0, record: true });
	return { ...workIn(api, userFolder, sandbox), url, close: sandbox.close };
}

/**
 * For tests that end n8n or measure it.
 *
 * @param env more of n8n's environment variables
 * @param users of the sandbox
 */
export async function startEmptyInstance(
	env: Record<string, string> = {},
	users?: number,
): Promise<EmptyInstance> {
	const folder = await mkdtemp(join(tmpdir(), 'resume-management-host-'));
	const userFolder = join(folder, 'n8n');
	let n8n: N8n | undefined;
	let sandbox: Sandbox | undefined;
	const close = async () => {
		await n8n?.stop();
		await sandbox?.close();
		await rm(folder, { recursive: true, force: true });
	};
	try {
		const host = await installHost(tested, reportTo(process.stderr));
		await cp(shared().template, userFolder, { recursive: true });
		const options = { host, userFolder, env: { ...environment, ...env } };
		n8n = await startN8n(options);
		sandbox = await startSandbox({ port: 0, record: true, users });
		const api = new TestApi(n8n.url);
		await api.signIn(owner);
		const instance: EmptyInstance = {
			...workIn(api, userFolder, sandbox),
			url: n8n.url,
			n8n,
			startN8nAgain: async () => {
				const port = Number(new URL(instance.url).port);
				n8n = instance.n8n = await startN8n({ ...options, port });
			},
			close,
		};
		return instance;
	} catch (error) {
		await close();
		throw error;
	}
}

function workIn(api: TestApi, userFolder: string, sandbox: Sandbox) {
	const type = 'resumeManagementApi';
	const access = { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	return {
		api,
		sandbox,
		filesFolder: join(userFolder, '.n8n-files'),
		binaryFolder: join(userFolder, '.n8n', tested === '2' ? 'storage' : 'binaryData'),
		readTable: async (name: string) => {
			const table = (await api.listDataTables()).find((one) => one.name === name);
			if (table === undefined) throw new Error(`There is no data table ${name}`);
			return await api.readRows(table.id);
		},
		addCredential: async (data: Record<string, string> = {}): Promise<INodeCredentials> => {
			const definition = { name: randomUUID(), type, data: { ...access, ...data } };
			const { id, name } = await api.createCredential(definition);
			return { [type]: { id, name } };
		},
		runNode: async (node: NodeToRun) => await runNode(api, node),
	};
}

/**
 * @param env more of n8n's environment variables
 * @param users of the sandbox
 */
export async function startInstance(
	env: Record<string, string> = {},
	users?: number,
): Promise<Instance> {
	const instance = await startEmptyInstance(env, users);
	try {
		return Object.assign(instance, await prepare(instance));
	} catch (error) {
		await instance.close();
		throw error;
	}
}

async function prepare({
	api,
	n8n,
	sandbox,
}: EmptyInstance): Promise<Omit<Instance, keyof EmptyInstance>> {
	const { baseUrl, webhooks } = sandbox;
	const access = { baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	const adapt =
		tested === '1' ? async (nodes: INode[]) => await adaptToN8n1(api, nodes) : undefined;
	const examples = await prepareWorkspace(api, access, adapt);
	const route = { api, editorUrl: n8n.url, webhooks, secret: webhookSecret };
	const problems = await connectExamples(route, examples);
	if (problems.length > 0) throw new Error(problems.join('\n'));

	const exampleId = (file: string) => {
		const example = examples.find((one) => one.file === file);
		if (example === undefined) throw new Error(`There is no workflows/${file}.json`);
		return example.id;
	};
	return {
		examples,
		exampleId,
	};
}

async function runNode(
	api: TestApi,
	{ typeVersion = 1, items, timeoutMilliseconds, ...node }: NodeToRun,
): Promise<Execution> {
	const { id } = await api.createWorkflow({
		name: randomUUID(),
		nodes: [
			{
				id: 'start',
				name: 'Start',
				type: 'n8n-nodes-base.manualTrigger',
				typeVersion: 1,
				position: [0, 0],
				parameters: {},
			},
			{ id: 'node', name: nodeName, typeVersion, position: [200, 0], ...node },
		],
		connections: { Start: { main: [[{ node: nodeName, type: 'main', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
		...(items && { pinData: { Start: items.map((json) => ({ json })) } }),
	});
	return await api.waitForExecution(await api.runWorkflow(id, 'Start'), timeoutMilliseconds);
}
