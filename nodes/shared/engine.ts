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
 * All that reaches into n8n's engine beyond its documented interface. For each: why it is needed, what it stands on,
 * and what a change in n8n would do. The host tests prove each of them in each supported n8n.
 */

/** n8n's deduplication helpers, which tools don't have. */
type Deduplication = Partial<
	Pick<
		IExecuteFunctions['helpers'],
		'checkProcessedAndRecord' | 'clearAllProcessedItems' | 'getProcessedDataCount'
	>
>;

export interface ClaimContext {
	helpers: object;
	getExecuteData(): { node: { id: string } };
}

/**
 * Calls one of n8n's deduplication helpers for a database row of its own. n8n keeps all that a node has processed in
 * one row, which it reads, changes and writes back: two executions at once can both find a key new. Only the INSERT of
 * a row decides. n8n names the row by the node's ID, which it reads before it first waits
 * (n8n/src/deduplication/deduplication-helper.ts).
 *
 * If n8n read the ID later, all rows would be one. `Claims` asks for a row that nobody writes, and sends nothing
 * if it is there.
 * @throws Failure if n8n has no such helper
 */
export async function withRow<T>(
	context: ClaimContext,
	row: string,
	ask: (helpers: Deduplication) => Promise<T> | undefined,
): Promise<T> {
	const { node } = context.getExecuteData();
	const { id } = node;
	node.id = row;
	let result: Promise<T> | undefined;
	try {
		// n8n's types offer them in some contexts only.
		result = ask(context.helpers as Deduplication);
	} finally {
		node.id = id;
	}
	if (!result) throw new Failure('key.notClaimed', {}, { mayHaveHappened: false });
	return await result;
}

/**
 * Returns the object that identifies a run of the node, its attempts by Retry On Fail included: n8n repeats them with
 * the same execution data (n8n-core's workflow-execute.ts), while each round of a loop, each execution and each node has
 * its own. The calls that an AI agent makes of a tool share the agent's.
 *
 * If n8n handed out copies, a retry would send items again. So writes are not sent then: see `Journal`.
 * @returns undefined if n8n hands out copies
 */
export function identityOfRun(context: { getExecuteData(): object }): object | undefined {
	const data = context.getExecuteData();
	return data === context.getExecuteData() ? data : undefined;
}

/** Returns whether the node runs as a tool of an AI agent. Tools have node types of their own (n8n/src/tool-generation/ai-tools.ts). */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/**
 * Returns what identifies an item's write within a run: its index or, as all calls of a tool are item 0, the arguments
 * of the call, which n8n keeps for its retries (n8n-core's get-input-connection-data.ts).
 *
 * If n8n named tools or handed arguments in another way, one call could be taken for another. So nothing is sent then.
 * @throws Failure
 */
export function identityOfWrite(context: IExecutePaginationFunctions): object | number {
	const input = () => context.getInputData(0, NodeConnectionTypes.AiTool);
	const item = input();
	// Without such an input, n8n makes a new item each time (n8n-core's execute-single-context.ts).
	const isCall = item === input();
	if (isCall !== isTool(context.getNode())) {
		throw new Failure('write.unguarded', {}, { mayHaveHappened: false });
	}
	return isCall ? item.json : context.getItemIndex();
}

/**
 * Returns the context with another cancel signal: n8n replaces the `abortSignal` of a request with what its context
 * says, and has no other way to end a request (n8n-core's authentication.ts).
 *
 * If n8n no longer asked the context, the `abortSignal` of the request would count, which is the same one.
 */
export function withCancelSignal<T extends object>(context: T, signal: AbortSignal): T {
	return Object.create(context, { getExecutionCancelSignal: { value: () => signal } }) as T;
}

/** n8n's context of a run. */
export interface CredentialContext {
	getCredentials(type: string, itemIndex?: number): Promise<ICredentialDataDecryptedObject>;
	/** Not in n8n's types. */
	workflow?: Workflow;
}

type GetParameterValue = Workflow['expression']['getParameterValue'];

/**
 * Returns a credential if it is proved to be the same for each item, so that it need not be read again: n8n loads and
 * decrypts it at each read. n8n hands the decrypted data to one call of `getParameterValue` of the context's workflow
 * (n8n-core's node-execution-context.ts and n8n's credentials-helper.ts). So the credential is read by way of
 * a workflow that notes this call. If no text is an expression, and nothing changed, no item had a part in it.
 *
 * If n8n read credentials in another way, the proof would fail, and each item would read its own.
 * @returns undefined if the proof fails
 */
export async function readSharedCredential(
	context: CredentialContext,
	type: string,
	itemIndex: number,
): Promise<ICredentialDataDecryptedObject | undefined> {
	const { workflow } = context;
	if (!workflow) return undefined;
	const { expression } = workflow;
	const calls: Array<{ given: string; result: string }> = [];
	const getParameterValue: GetParameterValue = (...values) => {
		const given = JSON.stringify(values[0]);
		const result = expression.getParameterValue(...values);
		calls.push({ given, result: JSON.stringify(result) });
		return result;
	};
	const noting = Object.create(workflow, {
		expression: { value: { getParameterValue } },
	}) as object;
	const observed = Object.create(context, { workflow: { value: noting } }) as CredentialContext;
	try {
		const data = await observed.getCredentials(type, itemIndex);
		const [call, ...others] = calls;
		const isUnchanged = call?.given === call?.result && call?.given === JSON.stringify(data);
		return others.length === 0 && call && isUnchanged && !hasExpression(data) ? data : undefined;
	} catch {
		return undefined;
	}
}

function hasExpression(value: unknown): boolean {
	if (typeof value === 'string') return value.startsWith('=');
	return typeof value === 'object' && value !== null && Object.values(value).some(hasExpression);
}
