import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IDataObject, INode, INodeCredentials, INodeExecutionData } from 'n8n-workflow';
import { connectExamples } from '../../host/events.mts';
import { installHost } from '../../host/install.mts';
import { headless, startN8n } from '../../host/n8n.mts';
import { reportTo } from '../../host/progress.mts';
import type { Execution, WorkflowDefinition } from '../../host/rest.mts';
import { chain, start, type NodeDefinition } from '../../host/workflow.mts';
import { prepareWorkspace } from '../../host/workspace.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startSandbox, type Sandbox } from '../../sandbox/server.mts';
import { TestApi } from '../support/testApi.mts';
import { adaptToN8n1 } from './adapt.mts';
import { environment, tested, webhookSecret, type SharedN8n } from './sharedN8n.mts';

export { tested, webhookSecret } from './sharedN8n.mts';

// A whole n8n on a machine that may have other work.
jest.setTimeout(120_000);

/** The first run on a machine installs n8n. */
export const startMilliseconds = 15 * 60_000;

export const actionType = 'n8n-nodes-resume-management.resumeManagement';
export const triggerType = `${actionType}Trigger`;

/** For what n8n 1.85 lacks. */
export const unlessLowest = tested === 'lowest' ? test.skip : test;

export type SharedInstance = Awaited<ReturnType<typeof joinInstance>>;
export type OwnInstance = Awaited<ReturnType<typeof startInstance>>;

/** A node to run behind `Start`, which gives out one empty item where there are no `items`. */
export interface NodeToRun extends Partial<INode> {
	items?: IDataObject[];
	timeoutMilliseconds?: number;
}

/** Items of a node's output, in its only or last run. */
export function outputOf(execution: Execution, node = 'Node', index = 0): INodeExecutionData[] {
	return execution.data.resultData.runData[node]?.at(-1)?.data?.main?.[index] ?? [];
}

const shared = () => JSON.parse(process.env.SHARED_N8N!) as SharedN8n;

/** The n8n of all tests with a sandbox of its own, for tests that neither end it nor measure it. */
export async function joinInstance() {
	const { url, userFolder } = shared();
	const sandbox = await startSandbox({ port: 0, record: true });
	return { ...workIn(url, userFolder, sandbox), close: sandbox.close };
}

/**
 * A fresh n8n with the packed package and the same owner, without the editor, and a fresh sandbox, for
 * tests that end n8n or measure it.
 *
 * @param env more of n8n's environment variables
 * @param users of the sandbox
 */
export async function startInstance(env: Record<string, string> = {}, users?: number) {
	const folder = await mkdtemp(join(tmpdir(), 'resume-management-host-'));
	const userFolder = join(folder, 'n8n');
	const host = await installHost(tested, reportTo(process.stderr));
	await cp(shared().template, userFolder, { recursive: true });
	const options = { host, userFolder, env: { ...environment, ...headless, ...env } };
	const n8n = await startN8n(options);
	const sandbox = await startSandbox({ port: 0, record: true, users });
	const instance = {
		...workIn(n8n.url, userFolder, sandbox),
		n8n,
		/** Ends n8n as the operating system does when memory is short. */
		killN8n: async () => {
			await instance.n8n.kill();
			// n8n would wait for ten seconds where it has left one.
			await rm(join(userFolder, '.n8n', 'crash.journal'), { force: true });
		},
		/** After it has ended, with the same data and at the same address. */
		startN8nAgain: async () => {
			instance.n8n = await startN8n({ ...options, port: Number(new URL(n8n.url).port) });
		},
		close: async () => {
			await instance.n8n.stop();
			await sandbox.close();
			await rm(folder, { recursive: true, force: true });
		},
	};
	return instance;
}

export type Examples = Awaited<ReturnType<typeof addExamples>>;

/** Puts the credentials and the examples in place, as `npm start` does. */
export async function addExamples({ api, sandbox, url }: SharedInstance | OwnInstance) {
	const { baseUrl, webhooks } = sandbox;
	const access = { baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	const adapt =
		tested === '1' ? async (nodes: INode[]) => await adaptToN8n1(api, nodes) : undefined;
	const examples = await prepareWorkspace(api, access, adapt);
	const route = { api, editorUrl: url, webhooks, secret: webhookSecret };
	expect(await connectExamples(route, examples)).toEqual([]);
	return {
		examples,
		/** The id of a workflow of `workflows/`, by its file's name. */
		exampleId: (file: string) => examples.find((one) => one.file === file)!.id,
	};
}

function workIn(url: string, userFolder: string, sandbox: Sandbox) {
	const api = new TestApi(url);
	// It is as good in a copy of the user folder.
	api.resume(shared().session);
	const type = 'resumeManagementApi';
	const access = { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	/** Rows of the sandbox's database. */
	const query = (sql: string, ...values: Array<string | number>) =>
		sandbox.database.prepare(sql).all(...values);
	const createWorkflow = async (nodes: NodeDefinition[], more?: Partial<WorkflowDefinition>) =>
		(await api.createWorkflow(chain(nodes, more))).id;
	return {
		url,
		api,
		sandbox,
		query,
		/** The addresses of the sandbox's users, the first user's first. */
		emails: query('SELECT email FROM users ORDER BY id').map(({ email }) => String(email)),
		/** How many upgrades of a user the service has carried out. */
		billed: (email: string) => query('SELECT 1 FROM upgrades WHERE email = ?', email).length,
		/** The only folder that workflows may read from and write to. */
		filesFolder: join(userFolder, '.n8n-files'),
		/** Where n8n keeps the files of executions. */
		binaryFolder: join(userFolder, '.n8n', tested === '2' ? 'storage' : 'binaryData'),
		/** The rows of a data table, by its name. */
		readTable: async (name: string) => {
			const table = (await api.listDataTables()).find((one) => one.name === name);
			return await api.readRows(table!.id);
		},
		/** Deletes the rows of a data table that have a value in a column. */
		deleteRows: async (name: string, column: string, value: string) => {
			const table = (await api.listDataTables()).find((one) => one.name === name);
			await api.deleteRows(table!.id, column, value);
		},
		/** Adds a credential for the sandbox, but for what `data` says; answers a node's reference to it. */
		addCredential: async (data: Record<string, string> = {}): Promise<INodeCredentials> => {
			const definition = { name: randomUUID(), type, data: { ...access, ...data } };
			const { id, name } = await api.createCredential(definition);
			return { [type]: { id, name } };
		},
		createWorkflow,
		/** Runs a node, ours if it does not say another, in a workflow of its own, to its end. */
		runNode: async ({ items, timeoutMilliseconds, ...node }: NodeToRun): Promise<Execution> => {
			const pinData = items && { Start: items.map((json) => ({ json })) };
			const nodes = [start, { name: 'Node', type: actionType, ...node }];
			const id = await createWorkflow(nodes, { pinData });
			return await api.waitForExecution(await api.runWorkflow(id, 'Start'), timeoutMilliseconds);
		},
	};
}
