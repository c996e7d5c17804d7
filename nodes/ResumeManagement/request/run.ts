import { NodeConnectionTypes } from 'n8n-workflow';
import type {
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INode,
	INodeExecutionData,
} from 'n8n-workflow';

import { Failure, toErrorData, toNodeApiError } from '../answer/failure';
import { getReady, type Run } from './carryOut';
import { readCredential } from './credential';
import type { Context } from './exchange';
import { runInOrder } from './inOrder';
import { prepareItem } from './item';
import type { Operation } from './operation';
import { Parameters } from './parameters';
import { withProgress } from './progress';
import { refuseRepeated } from './purchases';
import { readRequestOptions } from './requestOptions';
import { Users, usersOfRun } from './users';
import { type Journal, journalOf, type Write } from './write';

/** Reads sent side by side where the user sets no other number. */
const MAX_PARALLEL_REQUESTS = 32;

/** n8n's editor can't tell before a run that the setting is on: see `hints`. */
const RETRY_ON_FAIL =
	'Retry On Fail is on. Within this execution, it does not send an item again that has succeeded or may have. A new execution does, also one that is started with Retry in the list of executions, unless Send Once Key is set.';

/**
 * n8n enters in two ways. This one, of its `customOperations`, is a workflow's run: n8n's own loop over
 * declarative nodes would start all items at once, and evaluate each parameter twice
 * (n8n-core/src/execution-engine/routing-node.ts).
 * @returns one output; n8n moves the items with an `error` to the error output where there is one
 * @throws NodeApiError or NodeOperationError under On Error = Stop alone
 */
export async function runOperation(
	this: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[][]> {
	const node = this.getNode();
	const count = this.getInputData().length;
	const outputs = new Array<INodeExecutionData[]>(count);
	const indexes = [...outputs.keys()];
	const journal = operation.write ? journalOf(this.getExecuteData()) : undefined;
	const goesOn = goesOnAfterFailure(this);
	const settle = async (index: number, outcome: () => Promise<INodeExecutionData[]>) => {
		try {
			outputs[index] = paired(await outcome(), index);
		} catch (error) {
			const nodeError = toNodeError(node, error, index);
			if (!goesOn) throw nodeError;
			outputs[index] = [failedItem(nodeError, index)];
		}
	};
	try {
		// What an earlier attempt has settled comes before anything that can fail in this one.
		for (const index of indexes) {
			const write = journal?.write(index);
			if (write?.isSettled) await settle(index, async () => write.outcome());
		}
		const open = indexes.filter((index) => !outputs[index]);
		const requestOptions = this.getNodeParameter('requestOptions', 0, {}) as object;
		const run = startRun(this, operation, requestOptions, new Users());
		const parameters = (index: number) =>
			new Parameters(node, operation.fields, index, (name, fallback) =>
				this.getNodeParameter(name, index, fallback),
			);
		const prepare = (index: number) => {
			const item = prepareItem(node, operation, parameters(index));
			if (journal && item.purchase) refuseRepeated(node, item.purchase, journal, index);
			return item;
		};
		// Of each item, as fields of the credential may be expressions that differ from item to item in a way
		// that nobody can tell beforehand.
		const ready = async (index: number, item = prepare(index)) =>
			await getReady(run, await readCredential(this, index), item).catch((error: unknown) => {
				throw toNodeError(node, error, index);
			});
		// Where a failure stops the node, a write is sent only when all items are known to be valid.
		const prepared = journal && !goesOn ? open.map(prepare) : [];
		const waiting: Array<Awaited<ReturnType<typeof getReady>>> = [];
		for (const [position, item] of prepared.entries()) {
			waiting.push(await ready(open[position]!, item));
		}
		const gate = {
			limit: journal
				? 1
				: parameters(0).count('options.maxParallelRequests', MAX_PARALLEL_REQUESTS, 1),
			batch: run.requestOptions.batch,
			signal: run.signal,
		};
		await runInOrder(open.length, gate, async (position) => {
			const index = open[position]!;
			await settle(index, async () => {
				const carryOut = waiting[position] ?? (await ready(index));
				return await carryOut(journal?.write(index));
			});
		});
		// Missing in n8n 1.85.
		this.addExecutionHints?.(
			...Array.from(run.hints, (message) => ({ message, location: 'outputPane' as const })),
		);
	} catch (error) {
		if (!goesOn) throw journal ? withProgress(node, error, journal, indexes) : error;
		// What stops the run concerns each item that has no outcome yet. If the node threw under
		// On Error = Continue, n8n would hand its input items on as if they had succeeded.
		for (const index of indexes) outputs[index] ??= [failedItem(error, index)];
	}
	return [outputs.flat()];
}

/**
 * The other way, of n8n's loop over declarative nodes, which starts all items at once: an AI agent's
 * tools come through it (n8n-core's get-input-connection-data.ts), and what calls a node's `execute`
 * itself, such as n8n's step executor (V1StepExecutor of @n8n/node-engine-compatibility).
 * @throws NodeApiError or NodeOperationError under On Error = Stop alone
 */
export async function runSingle(
	this: IExecutePaginationFunctions,
	operation: Operation,
): Promise<INodeExecutionData[]> {
	const node = this.getNode();
	const index = this.getItemIndex();
	const goesOn = goesOnAfterFailure(this);
	const outcome = async (journal?: Journal, write?: Write) => {
		if (write?.isSettled) return write.outcome();
		const requestOptions = this.getNodeParameter('requestOptions', {}) as object;
		const users = isTool(node) ? new Users() : usersOfRun(this.getExecuteData(), index);
		const run = startRun(this, operation, requestOptions, users);
		const credential = await readCredential(this);
		const parameters = new Parameters(node, operation.fields, index, (name, fallback) =>
			this.getNodeParameter(name, fallback),
		);
		const item = prepareItem(node, operation, parameters);
		// Each call of a tool is a purchase of its own.
		if (journal && item.purchase && !isTool(node)) {
			refuseRepeated(node, item.purchase, journal, index);
		}
		const carryOut = await getReady(run, credential, item);
		return await carryOut(write);
	};
	try {
		if (!operation.write) return paired(await outcome(), index);
		const journal = journalOf(this.getExecuteData());
		// An agent's calls are all its item 0, and each has arguments of its own.
		const key = isTool(node) ? this.getInputData(0, NodeConnectionTypes.AiTool).json : index;
		const stops = !goesOn && !isTool(node);
		return paired(
			await journal.inTurn(key, stops, async () => await outcome(journal, journal.write(key))),
			index,
		);
	} catch (error) {
		const nodeError = toNodeError(node, error, index);
		if (!goesOn) throw nodeError;
		return [failedItem(nodeError, index)];
	}
}

/**
 * Whether failures are data. A tool's are told to its agent: of what a tool throws, version 2 of n8n's
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

function paired(items: INodeExecutionData[], item: number): INodeExecutionData[] {
	return items.map((output) => ({ ...output, pairedItem: { item } }));
}

function failedItem(error: unknown, item: number): INodeExecutionData {
	return { json: { error: toErrorData(error) }, pairedItem: { item } };
}

function toNodeError(node: INode, error: unknown, index: number): unknown {
	return error instanceof Failure ? toNodeApiError(node, error, index) : error;
}

function startRun(
	context: Context,
	operation: Operation,
	requestOptions: object,
	users: Users,
): Run {
	const node = context.getNode();
	return {
		context,
		operation,
		requestOptions: readRequestOptions(node, requestOptions),
		users,
		signal: context.getExecutionCancelSignal(),
		hints: new Set(operation.write && node.retryOnFail ? [RETRY_ON_FAIL] : []),
	};
}
