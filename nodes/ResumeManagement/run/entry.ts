import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type {
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INode,
	INodeExecutionData,
} from 'n8n-workflow';

import { identityOfWrite, isTool } from '../../shared/engine';
import { Failure, toErrorData, toNodeError } from '../../shared/failure';
import { ParameterReader, type ReadParameter } from '../../shared/parameters';
import { Credentials, readCredential } from '../http/credential';
import type { Operation } from '../operations/operation';
import { shape } from '../output/items';
import type { Call } from './call';
import { Claims } from './claims';
import { type StartLimits, startInOrder } from './inOrder';
import { perform, type Run } from './perform';
import { readCall, type RequestOptions, toBatch } from './read';
import { Users } from './users';
import { type Journal, journalOf, type Write } from './write';

type Context = IExecuteFunctions | IExecutePaginationFunctions;

/** A run, with n8n's settings of the node. */
interface NodeRun extends Run {
	node: INode;
	/** Failed items are returned as data, and the run continues. */
	continues: boolean;
	/** Undefined for reads. */
	journal?: Journal;
	parameters(index: number): ParameterReader;
	requestOptions(index: number): RequestOptions;
	/** Read apart: a failing expression of another of the Request Options concerns its item alone. */
	batching(): RequestOptions['batching'];
}

/**
 * Runs the operation for all items, in place of n8n's own loop over declarative nodes. That loop starts all items at once,
 * and evaluates each parameter twice (n8n-core/src/execution-engine/routing-node.ts).
 * @returns one output; n8n moves the items with an `error` to the error output if there is one
 * @throws NodeApiError or NodeOperationError, only under On Error = Stop
 */
