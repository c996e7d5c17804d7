import { NodeApiError, NodeConnectionTypes, NodeOperationError } from 'n8n-workflow';
import type {
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INode,
	INodeExecutionData,
} from 'n8n-workflow';

import { Credentials, readCredential } from '../http/credential';
import { Failure, toErrorData, toNodeError } from '../../shared/failure';
import { shape } from '../output/shape';
import type { Call, Operation } from './call';
import { type ClaimContext, Claims } from './claims';
import { runInOrder } from './gate';
import { ParameterReader, type ReadParameter } from '../../shared/parameters';
import { perform, type Run } from './perform';
import { readCall } from './read';
import { readRequestOptions } from './requestOptions';
import { Users } from './users';
import { type Done, type Journal, journalOf, type Write } from './write';

type Context = IExecuteFunctions | IExecutePaginationFunctions;

/** A node's description can't show a notice for this setting before a run. */
const RETRY_ON_FAIL =
	'Retry On Fail is on. Within this execution, it does not send an item again that has succeeded or may have. A new execution does, also one that is started with Retry in the list of executions, unless Send Once Key is set.';

/**
 * n8n enters in two ways. This one, of its `customOperations`, is a workflow's run: n8n's own loop over
 * declarative nodes would start all items at once, and evaluate each parameter twice
 * (n8n-core/src/execution-engine/routing-node.ts).
 * @returns one output; n8n moves the items with an `error` to the error output where there is one
 * @throws NodeApiError or NodeOperationError under On Error = Stop alone
 */
