import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import axios, { type AxiosInstance, type Method } from 'axios';
import { parse as parseFlatted } from 'flatted';
import type {
	IConnections,
	IDataObject,
	INode,
	INodeExecutionData,
	INodeTypeDescription,
	IRunExecutionData,
} from 'n8n-workflow';

export interface Owner {
	email: string;
	password: string;
	firstName: string;
	lastName: string;
}

/** A credential as the editor sends it; `data` holds the fields of its type. */
export interface CredentialDefinition {
	name: string;
	type: string;
	data: Record<string, string | number | boolean>;
}

export interface Credential {
	id: string;
	name: string;
	type: string;
}

/** A workflow as a file of `workflows/` holds it. */
export interface WorkflowDefinition {
	name: string;
	nodes: INode[];
	connections: IConnections;
	settings?: IDataObject;
	/** What a node gives out in place of running, by its name. */
	pinData?: Record<string, INodeExecutionData[]>;
}

export interface Workflow extends WorkflowDefinition {
	id: string;
	versionId: string;
	active: boolean;
}

interface PublicationStatus {
	status: 'in_progress' | 'not_published' | 'published' | 'partial' | 'failed';
	triggers: Array<{ errorMessage: string | null }>;
}

export interface ExecutionSummary {
	id: string;
	workflowId: string;
	/** `success`, `error`, `crashed`, `canceled`, or one of the unfinished ones. */
	status: string;
	/** ISO 8601, once it has ended. */
	stoppedAt?: string;
}

export interface Execution extends ExecutionSummary {
	/** Inputs and outputs of every run of every node. */
	data: IRunExecutionData;
	/** The same as n8n stores it. */
	storedData: string;
}

export interface DataTableColumn {
	name: string;
	type: 'string' | 'number' | 'boolean' | 'date';
}

export interface DataTable {
	id: string;
	name: string;
	columns: DataTableColumn[];
}

/** A loaded node type, with the versions that one description stands for. */
export type NodeTypeSummary = INodeTypeDescription;

/** n8n refused a request; the message is n8n's own. */
export class EditorApiError extends Error {
	override readonly name = 'EditorApiError';
	readonly httpStatus: number;

	constructor(request: string, httpStatus: number, message: string) {
		super(`n8n answered ${httpStatus} to ${request}: ${message}`);
		this.httpStatus = httpStatus;
	}
}

const unfinished = ['new', 'running', 'waiting', 'unknown'];
const executionStates = [...unfinished, 'canceled', 'crashed', 'error', 'success'];
const pollMilliseconds = 150;
const busyMilliseconds = 60_000;
const rowsAPage = 250;

/**
 * The REST API behind n8n's editor, as its browser code uses it. It is not n8n's public API: the
 * public one needs a key that only the editor can make.
 *
 * Here is what the launcher and the benchmarks need of it; the tests have more (test/support/testApi.mts).
 * Every method but {@link signIn} needs a signed-in owner, and throws {@link EditorApiError}.
 */
export class EditorApi {
	protected readonly http: AxiosInstance;

	/** @param url n8n's address, without a slash at the end */
	constructor(url: string) {
		this.http = axios.create({
			baseURL: url,
			timeout: 60_000,
			proxy: false,
			validateStatus: null,
			// n8n closes a connection that was idle for five seconds, and after a long turn of its event
			// loop even one whose next request has come: each request has its own.
			httpAgent: new Agent({ keepAlive: false }),
			// n8n ties a session to the browser that signed in.
			headers: { 'browser-id': randomUUID() },
		});
	}

	/** Signs in as the owner, whom a new n8n gets by it. */
	async signIn(owner: Owner): Promise<void> {
		// Releases of n8n differ in the name of the login's first field.
		const login = { emailOrLdapLoginId: owner.email, email: owner.email, password: owner.password };
		const refused = await this.http.post<{ message?: string }>('/rest/login', login);
		let answer = refused;
		if (refused.status !== 200) answer = await this.http.post('/rest/owner/setup', owner);
		if (answer.status !== 200) {
			throw new EditorApiError('POST /rest/login', refused.status, refused.data.message ?? '');
		}
		const cookies = (answer.headers['set-cookie'] ?? []).map((cookie) => cookie.split(';')[0]);
		this.http.defaults.headers.common.Cookie = cookies.join('; ');
	}

