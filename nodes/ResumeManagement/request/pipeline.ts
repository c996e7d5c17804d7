import { NodeApiError, NodeConnectionTypes } from 'n8n-workflow';
import type {
	IExecuteFunctions,
	IExecutePaginationFunctions,
	IN8nHttpFullResponse,
	INode,
	INodeExecutionData,
} from 'n8n-workflow';

import { type Credential, readCredential } from './credential';
import { storeFile } from './download/download';
import {
	type Failure,
	isOutcomeUnknown,
	outcomeUnknown,
	toErrorData,
	toNodeApiError,
	withoutSecrets,
} from './failure';
import { runInOrder } from './gate';
import { type Answer, judge } from './judge';
import { settledWrites, type SettledWrite } from './memory';
import type { Operation, RequestParts, Shaped } from './operation';
import { Parameters } from './parameters';
import { type Pagination, readPages } from './pages';
import { type HttpSettings, readRequestOptions, type RequestOptions } from './requestOptions';
import { readRetryAfter, withRetries } from './retry';
import { send } from './send';
import { listItems } from './shape';

/** Reads sent side by side where the user sets no other number. */
const MAX_PARALLEL_REQUESTS = 32;

/** How often a request is repeated, where the user sets no other number. */
const RETRIES = 2;

/**
 * Milliseconds that an answer may take where Request Options name no timeout. n8n's own default of
 * five minutes is long for a read; a payment may take its time.
 */
const TIMEOUTS = { read: 30_000, write: 120_000 };

/** n8n's editor can't tell before a run that the setting is on: see `hints`. */
const RETRY_ON_FAIL =
	'Retry On Fail is on. Within this execution, it does not send an item again that has succeeded or may have. A new execution does, also one that is started with Retry in the list of executions.';

type Context = IExecuteFunctions | IExecutePaginationFunctions;

/** What all items of a run share. */
interface Run {
	context: Context;
	node: INode;
	operation: Operation;
	credential: Credential;
	requestOptions: RequestOptions;
	signal?: AbortSignal;
	/** Writes of this run that are not sent again. */
	settled?: Map<number, SettledWrite>;
	/** What n8n's editor shows above the output, each once for all items. */
	hints: Set<string>;
}

interface PreparedItem {
	parameters: Parameters;
	parts: RequestParts;
}

/**
 * Runs an operation for all items of the node. It is one of n8n's `customOperations`, as n8n's own
 * loop over declarative nodes starts all items at once, evaluates each parameter twice and reads
 * the credential for each item (n8n-core/src/execution-engine/routing-node.ts).
 * @returns one output; n8n moves the items with an `error` to the error output where there is one
 * @throws NodeApiError or NodeOperationError under On Error = Stop alone
 */
