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
import { installHost } from '../../host/install.mts';
import { headless, startN8n } from '../../host/n8n.mts';
import { reportTo } from '../../host/progress.mts';
import type { EditorApi, Execution, WorkflowDefinition } from '../../host/rest.mts';
import { chain, start, type NodeDefinition } from '../../host/workflow.mts';
import { connectExamples, prepareWorkspace } from '../../host/workspace.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startSandbox, type Sandbox } from '../../sandbox/server.mts';
import { TestApi } from '../support/testApi.mts';
import { environment, tested, testedHost, webhookSecret, type SharedN8n } from './sharedN8n.mts';

export { tested, testedHost } from './sharedN8n.mts';

// The machine may have other work.
jest.setTimeout(120_000);

export const startMilliseconds = 15 * 60_000;

export const actionType = 'n8n-nodes-resume-management.resumeManagement';
export const triggerType = `${actionType}Trigger`;

/** Parameters of a trigger that asks for {@link webhookSecret} in a header, and the header. */
export const byHeader = { verification: 'header', headerName: 'X-Webhook-Secret' };
export const secretHeader = { 'X-Webhook-Secret': webhookSecret };

export type SharedInstance = Awaited<ReturnType<typeof joinInstance>>;
export type OwnInstance = Awaited<ReturnType<typeof startInstance>>;

/** A node to run after `Start`, which outputs `items`, or one empty item. */
export interface NodeToRun extends Partial<INode> {
	items?: IDataObject[];
	timeoutMilliseconds?: number;
}

/** Returns the items of a node's output, in its only or last run. */
export function outputOf(execution: Execution, node = 'Node', index = 0): INodeExecutionData[] {
	return execution.data.resultData.runData[node]?.at(-1)?.data?.main?.[index] ?? [];
}

/** A fault of the sandbox: it responds with a success. */
export const success = (data: unknown) => ({
	response: { status: 200, body: JSON.stringify({ status: 'success', data }) },
});

const shared = () => JSON.parse(process.env.SHARED_N8N!) as SharedN8n;

/** Joins the n8n of all tests, with a sandbox of its own, for tests that neither end nor measure n8n. */
export async function joinInstance() {
	const { url, userFolder } = shared();
	const sandbox = await startSandbox({ port: 0, record: true });
	return { ...workIn(resume(url), url, userFolder, sandbox), close: sandbox.close };
}

/** The n8n of all tests, in a file that calls {@link useInstance}. */
export let instance: SharedInstance;

/** Joins the n8n of all tests for the tests of a file. The sandbox's faults are those of one test. */
export function useInstance(): void {
	beforeAll(async () => void (instance = await joinInstance()));
	afterEach(() => instance.sandbox.faults.clear());
	afterAll(async () => await instance?.close());
}

/**
 * Starts an n8n with the packed package and the same owner, without the editor, and a sandbox, for tests that end or measure
 * n8n.
 *
 * @param env more of n8n's environment variables
 * @param users of the sandbox
 */
export async function startInstance(env: Record<string, string> = {}, users?: number) {
	const folder = await mkdtemp(join(tmpdir(), 'resume-management-host-'));
	const userFolder = join(folder, 'n8n');
	const host = await installHost(testedHost, reportTo(process.stderr));
	await cp(shared().template, userFolder, { recursive: true });
	const options = { host, userFolder, env: { ...environment, ...headless, ...env } };
	const n8n = await startN8n(options);
	const sandbox = await startSandbox({ port: 0, record: true, users });
	const own = {
		...workIn(resume(n8n.url), n8n.url, userFolder, sandbox),
		n8n,
		/** Ends n8n as the operating system does when memory is short. */
		killN8n: async () => {
			await own.n8n.kill();
			// With this file, n8n waits for ten seconds at its next start.
			await rm(join(userFolder, '.n8n', 'crash.journal'), { force: true });
		},
		startN8nAgain: async () => {
			own.n8n = await startN8n({ ...options, port: Number(new URL(n8n.url).port) });
		},
		close: async () => {
			await own.n8n.stop();
			await sandbox.close();
			await rm(folder, { recursive: true, force: true });
		},
	};
	return own;
}

export type Examples = Awaited<ReturnType<typeof addExamples>>;