export async function runItems(
	this: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[][]> {
	const indexes = [...this.getInputData().keys()];
	const returned = new Map<number, INodeExecutionData[]>();
	const hints = new Set<string>();
	const node = this.getNode();
	const run = startRun(this, operation, {
		// If a tool threw, version 3 of n8n's AI Agent would pass the message to the model, without the description.
		continues: this.continueOnFail() || (isTool(node) && node.onError !== 'stopWorkflow'),
		credentials: new Credentials(this),
		hint: (message) => void hints.add(message),
		evaluate: (index) => (name, fallback, options) =>
			this.getNodeParameter(name, index, fallback, options),
	});
	refuseErrorOutput(run);
	try {
		await runAll(run, indexes, returned);
	} catch (error) {
		if (!run.continues) throw withProgress(run, error, indexes);
		// The error concerns each item without a result. If the node threw under On Error = Continue, n8n would pass on
		// its input items as if they had succeeded.
		for (const index of indexes) {
			if (!returned.has(index)) returned.set(index, [failedItem(error, index)]);
		}
	}
	const shown = [...hints].map((message) => ({ message, location: 'outputPane' as const }));
	// Missing in n8n 1.85.
	this.addExecutionHints?.(...shown);
	return [indexes.flatMap((index) => returned.get(index)!)];
}

/**
 * Runs the operation for one item. n8n's loop over declarative nodes calls it for each, all at once, where n8n does not call
 * {@link runItems}: for the tools of version 2 of its AI Agent (n8n-core's get-input-connection-data.ts), and in its step
 * executor (V1StepExecutor of @n8n/node-engine-compatibility).
 * @param operation undefined for one that the node does not have, such as n8n's Custom API Call
 * @throws NodeApiError or NodeOperationError, under On Error = Stop
 */
export async function runSingleItem(
	this: IExecutePaginationFunctions,
	operation?: Operation,
): Promise<INodeExecutionData[]> {
	const node = this.getNode();
	// If a tool threw, version 2 of n8n's AI Agent would tell the model nothing, and n8n 1 would end the execution.
	const continues = this.continueOnFail() || isTool(node);
	if (!operation) {
		const failure = new Failure('parameter.operation', {}, { isSetting: true });
		if (!continues) throw toNodeError(node, failure);
		return [failedItem(failure, this.getItemIndex())];
	}
	const run = startRun(this, operation, {
		continues,
		credentials: { read: async () => await readCredential(this) },
		hint: () => {},
		evaluate: () => (name, fallback, options) => this.getNodeParameter(name, fallback, options),
	});
	return await runItem(run, this.getItemIndex(), () => identityOfWrite(this));
}

/** @param entry the differences of `runItems` and `runSingleItem`; `evaluate` reads the parameters of an item */
function startRun(
	context: Context,
	operation: Operation,
	entry: Pick<NodeRun, 'credentials' | 'hint' | 'continues'> & {
		evaluate(index: number): ReadParameter;
	},
): NodeRun {
	const { credentials, hint, continues, evaluate } = entry;
	const node = context.getNode();
	const sender = { context, cancelled: context.getExecutionCancelSignal() };
	return {
		operation,
		sender,
		credentials,
		users: new Users(sender, hint),
		claims: new Claims(context, hint, sender.cancelled),
		hint,
		node,
		continues,
		journal: operation.write ? journalOf(context) : undefined,
		parameters: (index) => new ParameterReader(operation.fields, evaluate(index)),
		requestOptions: (index) => evaluate(index)('requestOptions', {}) as RequestOptions,
		batching: () => evaluate(0)('requestOptions.batching', {}) as RequestOptions['batching'],
	};
}

/**
 * Runs all items: reads side by side, writes one after the other.
 * @param returned receives the items that each index returns
 * @throws NodeApiError, NodeOperationError, or a Failure that concerns all items
 */
async function runAll(
	run: NodeRun,
	indexes: number[],
	returned: Map<number, INodeExecutionData[]>,
): Promise<void> {
	const { journal, node } = run;
	const addItems = async (index: number, call?: Call) => {
		returned.set(index, await runItem(run, index, () => index, call));
	};
	const isFinal = (index: number) => journal?.writeOf(index).isFinal === true;
	const remaining = indexes.filter((index) => !isFinal(index));
	// The results of an earlier attempt come first, before anything can fail in this attempt.
	for (const index of indexes.filter(isFinal)) await addItems(index);
	if (journal && node.retryOnFail) run.hint(retryHint(run.operation));
	refuseTooMany(run, indexes.length);
	const limits = readLimits(run);
	const calls = await prepare(run, remaining);
	await startInOrder(remaining.length, limits, async (position) => {
		await addItems(remaining[position]!, calls[position]);
	});
}

/**
 * Runs one item: reads its parameters, sends its request, and returns its items, or a failed item.
 * @param identify returns the identity of the item's write within the run
 * @param call if the parameters were read before
 * @throws NodeApiError or NodeOperationError if a failed item stops the run
 */
async function runItem(
	run: NodeRun,
	index: number,
	identify: () => object | number,
	call?: Call,
): Promise<INodeExecutionData[]> {
	const { journal, node, continues } = run;
	const attempt = async (write?: Write) => {
		if (write?.isFinal) return write.result();
		return await perform(run, call ?? (await readItem(run, index)), write);
	};
	try {
		// Each call of a tool is a task of its own: its failure stops no other call.
		const stops = !continues && !isTool(node);
		const result = await (journal
			? journal.enqueue(journal.writeOf(identify()), stops, attempt)
			: attempt());
		return shape(result).map((item) => ({ ...item, pairedItem: { item: index } }));
	} catch (error) {
		if (!continues) throw toNodeError(node, error, index);
		return [failedItem(error, index)];
	}
}

async function readItem(run: NodeRun, index: number): Promise<Call> {
	const call = await readCall(run, run.parameters(index), run.requestOptions(index), index);
	// Each call of a tool is a purchase of its own.
	if (!isTool(run.node)) run.journal?.refuseRepeated(call);
	return call;
}

/** Reads all writes before the first is sent, if a failure stops the node: an invalid item stops it before any write. */
async function prepare(run: NodeRun, indexes: number[]): Promise<Call[]> {
	if (!run.journal || run.continues) return [];
	const calls: Call[] = [];
	for (const index of indexes) {
		const fail = (error: unknown) => Promise.reject(toNodeError(run.node, error, index));
		calls.push(await readItem(run, index).catch(fail));
	}
	return calls;
}

/** The settings of the first item count for all. */
function readLimits({ operation, sender, ...run }: NodeRun): StartLimits {
	return {
		limit: operation.write ? 1 : run.parameters(0).count('options.maxParallelRequests'),
		batch: toBatch(run.batching()),
		signal: sender.cancelled,
	};
}

/**
 * Refuses a run of too many items, which is most often a mistake in the workflow.
 * @throws Failure
 */
function refuseTooMany({ operation, parameters }: NodeRun, items: number): void {
	const most = operation.maxItems ? parameters(0).count(operation.maxItems) : Infinity;
	if (items <= most) return;
	throw new Failure('write.tooMany', { items, most }, { isSetting: true });
}

/**
 * Refuses to write as a tool with an error output, which only a workflow's JSON can have: n8n drops what such a tool
 * returns, but not what it throws (`handleNodeErrorOutput` of n8n-core's workflow-execute.ts).
 * @throws NodeOperationError
 */
function refuseErrorOutput({ node, journal }: NodeRun): void {
	if (!journal || !isTool(node) || node.onError !== 'continueErrorOutput') return;
	throw toNodeError(node, new Failure('write.errorOutput', {}, { isSetting: true }));
}

/** A hint of the run, because a notice in the node's description can't depend on this setting. */
function retryHint({ fields }: Operation): string {
	return `Retry On Fail is on. Within this execution, the node never sends an item again that succeeded or may have. A new execution does, also one that is started with Retry in the list of executions${unlessKeyed(fields)}.`;
}

function unlessKeyed(fields: Operation['fields']): string {
	return fields.some(({ name }) => name === 'sendOnceKey') ? ', unless Send Once Key is set' : '';
}

/** Adds the writes that were carried out before to the error that stops the node. */
function withProgress(run: NodeRun, error: unknown, indexes: number[]): unknown {
	const { node, journal, operation } = run;
	const stopped = error instanceof Failure ? toNodeError(node, error) : error;
	if (!journal || indexes.length === 1) return stopped;
	const isNodeError = stopped instanceof NodeApiError || stopped instanceof NodeOperationError;
	const isAnyDone = indexes.some((index) => journal.writeOf(index).isDone);
	// Another error of n8n, such as that of an expression, only changes if an item was applied.
	if (!isNodeError && !isAnyDone) return stopped;
	const nodeError = isNodeError ? stopped : new NodeOperationError(node, stopped as Error);
	const progress = journal.progress(indexes, nodeError.context.itemIndex as number | undefined);
	const again = `A new execution sends the applied items again${unlessKeyed(operation.fields)}.`;
	const sentences = [nodeError.description, progress, isAnyDone && again];
	nodeError.description = sentences.filter(Boolean).join(' ');
	return nodeError;
}

function failedItem(error: unknown, item: number): INodeExecutionData {
	return { json: { error: toErrorData(error) }, pairedItem: { item } };
}