export async function runOperation(
	this: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[][]> {
	const count = this.getInputData().length;
	const outputs = new Array<INodeExecutionData[]>(count);
	const goesOn = this.continueOnFail() || tellsAgent(this.getNode());
	const fail = (index: number, error: unknown) => {
		if (!goesOn) throw error;
		outputs[index] = [failedItem(error, index)];
	};
	try {
		const requestOptions = this.getNodeParameter('requestOptions', 0, {}) as object;
		const run = await startRun(this, operation, requestOptions, this.getExecuteData());
		if (operation.write && run.node.retryOnFail) run.hints.add(RETRY_ON_FAIL);
		const parameters = (index: number) =>
			new Parameters(run.node, operation.fields, index, (name, fallback) =>
				this.getNodeParameter(name, index, fallback),
			);
		const prepare = (index: number) => prepareItem(run, parameters(index));
		// Where a failure stops the node, a write is sent only when all items are known to be valid.
		const prepared = operation.write && !goesOn ? Array.from(outputs.keys(), prepare) : [];
		const gate = {
			limit: operation.write
				? 1
				: parameters(0).count('options.maxParallelRequests', MAX_PARALLEL_REQUESTS, 1),
			batch: run.requestOptions.batch,
			signal: run.signal,
		};
		await runInOrder(count, gate, async (index) => {
			try {
				outputs[index] = await processItem(run, prepared[index] ?? prepare(index));
			} catch (error) {
				fail(index, operation.write ? withProgress(error, index, count) : error);
			}
		});
		this.addExecutionHints(
			...Array.from(run.hints, (message) => ({ message, location: 'outputPane' as const })),
		);
	} catch (error) {
		// What stops the run concerns each item that has no outcome yet. If the node threw under
		// On Error = Continue, n8n would hand its input items on as if they had succeeded.
		for (const index of outputs.keys()) if (!outputs[index]) fail(index, error);
	}
	return [outputs.flat()];
}

/**
 * Runs an operation for a single item from within n8n's loop over declarative nodes, which is what
 * calls a node that an AI agent uses as its tool
 * (n8n-core/src/execution-engine/node-execution-context/utils/get-input-connection-data.ts).
 */
export async function runSingle(
	this: IExecutePaginationFunctions,
	operation: Operation,
): Promise<INodeExecutionData[]> {
	const index = this.getItemIndex();
	const fail = (error: unknown) => {
		if (!tellsAgent(this.getNode())) throw error;
		return [failedItem(error, index)];
	};
	try {
		const requestOptions = this.getNodeParameter('requestOptions', {}) as object;
		// An agent's calls share one execution data object, and each has arguments of its own.
		const { json } = this.getInputData(0, NodeConnectionTypes.AiTool);
		const run = await startRun(this, operation, requestOptions, json);
		const parameters = new Parameters(run.node, operation.fields, index, (name, fallback) =>
			this.getNodeParameter(name, fallback),
		);
		return await processItem(run, prepareItem(run, parameters));
	} catch (error) {
		return fail(error);
	}
}

/**
 * Whether the node is a tool whose failures are told to the agent as data. Of what a tool throws,
 * version 2 of n8n's AI Agent tells the model nothing, and version 3 the message without the advice;
 * on n8n 1.x it ends the execution. Tools have a type of their own
 * (n8n/src/tool-generation/ai-tools.ts).
 */
function tellsAgent({ type, onError }: INode): boolean {
	return type.endsWith('Tool') && onError !== 'stopWorkflow';
}

function failedItem(error: unknown, item: number): INodeExecutionData {
	return { json: { error: toErrorData(error) }, pairedItem: { item } };
}

/** @param key stands for this run and its repetitions by Retry On Fail; see `settledWrites` */
async function startRun(
	context: Context,
	operation: Operation,
	requestOptions: object,
	key: object,
): Promise<Run> {
	const node = context.getNode();
	return {
		context,
		node,
		operation,
		requestOptions: readRequestOptions(node, requestOptions),
		credential: await readCredential(context),
		signal: context.getExecutionCancelSignal(),
		settled: operation.write ? settledWrites(key) : undefined,
		hints: new Set(),
	};
}

function prepareItem(run: Run, parameters: Parameters): PreparedItem {
	return { parameters, parts: run.operation.read(parameters) };
}

/**
 * Brings one item to its end.
 * @throws NodeApiError, worded without secrets
 */
async function processItem(run: Run, item: PreparedItem): Promise<INodeExecutionData[]> {
	const { itemIndex } = item.parameters;
	const settled = run.settled?.get(itemIndex) ?? (await settle(run, item));
	if ('failure' in settled) throw toNodeApiError(run.node, settled.failure, itemIndex);
	return settled.items.map((output) => ({ ...output, pairedItem: { item: itemIndex } }));
}

/** Sends an item's request, or one for each page of its list, and remembers what must not be sent again. */
async function settle(run: Run, item: PreparedItem): Promise<SettledWrite> {
	const { operation, credential, settled } = run;
	const { pagination } = item.parts;
	const result = await (pagination ? readList(run, item, pagination) : readAnswer(run, item));
	if ('items' in result) {
		settled?.set(item.parameters.itemIndex, result);
		return result;
	}
	const unknown = operation.write && isOutcomeUnknown(result.failure);
	const failure = unknown ? outcomeUnknown(result.failure) : result.failure;
	const clean = { failure: withoutSecrets(failure, credential.secrets) };
	if (unknown) settled?.set(item.parameters.itemIndex, clean);
	return clean;
}

async function readAnswer(run: Run, item: PreparedItem): Promise<Shaped> {
	const { context, credential, operation } = run;
	const { parameters } = item;
	const { helpers } = context;
	const { baseUrl } = credential;
	return await requestWithRetries(run, item, async (answer, connection) =>
		operation.file
			? await storeFile(answer, { helpers, operation, parameters, baseUrl, ...connection })
			: shapeAnswer(answer, operation, parameters),
	);
}

async function readList(run: Run, item: PreparedItem, pagination: Pagination): Promise<Shaped> {
	const { parameters, parts } = item;
	const list = await readPages(pagination, parameters, async (page) => {
		const query = { ...parts.query, ...page };
		return await requestWithRetries(run, { parameters, parts: { ...parts, query } }, (answer) =>
			judge(answer, run.operation),
		);
	});
	if ('failure' in list) return list;
	if (list.hint) run.hints.add(list.hint);
	return listItems(list, parameters);
}

/** What belongs to one request, and ends with it. Times are in milliseconds. */
interface Connection {
	http: HttpSettings & { timeout: number };
	/** Ends the request. */
	abort: AbortController;
	/** Aborted by `abort`, and when the execution is cancelled. */
	signal: AbortSignal;
}

/** Reads an answer, whatever its HTTP status. */
type ReadAnswer<T> = (
	answer: IN8nHttpFullResponse,
	connection: Connection,
) => T | { failure: Failure } | Promise<T | { failure: Failure }>;

async function requestWithRetries<T extends object>(
	run: Run,
	item: PreparedItem,
	read: ReadAnswer<T>,
): Promise<T | { failure: Failure }> {
	const { operation, requestOptions, signal } = run;
	const timeout = requestOptions.timeout ?? TIMEOUTS[operation.write ? 'write' : 'read'];
	const retries = operation.write ? RETRIES : item.parameters.count('options.retries', RETRIES);
	return await withRetries(
		{ retries, timeout, write: !!operation.write, signal },
		async (remaining) => await request(run, item, remaining, read),
	);
}

/** Sends one request and reads its answer. */
async function request<T extends object>(
	run: Run,
	item: PreparedItem,
	timeout: number,
	read: ReadAnswer<T>,
): Promise<T | { failure: Failure }> {
	const { context, credential, operation } = run;
	const http = { ...run.requestOptions.http, timeout };
	const abort = new AbortController();
	const signal = AbortSignal.any([abort.signal, ...(run.signal ? [run.signal] : [])]);
	const sent = await send(context, credential, operation, item.parts, http, signal);
	if ('failure' in sent) return sent;
	const result = await read(sent.answer, { http, abort, signal });
	if (!('failure' in result)) return result;
	return { failure: { retryAfter: readRetryAfter(sent.answer.headers), ...result.failure } };
}

function shapeAnswer(answer: Answer, operation: Operation, parameters: Parameters): Shaped {
	const verdict = judge(answer, operation);
	return 'failure' in verdict ? verdict : operation.shape(verdict.body, parameters);
}

/** Says which writes a stopped node has carried out, so that nobody repeats them. */
function withProgress(error: unknown, index: number, count: number): unknown {
	if (error instanceof NodeApiError && count > 1) {
		const items = (from: number, to: number) =>
			from === to ? `item ${from}` : `items ${from} to ${to}`;
		const applied = index === 0 ? 'No item was applied' : `Already applied: ${items(0, index - 1)}`;
		const unsent = index === count - 1 ? '' : ` Not sent: ${items(index + 1, count - 1)}.`;
		error.description = `${error.description} ${applied} of ${count}.${unsent}`;
	}
	return error;
}
