import {
	type IExecuteFunctions,
	type IExecutePaginationFunctions,
	type INodeExecutionData,
	sleep,
} from 'n8n-workflow';

import { CredentialReader } from '../../shared/credential';
import { Failure, toNodeError } from '../../shared/failure';
import { isTool } from '../../shared/parameters';
import { writeIdOf } from '../once/writeId';
import type { Operation, ReadOperation } from '../operations/operation';
import { parametersOf, prepareRead } from './prepare';
import { fillMissingOutputs, type Pace, paceOf, type Run, pairedOutput } from './run';
import { writeAll, writeInTurn } from './write';

/**
 * Runs the operation for all items, instead of n8n's own loop over declarative nodes. That loop
 * starts all items at once, and evaluates each parameter twice
 * (n8n-core/src/execution-engine/routing-node.ts).
 * @returns one output; n8n moves the items with an `error` to the error output if there is one
 * @throws NodeApiError or NodeOperationError
 */
export async function runAllItems(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[][]> {
	const node = context.getNode();
	const hints = new Set<string>();
	const run: Run = {
		context,
		node,
		returnsFailures: returnsFailures(context, 'allItems'),
		credentials: new CredentialReader(context),
		hint: (message) => void hints.add(message),
		readParameter: (...values) => context.getNodeParameter(...values),
	};
	const indexes = [...context.getInputData().keys()];
	const items = operation.write
		? await writeAll(run, operation, indexes)
		: await readAll(run, operation, indexes);
	if (node.alwaysOutputData && node.onError === 'continueErrorOutput') hints.add(EMPTY_ITEM);
	for (const message of hints) context.addExecutionHints({ message, location: 'outputPane' });
	return [items];
}

const EMPTY_ITEM =
	'Always Output Data is on. If all items fail, n8n puts an empty item on the success output, as if something had been done. Switch it off while On Error has an error output.';

/**
 * Runs the operation for one item. n8n's loop over declarative nodes calls it for each, all at
 * once, where n8n does not call {@link runAllItems}: for the tools of version 2 of its AI Agent
 * (n8n-core's get-input-connection-data.ts), and in its step executor (V1StepExecutor of
 * @n8n/node-engine-compatibility). n8n shows no hints there. The items share nothing: the list of
 * users is read for each, and each waits for its key alone.
 * @param operation undefined for one that the node does not have, such as n8n's Custom API Call
 * @throws NodeApiError or NodeOperationError
 */
export async function runOneItem(
	context: IExecutePaginationFunctions,
	operation?: Operation,
): Promise<INodeExecutionData[]> {
	const node = context.getNode();
	const run: Run = {
		context,
		node,
		returnsFailures: returnsFailures(context, 'oneItem'),
		credentials: new CredentialReader(context),
		hint: () => {},
		// This context is of one item, so that its method takes no index.
		readParameter: (name, _index, ...values) => context.getNodeParameter(name, ...values),
	};
	const index = context.getItemIndex();
	return await pairedOutput(run, index, async () => {
		if (!operation) throw new Failure('parameter.operation');
		if (!operation.write) return await readItem(run, operation, index);
		return await writeInTurn({ ...run, writeId: writeIdOf(context) }, operation, index);
	});
}

/**
 * Decides whether a failed item is returned as data. A tool's is, so that the model reads what to
 * do: of an error that is thrown, AI Agent 3 tells it the message alone, and AI Agent 2, which runs
 * one item, nothing, whatever On Error says.
 */
function returnsFailures(context: Run['context'], way: 'allItems' | 'oneItem'): boolean {
	const node = context.getNode();
	if (context.continueOnFail()) return true;
	return isTool(node) && (way === 'oneItem' || node.onError !== 'stopWorkflow');
}

/** Runs reads side by side. */
async function readAll(
	run: Run,
	operation: ReadOperation,
	indexes: number[],
): Promise<INodeExecutionData[]> {
	const outputs = new Map<number, INodeExecutionData[]>();
	try {
		const maxParallel = parametersOf(run, operation, 0).wholeNumber('options.maxParallelRequests');
		await runInParallel(indexes, maxParallel, paceOf(run), async (index) => {
			const items = async () => await readItem(run, operation, index);
			outputs.set(index, await pairedOutput(run, index, items));
		});
	} catch (error) {
		// Without On Error = Continue, the error of an item, which is n8n's; else one of the whole run,
		// such as its cancellation.
		if (!run.returnsFailures) throw toNodeError(run.node, error);
		fillMissingOutputs(outputs, indexes, error);
	}
	return indexes.flatMap((index) => outputs.get(index)!);
}

async function readItem(
	run: Run,
	operation: ReadOperation,
	index: number,
): Promise<INodeExecutionData[]> {
	const { request, output } = await prepareRead(run, operation, index);
	const hints: string[] = [];
	const items = await output.fetchItems(run.context, request, (hint) => hints.push(hint));
	for (const hint of hints) run.hint(hint);
	if (!isTool(run.node)) return items;
	// n8n's AI Agent 3 would hand an empty list to the model as an empty text, and the model makes
	// something up.
	if (items.length === 0 && hints.length === 0) hints.push(NOTHING_FOUND);
	return [...items, ...hints.map((message) => ({ json: { message } }))];
}

const NOTHING_FOUND = 'The service returned an empty list: there is nothing to show.';

/** Work without a pause, such as evaluating expressions. During a pause, Node.js sends requests. */
const SLICE_MS = 5;

/**
 * Runs a task for each index, in order, with at most `maxParallel` at a time. After a task has thrown,
 * no other is started.
 * @throws after all started tasks have ended: the error of the first index in order, or the Failure
 *   of a cancelled execution
 */
export async function runInParallel(
	indexes: number[],
	maxParallel: number,
	pace: Pace,
	task: (index: number) => Promise<void>,
): Promise<void> {
	const errors = new Map<number, unknown>();
	const running = new Set<Promise<void>>();
	let sliceStart = Date.now();
	try {
		for (const index of indexes) {
			await pace.next();
			if (errors.size > 0) break;
			const promise = task(index)
				.catch((error: unknown) => void errors.set(index, error))
				.then(() => void running.delete(promise));
			running.add(promise);
			if (Date.now() - sliceStart >= SLICE_MS) {
				// `sleep` takes at least 1 ms, which is longer than most items: it must not follow each of
				// them.
				await sleep(0);
				sliceStart = Date.now();
			}
			if (running.size >= maxParallel) await Promise.race(running);
		}
	} finally {
		await Promise.all(running);
	}
	if (errors.size > 0) throw errors.get(Math.min(...errors.keys()));
}
