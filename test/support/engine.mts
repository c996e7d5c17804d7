/**
 * Runs the built nodes in n8n-core's own engine, over real sockets. What stands in here for n8n's
 * server is what n8n-core leaves to it: where node types and credentials come from, and the
 * assignment of `execute` (n8n/src/node-types.ts, n8n/src/credentials-helper.ts).
 */
import { printed } from './environment.mts';
import { inspect } from 'node:util';
import {
	ExecutionLifecycleHooks,
	LoadOptionsContext,
	PackageDirectoryLoader,
	RoutingNode,
	WorkflowExecute,
} from 'n8n-core';
import { createRunExecutionData, LoggerProxy, NodeConnectionTypes, Workflow } from 'n8n-workflow';
import type {
	EngineResponse,
	IConnections,
	IDataObject,
	ICredentialsHelper,
	ICredentialDataDecryptedObject,
	ICredentialType,
	IExecuteFunctions,
	IHttpRequestOptions,
	INode,
	INodeExecutionData,
	INodeParameters,
	INodeType,
	INodeTypes,
	ITaskData,
	IWorkflowExecuteAdditionalData,
	NodeConnectionType,
} from 'n8n-workflow';
import { packageName, projectRoot } from '../../host/paths.mts';
import { chain, type NodeDefinition } from '../../host/workflow.mts';

const NODE_TYPE = `${packageName}.resumeManagement`;

const loader = new PackageDirectoryLoader(projectRoot);
export const loaded = loader.loadAll();

/** The node type as n8n has loaded it from `dist`. */
export async function loadNodeType(name: string): Promise<INodeType> {
	await loaded;
	return loader.getNode(name).type as INodeType;
}

const described = (name: string, ...inputs: NodeConnectionType[]): INodeType['description'] => ({
	displayName: name,
	name,
	description: '',
	version: 1,
	group: ['transform'],
	defaults: { name },
	inputs,
	outputs: [NodeConnectionTypes.Main],
	properties: [
		{ displayName: 'Items', name: 'items', type: 'json', default: '[]' },
		{ displayName: 'At Once', name: 'atOnce', type: 'boolean', default: false },
	],
});

/** Emits the items under test, since n8n's base nodes are not part of n8n-core. */
const source: INodeType = {
	description: described('source'),
	async execute(this: IExecuteFunctions) {
		const items = this.getNodeParameter('items', 0) as INodeExecutionData['json'][];
		return [items.map((json, item) => ({ json, pairedItem: { item } }))];
	},
};

const AGENT = described('agent', NodeConnectionTypes.Main, NodeConnectionTypes.AiTool);

/** Calls its tool with the arguments of each item, in turn or all at once, as an AI agent would. */
const agent: INodeType = {
	description: AGENT,
	async execute(this: IExecuteFunctions) {
		const [tool] = (await this.getInputConnectionData(NodeConnectionTypes.AiTool, 0)) as Tool[];
		const call = async ({ json }: INodeExecutionData) => {
			const called = tool!.invoke(json).then((result) => ({ result }));
			return { json: await called.catch(({ message }: Error) => ({ error: message })) };
		};
		const items = this.getInputData();
		if (this.getNodeParameter('atOnce', 0)) return [await Promise.all(items.map(call))];
		const results: INodeExecutionData[] = [];
		for (const item of items) results.push(await call(item));
		return [results];
	},
};

interface Tool {
	invoke(args: object): Promise<string>;
}

/** Has n8n run its tool as a node for each item, as version 3 of n8n's AI Agent does. */
const agent3: INodeType = {
	description: AGENT,
	async execute(this: IExecuteFunctions, response?: EngineResponse) {
		const results = response?.actionResponses ?? [];
		if (results.length > 0) return [results.map(({ data }) => ({ json: toolResult(data) }))];
		const actions = this.getInputData().map(({ json }, itemIndex) => ({
			actionType: 'ExecutionNodeAction' as const,
			type: NodeConnectionTypes.AiTool,
			nodeName: 'Tool',
			input: json,
			id: `call-${itemIndex}`,
			metadata: { itemIndex },
		}));
		return { actions, metadata: {} };
	},
};

