import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { Failure, toFailure } from '../../shared/failure';
import { shownNames } from '../../shared/json';
import { isTool } from '../../shared/parameters';
import { hideSecrets } from '../../shared/secrets';
import { type JsonBody, whyUnconfirmed } from '../http/judge';
import { requestJson } from '../http/request';
import type { HttpRequest } from '../http/send';
import { type Claim, Claims } from '../once/claims';
import { requestIdentity } from '../once/identity';
import { type Entry, journalOf, requireStableJournal } from '../once/journal';
import type { WriteId } from '../once/writeId';
import type { WriteOperation } from '../operations/operation';
import { toItem } from '../responses/record';
import { parametersOf, prepareWrite, type PreparedWrite } from './prepare';
import { retryHint, withProgress } from './progress';
import { failedOutput, fillMissingOutputs, paceOf, type Run, pairedOutput } from './run';

/**
 * Writes items, one after the other. All of them are prepared before the first is sent: under On
 * Error = Stop, an invalid item ends the run before any write.
 * @throws NodeApiError or NodeOperationError
 */
export async function writeAll(
	run: Run,
	operation: WriteOperation,
	indexes: number[],
): Promise<INodeExecutionData[]> {
	const outputs = new Map<number, INodeExecutionData[]>();
	try {
		requireStableJournal(run.context);
		await recallEarlier(run, indexes, outputs);
		if (run.node.retryOnFail) run.hint(retryHint(operation));
		refuseTooMany(run, operation, indexes);
		const prepared = await prepareOthers(run, operation, indexes, outputs);
		await sendPrepared(run, operation, prepared, outputs);
	} catch (error) {
		// Without On Error = Continue, the error of an item; else one of the whole run, such as Max
		// Upgrades.
		if (!run.returnsFailures) throw withProgress(run, operation, error, indexes);
		fillMissingOutputs(outputs, indexes, error);
	}
	return indexes.flatMap((index) => outputs.get(index)!);
}

/**
 * Adds the outputs of items that an earlier attempt by Retry On Fail has carried out or may have,
 * and that must not be sent again: whatever fails now, they stay.
 */
async function recallEarlier(
	run: Run,
	indexes: number[],
	outputs: Map<number, INodeExecutionData[]>,
): Promise<void> {
	for (const index of indexes) {
		const entry = journalOf(run.context).recall(idInRun(run, index));
		if (entry) outputs.set(index, await pairedOutput(run, index, async () => [itemOf(entry)]));
	}
}

/** Prepares the items without an output. An item that is not valid fails. */
async function prepareOthers(
	run: Run,
	operation: WriteOperation,
	indexes: number[],
	outputs: Map<number, INodeExecutionData[]>,
): Promise<Map<number, PreparedWrite>> {
	const prepared = new Map<number, PreparedWrite>();
	for (const index of indexes.filter((one) => !outputs.has(one))) {
		try {
			prepared.set(index, await prepareUnrepeated(run, operation, index));
		} catch (error) {
			journalOf(run.context).recordUnsent(idInRun(run, index), error as Error);
			outputs.set(index, failedOutput(run, index, error));
		}
	}
	return prepared;
}

async function sendPrepared(
	run: Run,
	operation: WriteOperation,
	prepared: Map<number, PreparedWrite>,
	outputs: Map<number, INodeExecutionData[]>,
): Promise<void> {
	const pace = paceOf(run);
	for (const [index, write] of prepared) {
		await pace.next();
		const items = async () => [await writeOne(run, operation, index, write)];
		outputs.set(index, await pairedOutput(run, index, items));
	}
}

/** Returns what identifies an item's write within the run. */
function idInRun(run: Run, index: number): WriteId {
	return run.writeId ?? index;
}

/**
 * Writes one item, where n8n starts all items at once: after all earlier ones and, under On Error =
 * Stop, not after a failed one.
 * @throws NodeApiError or NodeOperationError; Failure
 */
export async function writeInTurn(
	run: Run,
	operation: WriteOperation,
	index: number,
): Promise<INodeExecutionData[]> {
	const journal = journalOf(run.context);
	return await journal.inTurn(async () => {
		if (!run.returnsFailures) journal.refuseAfterFailure(idInRun(run, index));
		return await writeAll(run, operation, [index]);
	});
}

/**
 * Carries out a write, or previews it, and keeps what became of it: a later attempt of the run must
 * not send it again.
 */
async function writeOne(
	run: Run,
	operation: WriteOperation,
	index: number,
	write: PreparedWrite,
): Promise<INodeExecutionData> {
	const { request, preview, sendOnceKey } = write;
	if (preview) {
		// An item that could not be sent fails in a preview, too.
		if (sendOnceKey) await claimsOf(run).requireUsableRows();
		return previewOf(operation, request);
	}
	const entry = sendOnceKey
		? await sendClaimed(run, operation, write, sendOnceKey)
		: await sendConfirmed(run, operation, write);
	journalOf(run.context).record(idInRun(run, index), entry);
	return itemOf(entry);
}