	async listCredentials(): Promise<Credential[]> {
		return await this.send('GET', '/rest/credentials');
	}

	async createCredential(credential: CredentialDefinition): Promise<Credential> {
		return await this.send('POST', '/rest/credentials', credential);
	}

	async updateCredential(id: string, credential: CredentialDefinition): Promise<void> {
		await this.send('PATCH', `/rest/credentials/${id}`, credential);
	}

	/** Fields of a credential; n8n blanks the secret ones. */
	async readCredentialData(id: string): Promise<Record<string, unknown>> {
		const path = `/rest/credentials/${id}?includeData=true`;
		return (await this.send<{ data: Record<string, unknown> }>('GET', path)).data;
	}

	async listWorkflows(): Promise<Array<Pick<Workflow, 'id' | 'name' | 'active'>>> {
		return await this.send('GET', '/rest/workflows');
	}

	async createWorkflow(definition: WorkflowDefinition): Promise<Workflow> {
		return await this.send('POST', '/rest/workflows', { ...definition, active: false });
	}

	async readWorkflow(id: string): Promise<Workflow> {
		return await this.send('GET', `/rest/workflows/${id}`);
	}

	/**
	 * Lets a workflow's triggers start it, and waits until they do: n8n 2 publishes a version, some
	 * time after it has answered; n8n 1 sets a switch.
	 *
	 * @throws {Error} with the words of the trigger that could not be activated
	 */
	async activateWorkflow(id: string): Promise<void> {
		await this.setActive(id, true);
		const path = `/rest/workflows/${id}/publication-status`;
		// n8n 1 has published a workflow by the time that it answers, and knows no status of it.
		const published = { status: 'published', triggers: [] } as PublicationStatus;
		for (;;) {
			const read = this.send<PublicationStatus>('GET', path);
			const { status, triggers } = await read.catch(orWhereMissing(async () => published));
			if (status === 'published') return;
			if (status === 'failed' || status === 'partial') {
				throw new Error(triggers.map(({ errorMessage }) => errorMessage).join('\n'));
			}
			await sleep(pollMilliseconds);
		}
	}

	/** n8n 2 has an address for each direction, and n8n 1 a property. */
	protected async setActive(id: string, active: boolean): Promise<void> {
		const { versionId } = await this.readWorkflow(id);
		const path = `/rest/workflows/${id}`;
		await this.send('POST', `${path}/${active ? 'activate' : 'deactivate'}`, { versionId }).catch(
			orWhereMissing(async () => await this.send('PATCH', path, { active, versionId })),
		);
	}

	/** Starts a saved workflow at its trigger node, as Execute Workflow does; answers the execution's id. */
	async runWorkflow(id: string, triggerName: string): Promise<string> {
		const workflowData = await this.readWorkflow(id);
		const body = { workflowData, triggerToStartFrom: { name: triggerName } };
		const path = `/rest/workflows/${id}/run`;
		return (await this.send<{ executionId: string }>('POST', path, body)).executionId;
	}