/** Adds the credentials and the examples, as `npm start` does. */
export async function addExamples({ api, sandbox }: SharedInstance | OwnInstance) {
	const { baseUrl, webhooks } = sandbox;
	const access = { baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	const examples = await prepareWorkspace(api, access, tested === '1' ? chooseTables : undefined);
	expect(await connectExamples(api, webhooks, webhookSecret, examples)).toEqual([]);
	return { examples, exampleId: (file: string) => examples.find((one) => one.file === file)!.id };
}

/** Chooses the Data Tables by ID, as the notes of the examples ask users of n8n 1, whose node finds none by name. */
async function chooseTables(nodes: INode[], api: EditorApi): Promise<INode[]> {
	const tables = await api.listDataTables();
	return nodes.map((node) => {
		const locator = node.parameters.dataTableId as { value: string } | undefined;
		if (locator === undefined) return node;
		const { id, name } = tables.find((table) => table.name === locator.value)!;
		const dataTableId = { __rl: true, mode: 'list', value: id, cachedResultName: name } as const;
		return { ...node, parameters: { ...node.parameters, dataTableId } };
	});
}

/** Continues the session of the shared n8n, which is valid in a copy of its user folder, too. */
function resume(url: string): TestApi {
	const api = new TestApi(url);
	api.resume(shared().session);
	return api;
}

/** @param url of n8n's webhooks */
export function workIn(api: TestApi, url: string, userFolder: string, sandbox: Sandbox) {
	const type = 'resumeManagementApi';
	const access = { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	const query = (sql: string, ...values: Array<string | number>) =>
		sandbox.database.prepare(sql).all(...values);
	const tableId = async (name: string) =>
		(await api.listDataTables()).find((table) => table.name === name)!.id;
	const createWorkflow = async (nodes: NodeDefinition[], more?: Partial<WorkflowDefinition>) =>
		(await api.createWorkflow(chain(nodes, more))).id;
	return {
		url,
		api,
		sandbox,
		query,
		/** Emails of the sandbox's users, in the order of their IDs. */
		emails: query('SELECT email FROM users ORDER BY id').map(({ email }) => String(email)),
		/** Returns the number of upgrades of a user that the service has carried out. */
		billed: (email: string) => query('SELECT 1 FROM upgrades WHERE email = ?', email).length,
		/** The only folder that workflows may read from and write to. */
		filesFolder: join(userFolder, '.n8n-files'),
		/** Folder of the files of executions. */
		binaryFolder: join(userFolder, '.n8n', tested === '2' ? 'storage' : 'binaryData'),
		readTable: async (name: string) => await api.readRows(await tableId(name)),
		insertRow: async (name: string, row: IDataObject) =>
			await api.insertRow(await tableId(name), row),
		deleteRows: async (name: string, column: string, value: string) =>
			await api.deleteRows(await tableId(name), column, value),
		/** Adds a credential for the sandbox, changed by `data`, and returns a node's reference to it. */
		addCredential: async (data: Record<string, string> = {}): Promise<INodeCredentials> => {
			const definition = { name: randomUUID(), type, data: { ...access, ...data } };
			const { id, name } = await api.createCredential(definition);
			return { [type]: { id, name } };
		},
		createWorkflow,
		/** Activates a workflow of the trigger and the nodes after it, and returns its ID and its production URL. */
		activateTrigger: async (
			parameters: INodeParameters,
			credentials: INodeCredentials,
			...after: NodeDefinition[]
		) => {
			const webhookId = randomUUID();
			const node = { name: 'Trigger', type: triggerType, typeVersion: 1.1, webhookId };
			const id = await createWorkflow([{ ...node, parameters, credentials }, ...after]);
			await api.activateWorkflow(id);
			return { id, url: `${url}/webhook/${webhookId}/webhook` };
		},
		/** Runs a node (default: this package's action node) in a workflow of its own, to its end. */
		runNode: async ({ items, timeoutMilliseconds, ...node }: NodeToRun): Promise<Execution> => {
			const pinData = items && { Start: items.map((json) => ({ json })) };
			const nodes = [start, { name: 'Node', type: actionType, ...node }];
			const id = await createWorkflow(nodes, { pinData });
			return await api.waitForExecution(await api.runWorkflow(id, 'Start'), timeoutMilliseconds);
		},
	};
}
