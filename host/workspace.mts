import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import dataTables from './dataTables.json' with { type: 'json' };
import { projectRoot } from './paths.mts';
import type {
	Credential,
	CredentialDefinition,
	DataTable,
	DataTableColumn,
	EditorApi,
	WorkflowDefinition,
} from './rest.mts';

/** Who owns the n8n of `npm start`, which only this machine can reach. */
export const owner = {
	email: 'owner@example.com',
	password: 'Resume-sandbox-1',
	firstName: 'Resume',
	lastName: 'Owner',
};

/** Where and how the nodes reach the service. */
export interface ServiceAccess {
	/** Up to and including the version segment. */
	baseUrl: string;
	privateKey: string;
	webhookSecret: string;
}

export interface ExampleWorkflow {
	/** File of `workflows/` without `.json`. */
	file: string;
	id: string;
	name: string;
}

const workflowsFolder = join(projectRoot, 'workflows');

/**
 * Puts into n8n what its user needs for a first run: the credentials, the data tables and every
 * workflow of `workflows/` with both set. What is there already, by name, is kept as it is; only
 * the service's credential follows it when its address changes.
 *
 * @param api signed in as the owner
 */
export async function prepareWorkspace(
	api: EditorApi,
	access: ServiceAccess,
): Promise<ExampleWorkflow[]> {
	const credentials = await prepareCredentials(api, access);
	const tables = await prepareDataTables(api);
	const existing = await api.listWorkflows();

	const examples: ExampleWorkflow[] = [];
	for (const file of (await readdir(workflowsFolder)).sort()) {
		const text = await readFile(join(workflowsFolder, file), 'utf8');
		const definition = wire(JSON.parse(text) as WorkflowDefinition, credentials, tables);
		const { id, name } =
			existing.find((workflow) => workflow.name === definition.name) ??
			(await api.createWorkflow(definition));
		examples.push({ file: file.replace(/\.json$/, ''), id, name });
	}
	return examples;
}

async function prepareCredentials(api: EditorApi, access: ServiceAccess): Promise<Credential[]> {
	const service: CredentialDefinition = {
		name: 'Resume Management Sandbox',
		type: 'resumeManagementApi',
		data: { ...access },
	};
	/** What callers of the examples' own webhooks send. */
	const caller: CredentialDefinition = {
		name: 'Incoming webhook',
		type: 'httpHeaderAuth',
		data: { name: 'X-Webhook-Secret', value: access.webhookSecret },
	};
	const existing = await api.listCredentials();
	const credentials: Credential[] = [];
	for (const wanted of [service, caller]) {
		const found = existing.find(({ name, type }) => name === wanted.name && type === wanted.type);
		credentials.push(found ?? (await api.createCredential(wanted)));
		if (found === undefined || wanted !== service) continue;
		const { baseUrl } = await api.readCredentialData(found.id);
		if (baseUrl !== access.baseUrl) await api.updateCredential(found.id, service);
	}
	return credentials;
}

/** Makes the tables and columns that the example workflows write to, where they are missing. */
async function prepareDataTables(api: EditorApi): Promise<DataTable[]> {
	const existing = await api.listDataTables();
	const tables: DataTable[] = [];
	for (const [name, types] of Object.entries(dataTables)) {
		const columns = Object.entries(types).map(
			([column, type]) => ({ name: column, type }) as DataTableColumn,
		);
		const table =
			existing.find((one) => one.name === name) ?? (await api.createDataTable(name, columns));
		// An earlier version of this package may have made the table.
		const known = table.columns.map((column) => column.name);
		for (const column of columns.filter((one) => !known.includes(one.name))) {
			await api.addDataTableColumn(table.id, column);
		}
		tables.push(table);
	}
	return tables;
}

/** Sets credentials and data tables where a workflow's file has only their names. */
function wire(
	definition: WorkflowDefinition,
	credentials: Credential[],
	tables: DataTable[],
): WorkflowDefinition {
	return {
		...definition,
		nodes: definition.nodes.map((node) => wireDataTable(wireCredential(node, credentials), tables)),
	};
}

/** A type that the workspace has no credential of, such as a chat model's, stays open. */
function wireCredential(node: INode, credentials: Credential[]): INode {
	const credential = credentials.find(({ type }) => node.credentials?.[type] !== undefined);
	if (credential === undefined) return node;
	const { type, id, name } = credential;
	return { ...node, credentials: { [type]: { id, name } } };
}

function wireDataTable(node: INode, tables: DataTable[]): INode {
	const locator = node.parameters.dataTableId;
	if (typeof locator !== 'object' || locator === null || !('value' in locator)) return node;
	const table = tables.find(({ name }) => name === locator.value);
	if (table === undefined) return node;
	// n8n 1.x knows no tables by name, only by id.
	const dataTableId = {
		__rl: true,
		mode: 'list',
		value: table.id,
		cachedResultName: table.name,
	} as const;
	return { ...node, parameters: { ...node.parameters, dataTableId } };
}
