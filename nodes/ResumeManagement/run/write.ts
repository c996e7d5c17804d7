import { type INodeExecutionData, NodeApiError, NodeOperationError } from 'n8n-workflow';

import { Failure, toNodeError } from '../../shared/failure';
import { shownNames } from '../../shared/names';
import { isTool } from '../../shared/parameters';
import { hideSecrets } from '../../shared/secrets';
import { normalizeEmail } from '../../shared/text';
import { type JsonBody, statusProblem } from '../http/judge';
import { requestJson } from '../http/response';
import type { HttpRequest } from '../http/send';
import { type Claim, Claims } from '../once/claims';
import type { WriteId } from '../once/identity';
import { type Entry, journalOf } from '../once/journal';
import type { WriteOperation } from '../operations/operation';
import { toItem } from '../responses/record';
import { parametersOf, prepareWrite, type PreparedWrite, type Run } from './prepare';

/**
 * Writes an item, after all earlier items.
 * @param id identifies the write within the run
 * @param prepared if the item was prepared before
 * @throws Failure; n8n's own errors
 */
export async function writeItem(
	run: Run,
	operation: WriteOperation,
	index: number,
	id: WriteId,
	prepared?: PreparedWrite,
): Promise<INodeExecutionData[]> {
	const { context, stopsWrites } = run;
	const journal = journalOf(context);
	return await journal.queue.run(async () => {
		const writing = writeOnce(run, operation, index, id, prepared).catch((error: Error) => {
			// An applied write stops no other one, also if its item can't be shown.
			if (stopsWrites && !journal.isApplied(id)) journal.stop(id, error.message);
			throw error;
		});
		return [await writing];
	});
}

/** Carries out a write: at most once in a run, and with a Send Once Key at most once in all executions. */
async function writeOnce(
	run: Run,
	operation: WriteOperation,
	index: number,
	id: WriteId,
	prepared?: PreparedWrite,
): Promise<INodeExecutionData> {
	const journal = journalOf(run.context);
	if (!journal.isGuarded) throw new Failure('write.unguarded');

	// What became of it in an earlier attempt comes before anything that can fail in this attempt.
	if (journal.isFinal(id)) return itemOf(journal.recall(id)!);
	journal.refuseStopped(id);

	const { request, response, beside, preview, sendOnceKey } =
		prepared ?? (await prepareUnrepeated(run, operation, index));
	if (preview) {
		// An item that could not be sent fails in a preview, too.
		if (sendOnceKey) await claimsOf(run).checkRows();
		journal.endStop(id);
		return previewOf(request);
	}

	// From here on it may have been carried out, whatever happens, unless something else is proved.
	journal.begin(id);
	let claim: Claim | undefined;
	let entry: Entry;
	try {
		if (sendOnceKey) {
			claim = await claimsOf(run).claim(sendOnceKey, identityOf(operation, request));
		}
		if (sendOnceKey && !claim) {
			const body = { alreadySent: true, sendOnceKey, outcome: 'applied' };
			entry = { outcome: 'applied', body };
		} else {
			const { body } = await requestJson(run.context, request);
			refuseUnconfirmed(operation, request, body);
			entry = { outcome: 'applied', body, response, beside };
		}
	} catch (error) {
		entry = failedEntry(error);
	}
	journal.record(id, entry);
	// A failure to store it is a hint, and leaves the outcome as it is.
	if (claim) await claimsOf(run).settle(claim, entry.outcome);
	if (entry.outcome === 'applied') journal.endStop(id);
	return itemOf(entry);
}

function claimsOf(run: Run): Claims {
	const { context, hint } = run;
	return (run.claims ??= new Claims(context, hint, context.getExecutionCancelSignal()));
}

/** Prepares a write, and refuses one that repeats the purchase of another item. @throws Failure; n8n's own errors */
async function prepareUnrepeated(
	run: Run,
	operation: WriteOperation,
	index: number,
): Promise<PreparedWrite> {
	const prepared = await prepareWrite(run, operation, index);
	const { purchase, sendOnceKey, request } = prepared;
	// With a key, `Claims` decides: different keys are different purchases. Each call of a tool is one of its own.
	if (!purchase || sendOnceKey || isTool(run.node)) return prepared;
	// By the Base URL alone: if n8n reads the credential in another way in a retry, `account` may differ.
	const id = JSON.stringify([request.credential.baseUrl, purchase.id]);
	journalOf(run.context).refuseRepeated(index, id, purchase.isRepeatAllowed);
	return prepared;
}