export async function runItems(
	this: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[][]> {
	const node = this.getNode();
	const goesOn = goesOnAfterFailure(this);
	const outputs = new Array<INodeExecutionData[]>(this.getInputData().length);
	const indexes = [...outputs.keys()];
	const journal = operation.write ? journalOf(this.getExecuteData()) : undefined;
	const settle = async (index: number, outcome: () => Promise<Done>) => {
		try {
			outputs[index] = itemsOf(await outcome(), index);
		} catch (error) {
			if (!goesOn) throw toNodeError(node, error, index);
			outputs[index] = [failedItem(error, index)];
		}
	};
	try {
		await settleAll(this, operation, indexes, settle, journal);
	} catch (error) {
		if (!goesOn)
			throw journal ? withProgress(node, error, journal, indexes) : toNodeError(node, error, 0);
		// What stops the run concerns each item that has no outcome yet. If the node threw under
		// On Error = Continue, n8n would hand its input items on as if they had succeeded.
		for (const index of indexes) outputs[index] ??= [failedItem(error, index)];
	}
	return [outputs.flat()];
}

/** @param settle takes in what came of an item */
async function settleAll(
	context: IExecuteFunctions,
	operation: Operation,
	indexes: number[],
	settle: (index: number, outcome: () => Promise<Done>) => Promise<void>,
	journal?: Journal,
): Promise<void> {
	const node = context.getNode();
	const settled = new Set(indexes.filter((index) => journal?.write(index).isSettled));
	const open = indexes.filter((index) => !settled.has(index));
	// What an earlier attempt has settled comes before anything that can fail in this one.
	for (const index of settled) await settle(index, async () => journal!.write(index).outcome());
	const hints = new Set<string>(journal && node.retryOnFail ? [RETRY_ON_FAIL] : []);
	const evaluate = (index: number) =>
		((name, fallback, options) =>
			context.getNodeParameter(name, index, fallback, options)) as ReadParameter;
	const { run, gate, read } = start(context, operation, evaluate, {
		credentials: new Credentials(context as never),
		hint: (message) => void hints.add(message),
		journal,
	});
	// Where a failure stops the node, a write is sent only when all items are known to be valid.
	const calls: Call[] = [];
	for (const index of journal && !goesOnAfterFailure(context) ? open : []) {
		const fail = (error: unknown) => Promise.reject(toNodeError(node, error, index));
		calls.push(await read(index).catch(fail));
	}
	await runInOrder(open.length, gate, async (position) => {
		const index = open[position]!;
		await settle(index, async () => {
			return await perform(run, calls[position] ?? (await read(index)), journal?.write(index));
		});
	});
	// Missing in n8n 1.85.
	context.addExecutionHints?.(
		...Array.from(hints, (message) => ({ message, location: 'outputPane' as const })),
	);
}

/**
 * What the items of a run share, and how one of them is read.
 * @param evaluate for an item's index, reads its parameters
 * @param journal refuses what another item buys, too
 */
function start(
	context: Context,
	operation: Operation,
	evaluate: (index: number) => ReadParameter,
	{ credentials, hint, journal }: Pick<Run, 'credentials' | 'hint'> & { journal?: Journal },
) {
	const cancelled = context.getExecutionCancelSignal();
	const { settings: http, batch } = readRequestOptions(evaluate(0)('requestOptions', {}) as object);
	const sender = { context, cancelled };
	const users = new Users(sender, hint);
	const claims = new Claims(context as ClaimContext, hint, cancelled);
	const run: Run = { http, operation, sender, credentials, users, claims, hint };
	const parameters = (index: number) => new ParameterReader(operation.fields, evaluate(index));
	const limit = operation.write ? 1 : parameters(0).count('options.maxParallelRequests');
	const read = async (index: number) => {
		const call = await readCall(run, parameters(index), index);
		journal?.refuseRepeated(call);
		return call;
	};
	return { run, gate: { limit, batch, signal: cancelled }, read };
}

/** An error that stops the node, with which writes it has carried out before. */
function withProgress(node: INode, error: unknown, journal: Journal, indexes: number[]): unknown {
	if (indexes.length === 1) return error;
	const isOurs = error instanceof NodeApiError || error instanceof NodeOperationError;
	if (!isOurs && !indexes.some((index) => journal.write(index).isDone)) return error;
	const told = isOurs ? error : new NodeOperationError(node, error as Error);
	const progress = journal.progress(indexes, told.context.itemIndex as number | undefined);
	told.description = `${told.description ?? ''} ${progress}`.trim();
	return told;
}

/**
 * The other way, of n8n's loop over declarative nodes, which starts all items at once: an AI agent's
 * tools come through it (n8n-core's get-input-connection-data.ts), and what calls a node's `execute`
 * itself, such as n8n's step executor (V1StepExecutor of @n8n/node-engine-compatibility).
 * @param operation undefined for one that is not the node's, such as n8n's Custom API Call
 * @throws NodeApiError or NodeOperationError under On Error = Stop, and for an unknown operation
 */
export async function runItem(
	this: IExecutePaginationFunctions,
	operation?: Operation,
): Promise<INodeExecutionData[]> {
	const node = this.getNode();
	const index = this.getItemIndex();
	if (!operation) throw toNodeError(node, new Failure('parameter.operation'), index);
	const goesOn = goesOnAfterFailure(this);
	const outcome = async (journal?: Journal, write?: Write): Promise<Done> => {
		if (write?.isSettled) return write.outcome();
		const evaluate = () =>
			((name, fallback, options) =>
				this.getNodeParameter(name, fallback, options)) as ReadParameter;
		const { run, read } = start(this, operation, evaluate, {
			credentials: { read: async () => await readCredential(this) },
			hint: () => {},
			// Each call of a tool is a purchase of its own.
			journal: isTool(node) ? undefined : journal,
		});
		return await perform(run, await read(index), write);
	};
	try {
		if (!operation.write) return itemsOf(await outcome(), index);
		const journal = journalOf(this.getExecuteData());
		// An agent's calls are all its item 0, and each has arguments of its own.
		const key = isTool(node) ? this.getInputData(0, NodeConnectionTypes.AiTool).json : index;
		const write = journal.write(key);
		const stops = !goesOn && !isTool(node);
		return await journal.inTurn(write, stops, async () =>
			itemsOf(await outcome(journal, write), index),
		);
	} catch (error) {
		if (!goesOn) throw toNodeError(node, error, index);
		return [failedItem(error, index)];
	}
}

/**
 * Whether a failed item is returned as data. A tool's is told to its agent: of what a tool throws, version 2 of n8n's
 * AI Agent tells the model nothing, and version 3 the message without the advice; on n8n 1.x it ends
 * the execution.
 */
function goesOnAfterFailure(context: Context): boolean {
	const node = context.getNode();
	return context.continueOnFail() || (isTool(node) && node.onError !== 'stopWorkflow');
}

/** Tools have a type of their own (n8n/src/tool-generation/ai-tools.ts). */
function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/** @throws Failure for a write that was carried out, and whose answer can't be made into items */
function itemsOf({ call, answer }: Done, item: number): INodeExecutionData[] {
	try {
		return shape(answer).map((output) => ({ ...output, pairedItem: { item } }));
	} catch (error) {
		throw notShown(error as Error, call);
	}
}

function notShown(error: Error, { operation }: Call): Error {
	if (!operation.write) return error;
	return new Failure('write.notShown', { reason: error.message }, { outcome: 'applied' });
}

function failedItem(error: unknown, item: number): INodeExecutionData {
	return { json: { error: toErrorData(error, item) }, pairedItem: { item } };
}
