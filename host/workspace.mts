import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { INode, INodeParameters } from 'n8n-workflow';
import type { Sandbox } from '../sandbox/server.mts';
import type { WebhookRegistration } from '../sandbox/webhooks/signature.mts';
import dataTables from './dataTables.json' with { type: 'json' };
import { projectRoot } from './paths.mts';
import type { Credential, CredentialDefinition, EditorApi, WorkflowDefinition } from './rest.mts';

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

/** Fields of the service's credential, and the port of the sandbox's SMTP server. */
interface Access extends Record<'baseUrl' | 'privateKey' | 'webhookSecret', string> {
	mailPort?: number;
}

export interface ExampleWorkflow {
	/** Name of the file in `workflows/`, without `.json`. */
	file: string;
	id: string;
	name: string;
}

const triggerType = 'n8n-nodes-resume-management.resumeManagementTrigger';

/**
 * Examples to try first, the first one last. They get a tag, because n8n has folders only with a license, and they are created
 * after the others, because n8n's list begins with the newest.
 */
const firstExamples = [
	...['upgrades-from-file', 'upgrade-after-payment', 'section-saved-score', 'check-account'],
	'nightly-sync',
];

/** Tag of {@link firstExamples}. */
export const firstTag = 'Start here';

const workflowsFolder = join(projectRoot, 'workflows');

/**
 * Adds what is missing in n8n for a first run: the credentials, the Data Tables of the examples, and each workflow of
 * `workflows/`, with its credentials and sub-workflows. It changes nothing that exists under the same name, except the
 * sandbox's ports in credentials.
 *
 * @param api signed in as the owner
 * @param adapt changes the nodes of an example for an n8n that can't run them as they are
 */
export async function prepareWorkspace(
	api: EditorApi,
	access: Access,
	adapt: (nodes: INode[], api: EditorApi) => Promise<INode[]> = async (nodes) => nodes,
): Promise<ExampleWorkflow[]> {
	const credentials = await prepareCredentials(api, access);
	const tables = await api.listDataTables();
	for (const [name, types] of Object.entries(dataTables)) {
		if (!tables.some((table) => table.name === name)) await api.createDataTable(name, types);
	}
	const existing = await api.listWorkflows();
	const [first, more] = [await api.tagId(firstTag), await api.tagId('More examples')];

	const examples: ExampleWorkflow[] = [];
	const rank = ({ file }: { file: string }) => firstExamples.indexOf(file);
	for (const example of (await readExamples()).sort((one, other) => rank(one) - rank(other))) {
		const { file, definition } = example;
		const tags = [rank(example) < 0 ? more : first];
		const nodes = (await adapt(definition.nodes, api)).map((node) =>
			wireSubWorkflow(wireCredential(node, credentials), examples),
		);
		const { id, name } =
			existing.find((workflow) => workflow.name === definition.name) ??
			(await api.createWorkflow({ ...definition, nodes, tags }));
		examples.push({ file, id, name });
	}
	return examples;
}

/** Returns the workflows of `workflows/`, sub-workflows first. */
export async function readExamples() {
	const files = (await readdir(workflowsFolder)).sort().map(async (name) => {
		const text = await readFile(join(workflowsFolder, name), 'utf8');
		return { file: basename(name, '.json'), definition: JSON.parse(text) as WorkflowDefinition };
	});
	const examples = await Promise.all(files);
	const called = examples.filter(({ definition }) =>
		definition.nodes.some(({ type }) => type === 'n8n-nodes-base.executeWorkflowTrigger'),
	);
	return [...new Set([...called, ...examples])];
}

/** Fields with a port of the sandbox, by types of credentials. */
const portFields: Record<string, string> = { resumeManagementApi: 'baseUrl', smtp: 'port' };

async function prepareCredentials(
	api: EditorApi,
	{ mailPort, ...access }: Access,
): Promise<Credential[]> {
	const service: CredentialDefinition = {
		name: 'Resume Management Sandbox',
		type: 'resumeManagementApi',
		data: access,
	};
	const mail: CredentialDefinition = {
		name: 'Sandbox emails',
		type: 'smtp',
		data: { host: '127.0.0.1', port: mailPort ?? 0, secure: false, disableStartTls: true },
	};
	/** Credential for callers of the examples' webhooks. */
	const caller: CredentialDefinition = {
		name: 'Incoming webhook',
		type: 'httpHeaderAuth',
		data: { name: 'X-Webhook-Secret', value: access.webhookSecret },
	};
	/** Login of the examples' forms that bill. */
	const form: CredentialDefinition = {
		name: 'Incoming form',
		type: 'httpBasicAuth',
		data: { user: 'sandbox', password: access.webhookSecret },
	};
	const existing = await api.listCredentials();
	const credentials: Credential[] = [];
	for (const wanted of [service, caller, form, ...(mailPort === undefined ? [] : [mail])]) {
		const found = existing.find(({ name, type }) => name === wanted.name && type === wanted.type);
		credentials.push(found ?? (await api.createCredential(wanted)));
		const field = portFields[wanted.type];
		if (found === undefined || field === undefined) continue;
		const data = await api.readCredentialData(found.id);
		if (data[field] !== wanted.data[field]) await api.updateCredential(found.id, wanted);
	}
	return credentials;
}

/** Sets the credentials of a node. Types without a credential, such as a chat model's, stay open. */
function wireCredential(node: INode, credentials: Credential[]): INode {
	const found = credentials.find(({ type }) => node.credentials?.[type] !== undefined);
	return found
		? { ...node, credentials: { [found.type]: { id: found.id, name: found.name } } }
		: node;
}

/** Sets the ID of the workflow that a node calls: files have its name only. */
function wireSubWorkflow(node: INode, examples: ExampleWorkflow[]): INode {
	const locator = node.parameters.workflowId as { cachedResultName?: string } | undefined;
	const called = examples.find(({ name }) => name === locator?.cachedResultName);
	if (called === undefined) return node;
	const workflowId = { ...locator, value: called.id } as INodeParameters;
	return { ...node, parameters: { ...node.parameters, workflowId } };
}

/**
 * Activates the examples with the trigger, and registers their production URLs with the sandbox, under the workflow's name.
 * Signatures stay, because a user may have changed them on the web pages.
 *
 * @returns a sentence for each example that n8n refused to activate, because a user changed it
 */
export async function connectExamples(
	api: EditorApi,
	webhooks: Sandbox['webhooks'],
	secret: string,
	examples: ExampleWorkflow[],
): Promise<string[]> {
	const problems: string[] = [];
	for (const { id, name } of examples) {
		const { active, nodes } = await api.readWorkflow(id);
		const trigger = nodes.find(({ type }) => type === triggerType);
		if (trigger === undefined) continue;
		try {
			if (!active) await api.activateWorkflow(id);
		} catch (error) {
			problems.push(`The example "${name}" receives no events: ${(error as Error).message}`);
			continue;
		}
		const path = `/webhook/${trigger.webhookId}/webhook`;
		const url = api.url + path;
		const headerName = 'X-Webhook-Secret';
		let proof: Omit<WebhookRegistration, 'url'> = { style: 'header', secret, headerName };
		// An earlier start registered it, maybe with another port.
		for (const { id: earlier, ...settings } of webhooks.list()) {
			if (!settings.url.endsWith(path)) continue;
			proof = settings;
			webhooks.remove(earlier);
		}
		webhooks.register({ ...proof, url, name });
	}
	return problems;
}
