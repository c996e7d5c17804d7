import {
	type ICredentialDataDecryptedObject,
	type IExecuteFunctions,
	type IExecutePaginationFunctions,
	type INode,
	NodeConnectionTypes,
	type Workflow,
} from 'n8n-workflow';

import { Failure } from './failure';

/*
 * Everything that relies on n8n's engine beyond its documented interface. Each comment says why, names n8n's source, and
 * says what a change in n8n would do. The host tests prove each function in each supported n8n.
 */

/** n8n's helpers. The tools of version 2 of n8n's AI Agent lack those for deduplication. */
type Helpers = Partial<IExecuteFunctions['helpers']>;

export interface ClaimContext {
	helpers: object;
	getExecuteData(): { node: { id: string } };
}

/**
 * Calls one of n8n's deduplication helpers for a database row of its own. n8n reads, changes and writes back one row for
 * all that a node has processed, so two executions can both find a key new. Only the INSERT of a row decides. n8n names the
 * row by the node's ID, which it reads before its first `await` (n8n/src/deduplication/deduplication-helper.ts). If it read
 * the ID later, all rows would be one: `Claims.checkRows` notices that by a row that is never written.
 * @throws Error if n8n has no such helper
 */
export async function withRow<T>(
	context: ClaimContext,
	row: string,
	ask: (helpers: Helpers) => Promise<T> | undefined,
): Promise<T> {
	const { node } = context.getExecuteData();
	const { id } = node;
	node.id = row;
	let result: Promise<T> | undefined;
	try {
		// n8n's types offer them in some contexts only.
		result = ask(context.helpers as Helpers);
	} finally {
		node.id = id;
	}
	if (!result) throw new Error('n8n has no such helper.');
	return await result;
}

/**
 * Returns the object that identifies a run of the node, Retry On Fail included: n8n repeats the node with the same execution
 * data (n8n-core's workflow-execute.ts). Each round of a loop, each execution and each node has its own. All calls of a
 * tool by an AI agent share the agent's.
 * @returns undefined if n8n hands out copies: then a retry could not be recognized, and `Journal` sends nothing
 */
export function identityOfRun(context: { getExecuteData(): object }): object | undefined {
	const data = context.getExecuteData();
	return data === context.getExecuteData() ? data : undefined;
}

/** Checks whether the node runs as a tool of an AI agent, which has its own type (n8n/src/tool-generation/ai-tools.ts). */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/**
 * Identifies an item's write within a run: by its index or, as all calls of a tool are item 0, by the object with the
 * arguments of the call, which n8n keeps for its retries (n8n-core's get-input-connection-data.ts).
 * @throws Failure if n8n names tools or passes arguments in another way: then one call could be taken for another
 */
export function identityOfWrite(context: IExecutePaginationFunctions): object | number {
	const input = () => context.getInputData(0, NodeConnectionTypes.AiTool);
	// If this is no call of a tool, n8n makes a new item each time (n8n-core's execute-single-context.ts).
	const item = input();
	const isCall = item === input();
	if (isCall !== isTool(context.getNode())) throw new Failure('write.unguarded');
	return isCall ? item.json : context.getItemIndex();
}

/**
 * Returns the context with another cancel signal: n8n replaces the `abortSignal` of a request with the signal of its
 * context (n8n-core's authentication.ts). If n8n did not, the request's own `abortSignal` would count: `send` passes the same signal.
 */
export function withCancelSignal<T extends object>(context: T, signal: AbortSignal): T {
	return Object.create(context, { getExecutionCancelSignal: { value: () => signal } }) as T;
}

/** A context of n8n that reads credentials: of a run, a picker or a webhook. */
export interface CredentialContext {
	getCredentials(type: string, itemIndex?: number): Promise<ICredentialDataDecryptedObject>;
	getNode(): INode;
	/** Not in n8n's types. */
	workflow?: Workflow;
}

type GetParameterValue = Workflow['expression']['getParameterValue'];

/**
 * Reads a credential once for all items, if it is proved to be the same for each: n8n loads and decrypts it at each read,
 * which made reads 40 % slower. n8n passes the decrypted data to one call of `getParameterValue` of the context's
 * workflow (n8n-core's node-execution-context.ts, n8n/src/credentials-helper.ts). A workflow that records this call gives
 * the proof: if it evaluated no expression (one may evaluate to itself), and n8n added nothing, all items have the same credential.
 * @returns undefined without the proof, also if n8n reads credentials in another way: then each item reads its own
 */
export async function readSharedCredential(
	context: CredentialContext,
	type: string,
	itemIndex: number,
): Promise<ICredentialDataDecryptedObject | undefined> {
	const { workflow } = context;
	if (!workflow) return undefined;
	const { expression } = workflow;
	const calls: Array<{ before: string; after: string }> = [];
	const getParameterValue: GetParameterValue = (...values) => {
		const before = JSON.stringify(values[0]);
		const result = expression.getParameterValue(...values);
		calls.push({ before, after: JSON.stringify(result) });
		return result;
	};
	const recording = Object.create(workflow, {
		expression: { value: { getParameterValue } },
	}) as object;
	const observed = Object.create(context, { workflow: { value: recording } }) as CredentialContext;
	const data = await observed.getCredentials(type, itemIndex);
	const json = JSON.stringify(data);
	const [call, ...others] = calls;
	const isProof = others.length === 0 && call?.before === json && call.after === json;
	return isProof && !hasExpression(data) ? data : undefined;
}

function hasExpression(value: unknown): boolean {
	if (typeof value === 'string') return value.startsWith('=');
	return typeof value === 'object' && value !== null && Object.values(value).some(hasExpression);
}
