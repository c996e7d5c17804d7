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
	IRunExecutionData,
} from 'n8n-workflow';

type Owner = Record<'email' | 'password' | 'firstName' | 'lastName', string>;

/** A credential as the editor sends it. `data` has the fields of its type. */
export interface CredentialDefinition {
	name: string;
	type: string;
	data: Record<string, string | number | boolean>;
}

export type Credential = Record<'id' | 'name' | 'type', string>;

/** A workflow as in the files of `workflows/`. */
export interface WorkflowDefinition {
	name: string;
	nodes: INode[];
	connections: IConnections;
	settings?: IDataObject;
	/** IDs of tags. */
	tags?: string[];
	/** Pinned output of nodes, by their names. */
	pinData?: Record<string, INodeExecutionData[]>;
}

export interface Workflow extends WorkflowDefinition {
	id: string;
	versionId: string;
	active: boolean;
}

export interface ExecutionSummary {
	id: string;
	/** `success`, `error`, `crashed`, `canceled`, or unfinished. */
	status: string;
	/** ISO 8601, if the execution has ended. */
	stoppedAt?: string;
}

export interface Execution extends ExecutionSummary {
	/** Inputs and outputs of every run of every node. */
	data: IRunExecutionData;
	/** The same data as n8n stores them. */
	storedData: string;
}

/** n8n refused a request. The message is n8n's. */
export class EditorApiError extends Error {
	override readonly name = 'EditorApiError';
	readonly httpStatus: number;

	constructor(request: string, httpStatus: number, message: string) {
		super(`n8n responded with ${httpStatus} to ${request}: ${message}`);
		this.httpStatus = httpStatus;
	}
}

/** States of an execution that has not ended. */
export const unfinished = ['new', 'running', 'waiting', 'unknown'];
const pollMilliseconds = 150;

/**
 * Client of the REST API that n8n's editor uses. n8n's public API is another one, and needs a key that only the editor can make.
 * It has the methods for the launcher and the benchmarks; the tests have more (test/support/testApi.mts). All methods but
 * {@link signIn} need a signed-in owner, and throw {@link EditorApiError}.
 */
export class EditorApi {
	protected readonly http: AxiosInstance;
	/** Address of n8n, without a slash at the end. */
	readonly url: string;

	constructor(url: string) {
		this.url = url;
		this.http = axios.create({
			baseURL: url,
			timeout: 60_000,
			proxy: false,
			validateStatus: null,
			// A new connection for each request: n8n closes idle ones after five seconds, and when it is busy even those with a
			// new request.
			httpAgent: new Agent({ keepAlive: false }),
			// n8n accepts a session only from the browser that signed in.
			headers: { 'browser-id': randomUUID() },
		});
	}

