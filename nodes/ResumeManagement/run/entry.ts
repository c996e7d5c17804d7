import {
	type IExecuteFunctions,
	type IExecutePaginationFunctions,
	type INodeExecutionData,
	sleep,
} from 'n8n-workflow';

import { Credentials, readCredential } from '../../shared/credential';
import { Failure, toErrorData, toNodeError } from '../../shared/failure';
import { isTool } from '../../shared/parameters';
import { pause } from '../http/send';
import { identityOfWrite } from '../once/identity';
import { journalOf } from '../once/journal';
import type { Operation, ReadOperation, WriteOperation } from '../operations/operation';
import {
	parametersOf,
	type PreparedWrite,
	prepareRead,
	type RequestOptions,
	type Run,
} from './prepare';
import { prepareAll, refuseTooMany, retryHint, withProgress, writeItem } from './write';

/*
 * n8n's two ways in: all items of a run at once, or one item at a time. What happens after an item has failed:
 *
 * | node                              | way in    | the failed item | other items                      |
 * | --------------------------------- | --------- | --------------- | -------------------------------- |
 * | On Error = Continue               | either    | is returned     | are run                          |
 * | On Error = Stop                   | either    | ends the node   | are not started; writes not sent |
 * | tool, On Error not set            | all items | is returned     | are run                          |
 * | tool, On Error = Stop             | all items | ends the node   | are calls of their own           |
 * | tool, On Error not set or = Stop  | one item  | is returned     | are calls of their own           |
 *
 * A tool returns what it can: of an error, version 3 of n8n's AI Agent passes only the message to the model, and version 2
 * nothing; n8n 1 ends the execution then.
 */

/**
 * Runs the operation for all items, in place of n8n's own loop over declarative nodes. That loop starts all items at once,
 * and evaluates each parameter twice (n8n-core/src/execution-engine/routing-node.ts).
 * @returns one output; n8n moves the items with an `error` to the error output if there is one
 * @throws NodeApiError or NodeOperationError
 */
