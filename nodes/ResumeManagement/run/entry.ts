import type {
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INodeExecutionData,
} from 'n8n-workflow';

import { Credentials, readCredential } from '../../shared/credential';
import { identityOfWrite, isTool } from '../../shared/engine';
import { Failure, toErrorData, toNodeError } from '../../shared/failure';
import type { Operation } from '../operations/operation';
import {
	type BaseRun,
	parametersOf,
	prepareRead,
	type ReadRun,
	type RequestOptions,
	type Run,
	type PreparedWrite,
	type WriteRun,
} from './prepare';
import { Claims } from './claims';
import { type StartLimits, startInOrder } from './inOrder';
import { journalOf } from './journal';
import { Users } from './users';
import {
	prepareAll,
	refuseErrorOutput,
	refuseTooMany,
	retryHint,
	withProgress,
	writeItem,
} from './writes';

type Items = INodeExecutionData[];

/** Items by the index of the item that they come from. What is there is kept when the run fails. */
type Results = Map<number, Items>;

/**
 * Runs the operation for all items, in place of n8n's own loop over declarative nodes. That loop starts all items at once,
 * and evaluates each parameter twice (n8n-core/src/execution-engine/routing-node.ts).
 * @returns one output; n8n moves the items with an `error` to the error output if there is one
 * @throws NodeApiError or NodeOperationError, under On Error = Stop or if the run is refused: see {@link refuseErrorOutput}
 */
export async function runItems(this: IExecuteFunctions, operation: Operation): Promise<Items[]> {
	const node = this.getNode();
	const hints = new Set<string>();
	const run = startRun(this, operation, {
		// If a tool threw, version 3 of n8n's AI Agent would pass the message to the model, without the description. So it throws
		// only if the user has set On Error = Stop.
		continues: this.continueOnFail() || (isTool(node) && node.onError !== 'stopWorkflow'),
		credentials: new Credentials(this),
		hint: (message) => void hints.add(message),
		readParameter: (...values) => this.getNodeParameter(...values),
	});
	// Only a run of writes has a journal.
	if (run.journal) refuseErrorOutput(run);
	const indexes = [...this.getInputData().keys()];
	const results: Results = new Map();
	try {
		if (run.journal) await writeAll(run, indexes, results);
		else await readAll(run, indexes, results);
	} catch (error) {
		if (!run.continues) {
			throw run.journal ? withProgress(run, error, indexes) : toNodeError(node, error);
		}
		// The error concerns each item without a result. If the node threw under On Error = Continue, n8n would pass on
		// its input items as if they had succeeded.
		for (const index of indexes) {
			if (!results.has(index)) results.set(index, [failedItem(error, index)]);
		}
	}
	this.addExecutionHints(
		...[...hints].map((message) => ({ message, location: 'outputPane' as const })),
	);
	return [indexes.flatMap((index) => results.get(index)!)];
}

/**
 * Runs the operation for one item. n8n's loop over declarative nodes calls it for each, all at once, where n8n does not call
 * {@link runItems}: for the tools of version 2 of its AI Agent (n8n-core's get-input-connection-data.ts), and in its step
 * executor (V1StepExecutor of @n8n/node-engine-compatibility).
 * @param operation undefined for one that the node does not have, such as n8n's Custom API Call
 * @throws NodeApiError or NodeOperationError, under On Error = Stop, but not as a tool
 */
export async function runSingleItem(
	this: IExecutePaginationFunctions,
	operation?: Operation,
): Promise<Items> {
	const node = this.getNode();
	const index = this.getItemIndex();
	// If a tool threw, version 2 of n8n's AI Agent would tell the model nothing, also under On Error = Stop, and n8n 1 would end
	// the execution.
	const continues = this.continueOnFail() || isTool(node);
	if (!operation) {
		const failure = new Failure('parameter.operation');
		if (!continues) throw toNodeError(node, failure);
		return [failedItem(failure, index)];
	}
	const run = startRun(this, operation, {
		continues,
		credentials: { read: async () => await readCredential(this) },
		hint: () => {},
		// This context is of one item, so that its method takes no index.
		readParameter: (name, _index, ...values) => this.getNodeParameter(name, ...values),
	});
	return await runItem(run, index, async () =>
		run.journal
			? await writeItem(run, index, run.journal.writeOf(identityOfWrite(this)))
			: await readItem(run, index),
	);
}

/** @param settings the differences of {@link runItems} and {@link runSingleItem} */
function startRun(
	context: IExecuteFunctions | IExecutePaginationFunctions,
	operation: Operation,
	settings: Pick<BaseRun, 'continues' | 'credentials' | 'hint' | 'readParameter'>,
): Run {
	const cancelled = context.getExecutionCancelSignal();
	const sender = { context, cancelled };
	const users = new Users(sender, settings.hint);
	const parts = { ...settings, node: context.getNode(), sender, users };
	if (!operation.write) return { ...parts, operation };
	const claims = new Claims(context, settings.hint, cancelled);
	return { ...parts, operation, journal: journalOf(context), claims };
}

/** Runs reads side by side. */
async function readAll(run: ReadRun, indexes: number[], results: Results): Promise<void> {
	const limit = parametersOf(run, 0).count('options.maxParallelRequests');
	await startInOrder(indexes, { ...startLimits(run), limit }, async (index) => {
		results.set(index, await runItem(run, index, async () => await readItem(run, index)));
	});
}

async function readItem(run: ReadRun, index: number): Promise<Items> {
	const { kind, request } = await prepareRead(run, index);
	return await kind.requestItems(run.sender, request, run.hint);
}

/** Runs writes one after the other. */
async function writeAll(run: WriteRun, indexes: number[], results: Results): Promise<void> {
	const prepared = new Map<number, PreparedWrite>();
	const writeOne = async (index: number) => {
		const write = run.journal.writeOf(index);
		const items = runItem(run, index, async () => {
			return await writeItem(run, index, write, prepared.get(index));
		});
		results.set(index, await items);
	};
	// The results of an earlier attempt come first, before anything can fail in this attempt.
	for (const index of indexes) if (run.journal.writeOf(index).isFinal) await writeOne(index);
	const remaining = indexes.filter((index) => !results.has(index));
	if (run.node.retryOnFail) run.hint(retryHint(run));
	refuseTooMany(run, indexes);
	const limits = { ...startLimits(run), limit: 1 };
	if (!run.continues) await prepareAll(run, remaining, prepared);
	await startInOrder(remaining, limits, writeOne);
}

/**
 * Pairs the output of an item with it; or returns a failed item.
 * @throws NodeApiError or NodeOperationError if a failed item stops the run
 */
async function runItem(run: Run, index: number, outputOf: () => Promise<Items>): Promise<Items> {
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
function startLimits({ readParameter, sender }: Run): Pick<StartLimits, 'batch' | 'signal'> {
	const batching = readParameter('requestOptions.batching', 0, {}) as RequestOptions['batching'];
	const { batchSize = 50, batchInterval = 0 } = batching?.batch ?? {};
	// n8n writes -1 for a size that is "disabled" (n8n-core/src/nodes-loader/constants.ts).
	const isOn = batchInterval > 0 && batchSize > 0;
	const batch = isOn ? { size: batchSize, interval: batchInterval } : undefined;
	return { batch, signal: sender.cancelled };
}
