import { type INodeExecutionData, NodeApiError, NodeOperationError } from 'n8n-workflow';

import { isTool } from '../../shared/engine';
import { Failure, toNodeError } from '../../shared/failure';
import { shownNames } from '../../shared/names';
import { hideSecrets } from '../../shared/secrets';
import { whyNoSuccess } from '../http/judge';
import { requestJson } from '../http/response';
import type { WriteOperation } from '../operations/operation';
import { toItem } from '../output/items';
import { parametersOf, prepareWrite, type PreparedWrite, type WriteRun } from './prepare';
import type { MakeItem, Write } from './journal';

/**
 * Sends the write of an item, or returns its item of an earlier attempt.
 * @param prepared if the item was prepared before
 * @throws Failure; n8n's own errors
 */
export async function writeItem(
	run: WriteRun,
	index: number,
	write: Write,
	prepared?: PreparedWrite,
): Promise<INodeExecutionData[]> {
	// Each call of a tool is a task of its own: its failure stops no other call.
	const stops = !run.continues && !isTool(run.node);
	const makeItem = await run.journal.enqueue(write, stops, async () => {
		if (write.isFinal) return write.itemMaker();
		return await perform(run, prepared ?? (await prepareUnrepeated(run, index)), write);
	});
	return [makeItem()];
}

/** Performs a write: at most once, and with the same key at most once in all executions. @throws Failure */
async function perform(run: WriteRun, prepared: PreparedWrite, write: Write): Promise<MakeItem> {
	const { request, sendOnceKey, preview } = prepared;
	const { method, path, query, body, credential } = request;
	if (preview) {
		// An item that could not be sent fails in a preview, too.
		if (sendOnceKey) await run.claims.checkRows();
		const shown = { preview: true, method, path, ...(body && { body }) };
		return () => toItem(hideSecrets(shown, credential.secrets));
	}
	return await write.send(async () => {
		if (!sendOnceKey) return await requestConfirmed(run, prepared);
		const { baseUrl, account } = credential;
		// With `operation.path`: the success of a custom request, which its status alone confirms, is no confirmed upgrade.
		const identity = [baseUrl, account, run.operation.path, method, path, query, body];
		const makeItem = await run.claims.sendOnce(sendOnceKey, identity, async () => {
			return await requestConfirmed(run, prepared);
		});
		return makeItem ?? (() => toItem({ alreadySent: true, sendOnceKey, outcome: 'applied' }));
	});
}

/**
 * Sends the request of a write. Its success is confirmed, never assumed: by the status "success" and by what the operation
 * asked for. Without a confirmation, the outcome is unknown. @throws Failure
 */
async function requestConfirmed(
	{ sender, operation }: WriteRun,
	{ request, kind }: PreparedWrite,
): Promise<MakeItem> {
	const { body } = await requestJson(sender, request);
	const reason = whyNoSuccess(body) ?? operation.whyUnconfirmed?.(body, request.body);
	if (reason === undefined) return () => kind.itemOf(body);
	const details = `The response has the properties: ${shownNames(body)}.`;
	throw new Failure('write.unconfirmed', { reason }, { httpStatus: 200, details });
}

/** Prepares a write, and refuses one that repeats the purchase of another item. @throws Failure; n8n's own errors */
async function prepareUnrepeated(run: WriteRun, index: number): Promise<PreparedWrite> {
	const prepared = await prepareWrite(run, index);
	const { purchase, sendOnceKey, request } = prepared;
	// With a key, `Claims` decides: different keys are different purchases. Each call of a tool is one of its own.
	if (!purchase || sendOnceKey || isTool(run.node)) return prepared;
	// Without the account: an attempt may identify it by its ID, and the next one by the key.
	const id = JSON.stringify([request.credential.baseUrl, purchase.id]);
	run.journal.refuseRepeated(index, id, purchase.isRepeatAllowed);
	return prepared;
}

/** Prepares all writes before the first is sent, into `prepared` by index: an invalid item stops the run before any write. */
export async function prepareAll(
	run: WriteRun,
	indexes: number[],
	prepared: Map<number, PreparedWrite>,
): Promise<void> {
	for (const index of indexes) {
		try {
			prepared.set(index, await prepareUnrepeated(run, index));
		} catch (error) {
			throw toNodeError(run.node, error, index);
		}
	}
}

/** Refuses a run of too many items, most often a mistake in the workflow. Previews do not count. @throws Failure */
export function refuseTooMany(run: WriteRun, indexes: number[]): void {
	const { maxItemsField } = run.operation;
	const most = maxItemsField ? parametersOf(run, 0).count(maxItemsField) : Infinity;
	if (indexes.length <= most) return;
	const items = indexes.filter((index) => !parametersOf(run, index).flag('preview')).length;
	if (items > most) throw new Failure('write.tooMany', { items, most });
}

/**
 * Refuses to write as a tool with an error output, which only a workflow's JSON can have: n8n drops what such a tool
 * returns, but not what it throws (`handleNodeErrorOutput` of n8n-core's workflow-execute.ts).
 * @throws NodeOperationError
 */
export function refuseErrorOutput({ node }: WriteRun): void {
	if (!isTool(node) || node.onError !== 'continueErrorOutput') return;
	throw toNodeError(node, new Failure('write.errorOutput'));
}

/** A hint of the run, because a notice in the node's description can't depend on this setting. */
export function retryHint({ operation }: WriteRun): string {
	return `Retry On Fail is on. It never sends an item again that succeeded or may have. Another round of a loop does, and so does a new execution, also one that is started with Retry in the list of executions${unlessKeyed(operation)}.`;
}

function unlessKeyed({ fields }: WriteOperation): string {
	return fields.some(({ name }) => name === 'sendOnceKey') ? ', unless Send Once Key is set' : '';
}

/** Returns the error that stops the node, with the writes that were carried out before. */
export function withProgress(run: WriteRun, error: unknown, indexes: number[]): Error {
	const { node, journal, operation } = run;
	const stopped = toNodeError(node, error);
	if (indexes.length === 1) return stopped;
	const isNodeError = stopped instanceof NodeApiError || stopped instanceof NodeOperationError;
	const isAnyApplied = indexes.some((index) => journal.writeOf(index).isApplied);
	// An error of n8n's own, such as an expression's, stays as it is, unless applied items must be named.
	if (!isNodeError && !isAnyApplied) return stopped;
	const nodeError = isNodeError ? stopped : new NodeOperationError(node, stopped);
	const progress = journal.progress(indexes, nodeError.context.itemIndex as number | undefined);
	const again = `A new execution sends the applied items again${unlessKeyed(operation)}.`;
	const sentences = [nodeError.description, progress, isAnyApplied && again];
	nodeError.description = sentences.filter(Boolean).join(' ');
	return nodeError;
}