/** Sends a write unless its key was used before, in any execution of the workflow. */
async function sendClaimed(
	run: Run,
	operation: WriteOperation,
	write: PreparedWrite,
	sendOnceKey: string,
): Promise<Entry> {
	const claims = claimsOf(run);
	let claim: Claim | 'alreadySent';
	try {
		claim = await claims.claim(sendOnceKey, requestIdentity(operation.path, write.request));
	} catch (error) {
		return failedEntry(error);
	}
	if (claim === 'alreadySent') {
		const body = { alreadySent: true, sendOnceKey, outcome: 'applied', ...write.extras };
		return { outcome: 'applied', body };
	}
	const entry = await sendConfirmed(run, operation, write);
	// A failure to store it is a hint, and leaves the outcome as it is.
	await claims.settle(claim, entry.outcome);
	return entry;
}

/** Sends a write. Only a response that confirms it is a success. */
async function sendConfirmed(
	run: Run,
	operation: WriteOperation,
	{ request, output, extras }: PreparedWrite,
): Promise<Entry> {
	try {
		const { body } = await requestJson(run.context, request);
		refuseUnconfirmed(operation, request, body);
		const billed = operation.bills ? { billed: true } : {};
		return { outcome: 'applied', body, output, extras: { ...extras, ...billed } };
	} catch (error) {
		return failedEntry(error);
	}
}

/** @throws Failure if the response does not confirm the write, so that the outcome is unknown */
function refuseUnconfirmed(operation: WriteOperation, request: HttpRequest, body: JsonBody): void {
	const sent = request.body ?? {};
	const reason =
		whyUnconfirmed(body) ??
		// `whyUnconfirmed` has a reason for an array.
		operation.whyUnconfirmed?.(body as IDataObject, sent);
	if (reason === undefined) return;
	const details = `The response has the properties: ${shownNames(body)}.`;
	throw new Failure('write.unconfirmed', { reason }, { httpStatus: 200, details });
}

function claimsOf(run: Run): Claims {
	const { context, hint } = run;
	return (run.claims ??= new Claims(context, hint, context.getExecutionCancelSignal()));
}

/**
 * Prepares a write, and refuses one that repeats the purchase of another item.
 * @throws Failure; n8n's own errors
 */
async function prepareUnrepeated(
	run: Run,
	operation: WriteOperation,
	index: number,
): Promise<PreparedWrite> {
	const write = await prepareWrite(run, operation, index);
	const id = purchaseIdOf(run, write);
	if (id === undefined) return write;
	const firstItem = journalOf(run.context).registerPurchase(id, index);
	if (firstItem === index || write.purchase?.isRepeatAllowed) return write;
	throw new Failure('write.repeated', { firstItem });
}

/** Identifies what an item buys; undefined if nothing is bought, or if it may be bought again. */
function purchaseIdOf(run: Run, write: PreparedWrite): string | undefined {
	const { purchase, sendOnceKey, preview, request } = write;
	if (!purchase) return undefined;
	// Items with different keys are different purchases, and so is each call of a tool.
	if (sendOnceKey || isTool(run.node)) return undefined;
	// Not by the account: two private keys may belong to one customer of the service. Previews are
	// compared with each other.
	return JSON.stringify([request.credential.baseUrl, preview, purchase.id]);
}

/**
 * Refuses a run of too many items, most often a mistake in the workflow. Previews do not count.
 * @throws Failure
 */
function refuseTooMany(run: Run, operation: WriteOperation, indexes: number[]): void {
	const { maxItemsField } = operation;
	if (!maxItemsField) return;
	// The first item's limit counts for all.
	const most = parametersOf(run, operation, 0).wholeNumber(maxItemsField);
	if (indexes.length <= most) return;
	const isPreview = (index: number) => parametersOf(run, operation, index).flag('preview');
	const items = indexes.filter((index) => !isPreview(index)).length;
	if (items > most) throw new Failure('write.tooMany', { items, most });
}

function previewOf({ bills }: WriteOperation, request: HttpRequest): INodeExecutionData {
	const { method, path, body, credential } = request;
	const shown = { preview: true, ...(bills && { billed: false }), method, path, body };
	return toItem(hideSecrets(shown, credential.secrets));
}

/** @param error if it is no {@link Failure}, the outcome is unknown */
function failedEntry(error: unknown): Entry {
	const failure = toFailure(error).with({ isWrite: true });
	return { outcome: failure.outcome, failure };
}

/**
 * Makes the item of an applied write.
 * @throws the Failure of any other write, or one that says that it was applied
 */
function itemOf(entry: Entry): INodeExecutionData {
	if ('failure' in entry) throw entry.failure;
	const { body, output, extras } = entry;
	try {
		return output ? output.itemOf(body, extras) : toItem(body);
	} catch {
		// Whatever failed here, the service has carried it out.
		throw notShown();
	}
}

function notShown(): Failure {
	return new Failure('write.notShown', {}, { isWrite: true, outcome: 'applied' });
}