export async function runItems(
	this: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[][]> {
	const node = this.getNode();
	const hints = new Set<string>();
	const run = runOf(this, {
		continues: this.continueOnFail() || (isTool(node) && node.onError !== 'stopWorkflow'),
		credentials: new Credentials(this),
		hint: (message) => void hints.add(message),
		readParameter: (...values) => this.getNodeParameter(...values),
	});
	const indexes = [...this.getInputData().keys()];
	const items = operation.write
		? await writeAll(run, operation, indexes)
		: await readAll(run, operation, indexes);
	if (node.alwaysOutputData && node.onError === 'continueErrorOutput') hints.add(EMPTY_ITEM);
	const location = 'outputPane';
	this.addExecutionHints(...[...hints].map((message) => ({ message, location }) as const));
	return [items];
}

const EMPTY_ITEM =
	'Always Output Data is on. If all items fail, n8n puts an empty item on the success output, as if something had been done. Switch it off while On Error has an error output.';

/**
 * Runs the operation for one item. n8n's loop over declarative nodes calls it for each, all at once, where n8n does not call
 * {@link runItems}: for the tools of version 2 of its AI Agent (n8n-core's get-input-connection-data.ts), and in its step
 * executor (V1StepExecutor of @n8n/node-engine-compatibility).
 * n8n shows no hints there, and hands over one item without the others: each looks its user up and waits for its key by itself.
 * @param operation undefined for one that the node does not have, such as n8n's Custom API Call
 * @throws NodeApiError or NodeOperationError
 */
export async function runSingleItem(
	this: IExecutePaginationFunctions,
	operation?: Operation,
): Promise<INodeExecutionData[]> {
	const run = runOf(this, {
		continues: this.continueOnFail() || isTool(this.getNode()),
		credentials: { read: async () => await readCredential(this) },
		hint: () => {},
		// This context is of one item, so that its method takes no index.
		readParameter: (name, _index, ...values) => this.getNodeParameter(name, ...values),
	});
	const index = this.getItemIndex();
	return await runItem(run, index, async () => {
		if (!operation) throw new Failure('parameter.operation');
		if (!operation.write) return await readItem(run, operation, index);
		return await writeItem(run, operation, index, identityOfWrite(this));
	});
}

/** @param own what differs between the ways in */
function runOf(
	context: IExecuteFunctions | IExecutePaginationFunctions,
	own: Pick<Run, 'continues' | 'credentials' | 'hint' | 'readParameter'>,
): Run {
	const node = context.getNode();
	return {
		...own,
		context,
		node,
		stopsWrites: !own.continues && !isTool(node),
	};
}

/** Runs reads side by side. */
async function readAll(
	run: Run,
	operation: ReadOperation,
	indexes: number[],
): Promise<INodeExecutionData[]> {
	const outputs: Outputs = new Map();
	try {
		const limit = parametersOf(run, operation, 0).count('options.maxParallelRequests');
		await startInOrder(indexes, { limit, ...limitsOf(run) }, async (index) => {
			const items = runItem(run, index, async () => await readItem(run, operation, index));
			outputs.set(index, await items);
		});
	} catch (error) {
		if (!run.continues) throw toNodeError(run.node, error);
		failOthers(outputs, indexes, error);
	}
	return indexes.flatMap((index) => outputs.get(index)!);
}

async function readItem(
	run: Run,
	operation: ReadOperation,
	index: number,
): Promise<INodeExecutionData[]> {
	const { request, output } = await prepareRead(run, operation, index);
	const items = await output.fetchItems(run.context, request, run.hint);
	// n8n's AI Agent 3 would hand an empty list to the model as an empty text, and the model makes something up.
	if (items.length === 0 && isTool(run.node)) return [{ json: { message: NOTHING_FOUND } }];
	return items;
}

const NOTHING_FOUND = 'The service returned an empty list: there is nothing to show.';

/** Runs writes one after the other. */
async function writeAll(
	run: Run,
	operation: WriteOperation,
	indexes: number[],
): Promise<INodeExecutionData[]> {
	const outputs: Outputs = new Map();
	const writeOne = async (index: number, prepared?: PreparedWrite) => {
		const items = runItem(run, index, async () => {
			return await writeItem(run, operation, index, index, prepared);
		});
		outputs.set(index, await items);
	};
	try {
		// The results of an earlier attempt come before anything that can fail in this attempt.
		const journal = journalOf(run.context);
		for (const index of indexes) if (journal.isFinal(index)) await writeOne(index);
		const others = indexes.filter((index) => !outputs.has(index));
		if (run.node.retryOnFail) run.hint(retryHint(operation));
		refuseTooMany(run, operation, indexes);
		const settings = { limit: 1, ...limitsOf(run) };
		const prepared = run.continues ? undefined : await prepareAll(run, operation, others);
		await startInOrder(others, settings, async (index) => {
			await writeOne(index, prepared?.get(index));
		});
	} catch (error) {
		if (!run.continues) throw withProgress(run, operation, error, indexes);
		failOthers(outputs, indexes, error);
	}
	return indexes.flatMap((index) => outputs.get(index)!);
}

/** Items by the index of the item that they come from. */
type Outputs = Map<number, INodeExecutionData[]>;

/**
 * Returns the error for each item without an output. If the node threw under On Error = Continue, n8n would pass on its
 * input items as if they had succeeded.
 */
function failOthers(outputs: Outputs, indexes: number[], error: unknown): void {
	for (const index of indexes) {
		if (!outputs.has(index)) outputs.set(index, [failedItem(error, index)]);
	}
}

/**
 * Pairs the output of an item with it; or returns a failed item.
 * @throws NodeApiError or NodeOperationError if a failed item stops the run
 */
async function runItem(
	run: Run,
	index: number,
	outputOf: () => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	try {
		return (await outputOf()).map((item) => ({ ...item, pairedItem: { item: index } }));
	} catch (error) {
		if (!run.continues) throw toNodeError(run.node, error, index);
		return [failedItem(error, index)];
	}
}

function failedItem(error: unknown, item: number): INodeExecutionData {
	return { json: { error: toErrorData(error) }, pairedItem: { item } };
}

/** Reads Batching only: each item reads the other Request Options, so that a failing expression fails its item alone. */
function limitsOf({ context, readParameter }: Run) {
	const batching = readParameter('requestOptions.batching', 0, {}) as RequestOptions['batching'];
	const { batchSize: size = 50, batchInterval: interval = 0 } = batching?.batch ?? {};
	// n8n writes -1 for a size that is "disabled" (n8n-core/src/nodes-loader/constants.ts).
	const batch = interval > 0 && size > 0 ? { size, interval } : undefined;
	return { batch, cancelled: context.getExecutionCancelSignal() };
}

interface Limits {
	/** Tasks that may run at a time. */
	limit: number;
	/** Starts at most `size` tasks each `interval` milliseconds. */
	batch?: { size: number; interval: number };
	/** Once it is aborted, no further task is started. */
	cancelled?: AbortSignal;
}

/** Milliseconds of work, such as expressions, after which n8n gets time for other work, such as sending requests. */
const SLICE = 5;

/**
 * Starts a task for each index, in order. After a task has thrown, no other is started.
 * @throws the error of the first index in order, after all started tasks have ended; or a Failure if not all were started
 */
export async function startInOrder(
	indexes: number[],
	{ limit, batch, cancelled }: Limits,
	task: (index: number) => Promise<void>,
): Promise<void> {
	const begin = Date.now();
	const failures = new Map<number, unknown>();
	const running = new Set<Promise<void>>();
	const start = (index: number) => {
		const promise = task(index)
			.catch((error: unknown) => void failures.set(index, error))
			.then(() => void running.delete(promise));
		running.add(promise);
	};
	let sliceStart = begin;
	let started = 0;
	for (const index of indexes) {
		const due = batch ? begin + Math.floor(started / batch.size) * batch.interval : 0;
		if (due > Date.now()) await pause(due - Date.now(), cancelled);
		if (failures.size > 0 || cancelled?.aborted) break;
		start(index);
		started++;
		if (Date.now() - sliceStart >= SLICE) {
			// `sleep` takes at least 1 ms, which is longer than most tasks: it must not follow each of them.
			await sleep(0);
			sliceStart = Date.now();
		}
		if (running.size >= limit) await Promise.race(running);
	}
	await Promise.all(running);
	if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
	if (started < indexes.length) throw new Failure('network.notSent', {}, { outcome: 'refused' });
}