function toolResult({ data, error }: ITaskData): IDataObject {
	const items = data?.ai_tool?.flat().map((item) => item!.json) ?? [];
	return error ? { error: error.message } : { result: JSON.stringify(items) };
}

/** Makes a tool of a node, as n8n does (n8n/src/tool-generation). */
function asTool(nodeType: INodeType): INodeType {
	const outputs = [NodeConnectionTypes.AiTool];
	const value = { ...nodeType.description, inputs: [], outputs };
	return Object.create(nodeType, { description: { value } }) as INodeType;
}

export const nodeTypes: INodeTypes = {
	getByName: (type) => nodeTypes.getByNameAndVersion(type),
	getByNameAndVersion(type) {
		const own = { 'test.source': source, 'test.agent': agent, 'test.agent3': agent3 }[type];
		if (own) return own;
		const name = type.replace(`${packageName}.`, '');
		const nodeType = loader.getNode(name.replace(/(Tool|Execute)$/, '')).type as INodeType;
		if (!nodeType.webhook) {
			nodeType.execute ??= async function (this: IExecuteFunctions) {
				return (await new RoutingNode(this as never, nodeType).runNode()) ?? [];
			};
		}
		if (name.endsWith('Execute')) {
			return Object.create(nodeType, { customOperations: { value: undefined } }) as INodeType;
		}
		return name.endsWith('Tool') ? asTool(nodeType) : nodeType;
	},
	getKnownTypes: () => ({}),
};

type Authenticate = Extract<ICredentialType['authenticate'], Function>;

/** Evaluates and applies the credential as n8n's server does; decryption and storage are left out. */
export class TestCredentials implements Partial<ICredentialsHelper> {
	reads = 0;

	constructor(
		private readonly data: ICredentialDataDecryptedObject,
		private readonly failingReads: number[] = [],
	) {}

	getParentTypes = () => [];

	isCredentialUsableByNode = () => true;

	async getDecrypted(...given: Parameters<ICredentialsHelper['getDecrypted']>) {
		const [, , , mode, executeData, , values] = given;
		if (this.failingReads.includes(this.reads++)) throw new Error('The database is away');
		if (!values) return { ...this.data };
		const { workflow, node, runExecutionData, runIndex, itemIndex, connectionInputData } = values;
		const run = [runExecutionData, runIndex, itemIndex, node.name, connectionInputData] as const;
		const data = this.data as INodeParameters;
		const read = workflow.expression.getParameterValue(data, ...run, mode, {}, executeData);
		return read as unknown as ICredentialDataDecryptedObject;
	}

	async authenticate(...given: Parameters<ICredentialsHelper['authenticate']>) {
		const [credentials, type, options] = given;
		const { authenticate } = loader.getCredential(type).type;
		return await (authenticate as Authenticate)(credentials, options as IHttpRequestOptions);
	}

	preAuthentication = async () => undefined;

	getCredentialsProperties = (type: string) => loader.getCredential(type).type.properties;
}

export interface EngineRun {
	parameters: INodeParameters;
	credential: ICredentialDataDecryptedObject;
	/** The node's input, one empty item by default. */
	items?: INodeExecutionData['json'][];
	node?: Partial<INode>;
	signal?: AbortSignal;
	/** Calls the node's `execute`, as n8n's step executor does, in place of its operations. */
	byExecute?: boolean;
	/** Which reads of the credential fail, counted from 0. */
	failingCredentialReads?: number[];
	/** Methods in place of those of n8n's credentials helper. */
	credentialHelper?: Partial<TestCredentials>;
}

export async function runNode(options: EngineRun) {
	const node = underTest(options, 'Resume Management', options.byExecute ? 'Execute' : '');
	return await runWorkflow(options, [node]);
}

/**
 * Runs Source → Agent, whose tool is the Resume Management node.
 * @returns the tool's results for the agent's calls, whose arguments are the items
 */
export async function callTool(
	options: EngineRun & { atOnce?: boolean; asNode?: boolean },
): Promise<INodeExecutionData['json'][]> {
	const type = options.asNode ? 'test.agent3' : 'test.agent';
	const agent = { name: 'Agent', type, parameters: { atOnce: options.atOnce ?? false } };
	const connection = { node: 'Agent', type: NodeConnectionTypes.AiTool, index: 0 };
	const { items } = await runWorkflow(options, [agent, underTest(options, 'Tool', 'Tool')], {
		Agent: {},
		Tool: { ai_tool: [[connection]] },
	});
	return items;
}