	/** Signs in as the owner, and creates the owner in a new n8n. */
	async signIn(owner: Owner): Promise<void> {
		// The name of the login's first field depends on n8n's version.
		const login = { emailOrLdapLoginId: owner.email, email: owner.email, password: owner.password };
		const refused = await this.http.post<{ message?: string }>('/rest/login', login);
		const response =
			refused.status === 200 ? refused : await this.http.post('/rest/owner/setup', owner);
		if (response.status !== 200) {
			throw new EditorApiError('POST /rest/login', refused.status, refused.data.message ?? '');
		}
		const cookies = (response.headers['set-cookie'] ?? []).map((cookie) => cookie.split(';')[0]);
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

	/** Reads the fields of a credential. n8n blanks the secret ones. */
	async readCredentialData(id: string): Promise<Record<string, unknown>> {
		const path = `/rest/credentials/${id}?includeData=true`;
		return (await this.send<{ data: Record<string, unknown> }>('GET', path)).data;
	}

	/** Returns the ID of a tag, which is created if it is missing. */
	async tagId(name: string): Promise<string> {
		type Tag = { id: string; name: string };
		const found = (await this.send<Tag[]>('GET', '/rest/tags')).find((tag) => tag.name === name);
		return (found ?? (await this.send<Tag>('POST', '/rest/tags', { name }))).id;
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
	 * Activates a workflow, and waits until its triggers work: n8n 2 publishes a version some time after its response.
	 *
	 * @throws {Error} with the message of a trigger that could not be activated
	 */
	async activateWorkflow(id: string): Promise<void> {
		await this.setActive(id, true);
		const path = `/rest/workflows/${id}/publication-status`;
		type Publication = { status: string; triggers: Array<{ errorMessage: string | null }> };
		// n8n 1 has activated the workflow when it responds, and has no status for it.
		const published = async () => ({ status: 'published', triggers: [] });
		for (;;) {
			const read = this.send<Publication>('GET', path);
			const { status, triggers } = await read.catch(orWhereMissing<Publication>(published));
			if (status === 'published') return;
			if (status === 'failed' || status === 'partial') {
				throw new Error(triggers.map(({ errorMessage }) => errorMessage).join('\n'));
			}
			await sleep(pollMilliseconds);
		}
	}

	/** Activates or deactivates: n8n 2 has an address for each, and n8n 1 a property. */
	protected async setActive(id: string, active: boolean): Promise<void> {
		const { versionId } = await this.readWorkflow(id);
		const path = `/rest/workflows/${id}`;
		await this.send('POST', `${path}/${active ? 'activate' : 'deactivate'}`, { versionId }).catch(
			orWhereMissing(async () => await this.send('PATCH', path, { active, versionId })),
		);
	}

	/** Starts a saved workflow at its trigger node, as Execute Workflow does, and returns the execution's ID. */
	async runWorkflow(id: string, triggerName: string): Promise<string> {
		const workflowData = await this.readWorkflow(id);
		const body = { workflowData, triggerToStartFrom: { name: triggerName } };
		const path = `/rest/workflows/${id}/run`;
		return (await this.send<{ executionId: string }>('POST', path, body)).executionId;
	}

	/**
	 * Returns the newest 100 executions of a workflow, the newest first. The request names all states, so that n8n reads them with
	 * one query. Without names, n8n reads running and ended ones apart, and an execution that ends in between is in both or in
	 * neither (findCurrentAndCompleted in n8n/src/executions/execution-list-v1.service.ts).
	 */
	async listExecutions(workflowId: string): Promise<ExecutionSummary[]> {
		const status = [...unfinished, 'canceled', 'crashed', 'error', 'success'];
		const filter = encodeURIComponent(JSON.stringify({ workflowId, status }));
		const path = `/rest/executions?limit=100&filter=${filter}`;
		const { results } = await this.send<{ results: ExecutionSummary[] }>('GET', path);
		// n8n 2 sorts by the time of the start, which waiting executions do not have.
		return results.sort((one, other) => Number(other.id) - Number(one.id));
	}

	async readExecution(id: string): Promise<Execution> {
		type Stored = ExecutionSummary & { data: string };
		const { data, ...execution } = await this.send<Stored>('GET', `/rest/executions/${id}`);
		return { ...execution, data: parseFlatted(data) as IRunExecutionData, storedData: data };
	}

	/** Waits until an execution has ended and its data are stored. */
	async waitForExecution(id: string, timeoutMilliseconds = 60_000): Promise<Execution> {
		const deadline = Date.now() + timeoutMilliseconds;
		for (;;) {
			const execution = await this.readExecution(id);
			// n8n 1 writes the state first and the data later, or never after a crash (updateExistingExecution in
			// @n8n/db/src/repositories/execution.repository.ts).
			const saved = execution.data !== undefined || execution.status === 'crashed';
			if (saved && !unfinished.includes(execution.status)) return execution;
			if (Date.now() > deadline) throw new Error(`Execution ${id} is still ${execution.status}`);
			await sleep(pollMilliseconds);
		}
	}

	async listDataTables() {
		type Tables = { data: Array<{ id: string; name: string }> };
		return (await this.send<Tables>('GET', await this.#dataTables())).data;
	}

	/** @param types of the columns, by their names: `string`, `number`, `boolean` or `date` */
	async createDataTable(name: string, types: Record<string, string>): Promise<void> {
		const columns = Object.entries(types).map(([column, type]) => ({ name: column, type }));
		await this.send('POST', await this.#dataTables(), { name, columns });
	}

	/** Returns all rows of a Data Table, with n8n's columns `id`, `createdAt` and `updatedAt`. */
	async readRows(tableId: string): Promise<IDataObject[]> {
		const path = `${await this.#dataTables()}/${tableId}/rows`;
		const rows: IDataObject[] = [];
		for (;;) {
			type Page = { count: number; data: IDataObject[] };
			const page = await this.send<Page>('GET', `${path}?skip=${rows.length}&take=250`);
			rows.push(...page.data);
			if (page.data.length === 0 || rows.length >= page.count) return rows;
		}
	}

	/** Deletes the rows of a Data Table that have a value in a column. */
	async deleteRows(tableId: string, columnName: string, value: string | number): Promise<void> {
		const filters = [{ columnName, condition: 'eq', value }];
		const filter = encodeURIComponent(JSON.stringify({ type: 'and', filters }));
		await this.send('DELETE', `${await this.#dataTables()}/${tableId}/rows?filter=${filter}`);
	}

	async insertRow(tableId: string, row: IDataObject): Promise<void> {
		const path = `${await this.#dataTables()}/${tableId}/insert`;
		await this.send('POST', path, { data: [row], returnType: 'count' });
	}

	async #dataTables(): Promise<string> {
		const project = await this.send<{ id: string }>('GET', '/rest/projects/personal');
		return `/rest/projects/${project.id}/data-tables`;
	}

	/** Sends a request and returns the `data` of n8n's response. */
	protected async send<Data>(method: Method, path: string, body?: object): Promise<Data> {
		const { data } = await this.sendPlain<{ data: Data }>(method, path, body);
		return data;
	}

	/** Repeats reads while n8n responds with 503 because its database is too busy for the health check. */
	protected async sendPlain<Result>(method: Method, path: string, body?: object): Promise<Result> {
		const deadline = Date.now() + 60_000;
		for (;;) {
			const request = { method, url: path, data: body };
			const { status, data } = await this.http.request<Result & { message?: string }>(request);
			if (status < 400) return data;
			if (status !== 503 || method !== 'GET' || Date.now() > deadline) {
				throw new EditorApiError(`${method} ${path}`, status, data.message ?? JSON.stringify(data));
			}
			await sleep(pollMilliseconds);
		}
	}
}

/** Falls back to another request if n8n does not know the address. */
function orWhereMissing<Result>(work: () => Promise<Result>) {
	return async (error: unknown) => {
		if (error instanceof EditorApiError && error.httpStatus === 404) return await work();
		throw error;
	};
}
