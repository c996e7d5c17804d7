import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import dataTables from './dataTables.json' with { type: 'json' };
import { projectRoot } from './paths.mts';
import type {
	Credential,
	CredentialDefinition,
	DataTableColumn,
	EditorApi,
	WorkflowDefinition,
} from './rest.mts';

/** Owner of the n8n of `npm start`, which only this machine can reach. */
export const owner = {
	email: 'owner@example.com',
	password: 'Resume-sandbox-1',
	firstName: 'Resume',
	lastName: 'Owner',
};

/**
 * Environment of an n8n 2 without n8n's assistant, which needs a model. n8n then opens on the list of workflows, and not on the
 * assistant's page.
 */
export const withoutAssistant = { N8N_DISABLED_MODULES: 'instance-ai', N8N_AI_ENABLED: 'false' };

/** Access of the nodes to the service. */
export interface ServiceAccess {
	/** With the version segment. */
	baseUrl: string;
	privateKey: string;
	webhookSecret: string;
}

export interface ExampleWorkflow {
	/** Name of the file in `workflows/`, without `.json`. */
	file: string;
	id: string;
	name: string;
}

const workflowsFolder = join(projectRoot, 'workflows');

/**
 * Puts into n8n what its user needs for a first run: the credentials, the data tables of the examples, and
 * every workflow of `workflows/`, with credentials and sub-workflows set. What is there already, by name, is
 * kept as it is; only the service's credential follows it when its address changes.
 *
 * @param api signed in as the owner
 * @param adapt changes the nodes of an example for an n8n that can't run them as they are
 */
export async function prepareWorkspace(
	api: EditorApi,
	access: ServiceAccess,
	adapt: (nodes: INode[]) => Promise<INode[]> = async (nodes) => nodes,
): Promise<ExampleWorkflow[]> {
	const credentials = await prepareCredentials(api, access);
	await prepareDataTables(api);
	const existing = await api.listWorkflows();

	const examples: ExampleWorkflow[] = [];
	for (const { file, definition } of await readExamples()) {
		const nodes = (await adapt(definition.nodes)).map((node) =>
			wireSubWorkflow(wireCredential(node, credentials), examples),
		);
		const { id, name } =
			existing.find((workflow) => workflow.name === definition.name) ??
			(await api.createWorkflow({ ...definition, nodes }));
		examples.push({ file, id, name });
	}
	return examples;
}

/** Returns the workflows of `workflows/`, sub-workflows first. */
export async function readExamples(): Promise<
	Array<{ file: string; definition: WorkflowDefinition }>
> {
	const files = (await readdir(workflowsFolder)).filter((name) => name.endsWith('.json')).sort();
	const examples = files.map(async (name) => {
		const text = await readFile(join(workflowsFolder, name), 'utf8');
		const definition = JSON.parse(text) as WorkflowDefinition;
		return { file: name.replace(/\.json$/, ''), definition };
	});
	const isCalled = ({ definition }: { definition: WorkflowDefinition }) =>
		definition.nodes.some(({ type }) => type === 'n8n-nodes-base.executeWorkflowTrigger');
	return (await Promise.all(examples)).sort(
		(one, other) => Number(isCalled(other)) - Number(isCalled(one)),
	);
}

async function prepareCredentials(api: EditorApi, access: ServiceAccess): Promise<Credential[]> {
	const service: CredentialDefinition = {
		name: 'Resume Management Sandbox',
		type: 'resumeManagementApi',
		data: { ...access },
	};
	/** Credential for callers of the examples' webhooks. */
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

/** Creates the tables of the example workflows that are missing. */
async function prepareDataTables(api: EditorApi): Promise<void> {
	const existing = await api.listDataTables();
	for (const [name, types] of Object.entries(dataTables)) {
		const columns = Object.entries(types).map(
			([column, type]) => ({ name: column, type }) as DataTableColumn,
		);
		if (!existing.some((one) => one.name === name)) await api.createDataTable(name, columns);
	}
}

/** Sets the credentials of a node. Types without a credential, such as a chat model's, stay open. */
function wireCredential(node: INode, credentials: Credential[]): INode {
	const credential = credentials.find(({ type }) => node.credentials?.[type] !== undefined);
	if (credential === undefined) return node;
	const { type, id, name } = credential;
	return { ...node, credentials: { [type]: { id, name } } };
}

/** Sets the ID of the workflow that a node calls: files have its name only. */
function wireSubWorkflow(node: INode, examples: ExampleWorkflow[]): INode {
	const locator = node.parameters.workflowId;
	if (typeof locator !== 'object' || locator === null || !('cachedResultName' in locator)) {
		return node;
	}
	const called = examples.find(({ name }) => name === locator.cachedResultName);
	if (called === undefined) return node;
	const workflowId = { ...locator, value: called.id } as typeof locator;
	return { ...node, parameters: { ...node.parameters, workflowId } };
}