export interface ListSearch extends Pick<EngineRun, 'parameters' | 'credential'> {
	method: 'searchUsers' | 'searchResumes';
	filter?: string;
	paginationToken?: string;
}

/** Asks for a page of a resource locator's list, as n8n's editor does (n8n/src/services/dynamic-node-parameters.service.ts). */
export async function searchList(search: ListSearch) {
	const { method, parameters, credential, filter, paginationToken } = search;
	await loaded;
	printed.length = 0;
	const node = underTest({ parameters }, 'Temp-Node');
	const workflow = new Workflow({ ...chain([node]), active: false, nodeTypes });
	const additionalData = {
		credentialsHelper: new TestCredentials(credential),
		currentNodeParameters: parameters,
	} as unknown as IWorkflowExecuteAdditionalData;
	const context = new LoadOptionsContext(workflow, workflow.nodes[node.name]!, additionalData, '');
	const { methods } = await loadNodeType('resumeManagement');
	return await methods!.listSearch![method]!.call(context, filter, paginationToken);
}

type Pair = { item: number } | undefined;

type NodeError = Error & { description?: string | null; httpCode?: string | null };

/** @param nodes that follow Source; the first of them is observed */
async function runWorkflow(
	{ items = [{}], credential, signal, failingCredentialReads, credentialHelper }: EngineRun,
	nodes: NodeDefinition[],
	connections: IConnections = {},
) {
	await loaded;
	printed.length = 0;
	const record = (...entry: unknown[]) => void printed.push(inspect(entry, { depth: 20 }));
	LoggerProxy.init({ error: record, warn: record, info: record, debug: record });
	const source = { name: 'Source', type: 'test.source', parameters: { items: items as never } };
	const definition = chain([source, ...nodes], { connections });
	const workflow = new Workflow({ id: 'test', ...definition, active: false, nodeTypes });
	const credentials = new TestCredentials(credential, failingCredentialReads);
	Object.assign(credentials, credentialHelper);
	const additionalData = {
		credentialsHelper: credentials,
		executionId: '1',
		currentNodeExecutionIndex: 0,
		webhookWaitingBaseUrl: 'http://127.0.0.1/webhook-waiting',
		formWaitingBaseUrl: 'http://127.0.0.1/form-waiting',
		variables: {},
		hooks: new ExecutionLifecycleHooks('trigger', '1', { id: 'test', name: 'Test' } as never),
	} as unknown as IWorkflowExecuteAdditionalData;
	const execute = new WorkflowExecute(additionalData, 'trigger', createRunExecutionData({}));
	const running = execute.run({ workflow, startNode: workflow.getNode('Source')! });
	signal?.addEventListener('abort', () => running.cancel());
	const run = await running;
	const runs = run.data.resultData.runData[nodes[0]!.name] ?? [];
	if (runs.length === 0 && !signal?.aborted) {
		throw run.data.resultData.error ?? new Error('The node did not run');
	}
	const { data, error, hints = [] } = runs.at(-1) ?? {};
	/** The items of the node's regular output, then those of its error output. */
	const outputs = (data?.main ?? []).map((output) => output ?? []);
	return {
		run,
		outputs,
		items: (outputs[0] ?? []).map(({ json }) => json),
		/** For each output, the input items that its items are paired with. */
		pairs: outputs.map((output) => output.map(({ pairedItem }) => (pairedItem as Pair)?.item)),
		/** The errors of the items that have failed, where that does not stop the node. */
		failures: outputs.flat().flatMap(({ json }) => (json.error ?? []) as IDataObject[]),
		hints: hints.map(({ message }) => message),
		error: error as NodeError | undefined,
		log: printed.join('\n'),
		credentialReads: credentials.reads,
	};
}

/** @param kind of its type; see {@link nodeTypes} */
function underTest(
	{ parameters, node }: Pick<EngineRun, 'parameters' | 'node'>,
	name: string,
	kind = '',
): NodeDefinition {
	const credentials = { resumeManagementApi: { id: '1', name: 'Test' } };
	return { name, type: NODE_TYPE + kind, parameters, credentials, ...node };
}