/** Prepares writes before the first is sent: an invalid item stops the run before any write. @throws n8n's errors */
export async function prepareAll(
	run: Run,
	operation: WriteOperation,
	indexes: number[],
): Promise<Map<number, PreparedWrite>> {
	const prepared = new Map<number, PreparedWrite>();
	for (const index of indexes) {
		try {
			prepared.set(index, await prepareUnrepeated(run, operation, index));
		} catch (error) {
			throw toNodeError(run.node, error, index);
		}
	}
	return prepared;
}

/** Refuses a run of too many items, most often a mistake in the workflow. Previews do not count. @throws Failure */
export function refuseTooMany(run: Run, operation: WriteOperation, indexes: number[]): void {
	const { maxItemsField } = operation;
	if (!maxItemsField) return;
	const most = parametersOf(run, operation, 0).count(maxItemsField);
	if (indexes.length <= most) return;
	const isPreview = (index: number) => parametersOf(run, operation, index).flag('preview');
	const items = indexes.filter((index) => !isPreview(index)).length;
	if (items > most) throw new Failure('write.tooMany', { items, most });
}

/**
 * Returns everything that tells this request from others with the same Send Once Key. Its hash is stored in n8n's database: after a
 * change here, earlier successes are not found, and their keys are "used before".
 */
function identityOf(operation: WriteOperation, request: HttpRequest): unknown {
	const { method, path, query, body, credential } = request;
	const { baseUrl, account } = credential;
	// The case of an address makes no other request.
	const email = typeof body?.email === 'string' ? { email: normalizeEmail(body.email) } : {};
	// With `operation.path`: the success of a custom request, which its status alone confirms, is no confirmed upgrade.
	return [baseUrl, account, operation.path, method, path, query, body && { ...body, ...email }];
}

function previewOf({ method, path, body, credential }: HttpRequest): INodeExecutionData {
	const shown = { preview: true, billed: false, method, path, ...(body && { body }) };
	return toItem(hideSecrets(shown, credential.secrets));
}

/**
 * The success of a write is confirmed, never assumed: by the status "success" and by what the operation asked for.
 * Without a confirmation, the outcome is unknown. @throws Failure
 */
function refuseUnconfirmed(operation: WriteOperation, request: HttpRequest, body: JsonBody): void {
	const reason = statusProblem(body) ?? operation.confirmationProblem?.(body, request.body);
	if (reason === undefined) return;
	const details = `The response has the properties: ${shownNames(body)}.`;
	throw new Failure('write.unconfirmed', { reason }, { httpStatus: 200, details });
}

/** @param error if it is no {@link Failure}, the outcome is unknown */
function failedEntry(error: unknown): Entry {
	const failure = error instanceof Failure ? error.with({ isWrite: true }) : unexpected();
	return { outcome: failure.outcome, failure };
}

function unexpected(): Failure {
	return new Failure('node.unexpected', {}, { isWrite: true });
}

/** Makes the item of an applied write. @throws the Failure of any other write, or one that says that it was applied */
function itemOf(entry: Entry): INodeExecutionData {
	if ('failure' in entry) throw entry.failure ?? unexpected();
	const { body, response, beside } = entry;
	try {
		return response ? response.itemOf(body, beside) : toItem(body);
	} catch {
		// It was carried out all the same.
	}
	throw new Failure('write.notShown', {}, { isWrite: true, outcome: 'applied' });
}

/** A hint of the run, because a notice in the node's description can't depend on this setting. */
export function retryHint(operation: WriteOperation): string {
	return `Retry On Fail is on. It never sends an item again that succeeded or may have. Another round of a loop does, and so does a new execution, also one that is started with Retry in the list of executions${unlessKeyed(operation)}.`;
}

function unlessKeyed({ fields }: WriteOperation): string {
	return fields.some(({ name }) => name === 'sendOnceKey') ? ', unless Send Once Key is set' : '';
}

/** Returns the error that stops the node, with the writes that were carried out before. */
export function withProgress(
	{ node, context }: Run,
	operation: WriteOperation,
	error: unknown,
	indexes: number[],
): Error {
	const journal = journalOf(context);
	const stopped = toNodeError(node, error);
	if (indexes.length === 1) return stopped;
	const isNodeError = stopped instanceof NodeApiError || stopped instanceof NodeOperationError;
	const isAnyApplied = indexes.some((index) => journal.isApplied(index));
	// An error of n8n's own, such as an expression's, stays as it is, unless applied items must be named.
	if (!isNodeError && !isAnyApplied) return stopped;
	const nodeError = isNodeError ? stopped : new NodeOperationError(node, stopped);
	const progress = journal.progress(indexes, nodeError.context.itemIndex as number | undefined);
	const again = `A new execution sends the applied items again${unlessKeyed(operation)}.`;
	const sentences = [nodeError.description, progress, isAnyApplied && again];
	nodeError.description = sentences.filter(Boolean).join(' ');
	return nodeError;
}