	/**
	 * All executions of a workflow that n8n keeps, the newest first. Asked for all states by name, n8n
	 * reads them with one query; without, with one query for the running ones and another for the
	 * ended ones, and an execution that ends in between is in both or in neither
	 * (n8n/src/executions/execution-list-v1.service.ts, findCurrentAndCompleted).
	 */
	async listExecutions(workflowId: string): Promise<ExecutionSummary[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId, status: executionStates }));
		const executions = new Map<number, ExecutionSummary>();
		for (let page = ''; ;) {
			type Page = { results: ExecutionSummary[]; nextCursor?: string | null };
			const path = `/rest/executions?limit=100&filter=${filter}${page}`;
			const { results, nextCursor } = await this.send<Page>('GET', path);
			for (const execution of results) executions.set(Number(execution.id), execution);
			if (results.length < 100 || nextCursor === null) break;
			// n8n 2 pages by a cursor, n8n 1 by the last id.
			page = nextCursor ? `&cursor=${nextCursor}` : `&lastId=${results.at(-1)!.id}`;
		}
		// n8n 2 lists by the time of the start, which executions that wait for one have not.
		return [...executions].sort(([a], [b]) => b - a).map(([, execution]) => execution);
	}

	async readExecution(id: string): Promise<Execution> {
		const { data, ...execution } = await this.send<ExecutionSummary & { data: string }>(
			'GET',
			`/rest/executions/${id}`,
		);
		return { ...execution, data: parseFlatted(data) as IRunExecutionData, storedData: data };
	}

	/** Waits until an execution has ended, well or badly, and its data are there. */
	async waitForExecution(id: string, timeoutMilliseconds = 60_000): Promise<Execution> {
		const deadline = Date.now() + timeoutMilliseconds;
		for (;;) {
			const execution = await this.readExecution(id);
			// n8n 1 writes the state first, the data in another statement and, where it crashed, never
			// (@n8n/db/src/repositories/execution.repository.ts, updateExistingExecution).
			const saved = execution.data !== undefined || execution.status === 'crashed';
			if (saved && !unfinished.includes(execution.status)) return execution;
			if (Date.now() > deadline) {
				throw new Error(
					`Execution ${id} is still ${execution.status} after ${timeoutMilliseconds} ms`,
				);
			}
			await sleep(pollMilliseconds);
		}
	}

	async listDataTables(): Promise<DataTable[]> {
		return (await this.send<{ data: DataTable[] }>('GET', await this.#dataTables())).data;
	}

	async createDataTable(name: string, columns: DataTableColumn[]): Promise<DataTable> {
		return await this.send('POST', await this.#dataTables(), { name, columns });
	}

	/** All rows of a data table, n8n's own columns (`id`, `createdAt`, `updatedAt`) included. */
	async readRows(tableId: string): Promise<Array<Record<string, unknown>>> {
		const path = `${await this.#dataTables()}/${tableId}/rows`;
		const rows: Array<Record<string, unknown>> = [];
		for (;;) {
			type Page = { count: number; data: Array<Record<string, unknown>> };
			const page = await this.send<Page>('GET', `${path}?skip=${rows.length}&take=${rowsAPage}`);
			rows.push(...page.data);
			if (page.data.length === 0 || rows.length >= page.count) return rows;
		}
	}

	/** Deletes the rows of a data table that have a value in a column. */
	async deleteRows(tableId: string, columnName: string, value: string | number): Promise<void> {
		const filters = [{ columnName, condition: 'eq', value }];
		const filter = encodeURIComponent(JSON.stringify({ type: 'and', filters }));
		const path = `${await this.#dataTables()}/${tableId}/rows?filter=${filter}`;
		await this.send('DELETE', path);
	}

	/** Every node type that n8n has loaded. */
	async nodeTypes(): Promise<NodeTypeSummary[]> {
		return await this.sendPlain('GET', '/types/nodes.json');
	}

	/** Every credential type that n8n has loaded. */
	async credentialTypes(): Promise<NodeTypeSummary[]> {
		return await this.sendPlain('GET', '/types/credentials.json');
	}

	async #dataTables(): Promise<string> {
		const project = await this.send<{ id: string }>('GET', '/rest/projects/personal');
		return `/rest/projects/${project.id}/data-tables`;
	}

	/** n8n wraps what it answers into `data`. */
	protected async send<Answer>(method: Method, path: string, body?: object): Promise<Answer> {
		const { data } = await this.sendPlain<{ data: Answer }>(method, path, body);
		return data;
	}

	/** n8n answers 503 while its database is too busy to answer the check of its health: a read waits. */
	private async sendPlain<Answer>(method: Method, path: string, body?: object): Promise<Answer> {
		const deadline = Date.now() + busyMilliseconds;
		for (;;) {
			const { status, data } = await this.http.request<Answer & { message?: string }>({
				method,
				url: path,
				data: body,
			});
			if (status < 400) return data;
			if (status !== 503 || method !== 'GET' || Date.now() > deadline) {
				const message = data.message ?? JSON.stringify(data);
				throw new EditorApiError(`${method} ${path}`, status, message);
			}
			await sleep(pollMilliseconds);
		}
	}
}

/** Does something else where n8n knows no such address. */
function orWhereMissing<Result>(work: () => Promise<Result>) {
	return async (error: unknown) => {
		if (error instanceof EditorApiError && error.httpStatus === 404) return await work();
		throw error;
	};
}
