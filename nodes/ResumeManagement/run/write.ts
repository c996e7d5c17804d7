import { type INodeExecutionData, NodeApiError, NodeOperationError } from 'n8n-workflow';

import { Failure, toNodeError } from '../../shared/failure';
import { isObject } from '../../shared/json';
import { shownNames } from '../../shared/names';
import { isTool } from '../../shared/parameters';
import { hideSecrets } from '../../shared/secrets';
import { normalizeEmail } from '../../shared/text';
import { isBlank, type JsonBody, reportsError } from '../http/judge';
import { requestJson } from '../http/request';
import type { HttpRequest } from '../http/send';
import { type Claim, Claims } from '../once/claims';
import { type Entry, journalOf, refuseUnguarded } from '../once/journal';
import type { WriteId } from '../once/writeId';
import type { WriteOperation } from '../operations/operation';
import { toItem } from '../responses/record';
import { parametersOf, prepareWrite, type PreparedWrite } from './prepare';
import { failedOutput, failOthers, paceOf, type Run, runItem } from './run';

/**
 * Writes all items, one after the other. All of them are prepared before the first is sent: under On Error = Stop, an invalid
 * item ends the run before any write.
 * @throws NodeApiError or NodeOperationError
 */
export async function writeAll(
	run: Run,
	operation: WriteOperation,
	indexes: number[],
): Promise<INodeExecutionData[]> {
	const outputs = new Map<number, INodeExecutionData[]>();
	const prepared = new Map<number, PreparedWrite>();
	try {
		refuseUnguarded(run.context);
		// An earlier attempt by Retry On Fail may have applied items. They come before anything that can fail in this attempt.
		const journal = journalOf(run.context);
		for (const index of indexes) {
			const entry = journal.recall(index);
			if (entry) outputs.set(index, await runItem(run, index, async () => [itemOf(entry)]));
		}

		if (run.node.retryOnFail) run.hint(retryHint(operation));
		refuseTooMany(run, operation, indexes);
		for (const index of indexes) {
			if (outputs.has(index)) continue;
			try {
				prepared.set(index, await prepareUnrepeated(run, operation, index));
			} catch (error) {
				outputs.set(index, failedOutput(run, index, error));
			}
		}

		const pace = paceOf(run);
		for (const [index, write] of prepared) {
			await pace.next();
			const items = runItem(run, index, async () => [
				await writeOnce(run, operation, index, write),
			]);
			outputs.set(index, await items);
		}
	} catch (error) {
		// Without On Error = Continue, the error of an item; else one of the whole run, such as Max Upgrades.
		if (!run.returnsFailures) throw withProgress(run, operation, error, indexes);
		failOthers(outputs, indexes, error);
	}
	return indexes.flatMap((index) => outputs.get(index)!);
}

/**
 * Writes one item, where n8n starts all items at once: after all earlier ones and, under On Error = Stop, not after a failed one.
 * @throws Failure; n8n's own errors
 */
export async function writeSingle(
	run: Run,
	operation: WriteOperation,
	index: number,
	id: WriteId,
): Promise<INodeExecutionData[]> {
	refuseUnguarded(run.context);
	const journal = journalOf(run.context);
	return await journal.inTurn(async () => {
		const entry = journal.recall(id);
		if (entry) return [itemOf(entry)];
		if (!run.returnsFailures) journal.refuseAfterFailure(id);
		const prepared = await prepareUnrepeated(run, operation, index).catch((failure: Error) => {
			// It stops the writes that n8n has started after it.
			journal.record(id, { outcome: 'refused', failure });
			throw failure;
		});
		return [await writeOnce(run, operation, id, prepared)];
	});
}

/** Carries out a write, or previews it, and keeps what became of it: a later attempt of the run must not send it again. */
async function writeOnce(
	run: Run,
	operation: WriteOperation,
	id: WriteId,
	write: PreparedWrite,
): Promise<INodeExecutionData> {
	const { request, preview, sendOnceKey } = write;
	if (preview) {
		// An item that could not be sent fails in a preview, too.
		if (sendOnceKey) await claimsOf(run).checkRows();
		return previewOf(operation, request);
	}
	const entry = sendOnceKey
		? await sendClaimed(run, operation, write, sendOnceKey)
		: await sendConfirmed(run, operation, write);
	journalOf(run.context).record(id, entry);
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
		claim = await claims.claim(sendOnceKey, requestIdentity(operation, write.request));
	} catch (error) {
		return failedEntry(error);
	}
	if (claim === 'alreadySent') {
		const body = { alreadySent: true, sendOnceKey, outcome: 'applied', ...write.beside };
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
	{ request, output, beside }: PreparedWrite,
): Promise<Entry> {
	try {
		const { body } = await requestJson(run.context, request);
		refuseUnconfirmed(operation, request, body);
		const billed = operation.bills ? { billed: true } : {};
		return { outcome: 'applied', body, output, beside: { ...beside, ...billed } };
	} catch (error) {
		return failedEntry(error);
	}
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
	if (!purchase) return prepared;
	// With a key, `Claims` decides: different keys are different purchases.
	if (sendOnceKey) return prepared;
	// Each call of a tool is a purchase of its own.
	if (isTool(run.node)) return prepared;
	// Not by the account: two private keys may belong to one customer of the service.
	const id = JSON.stringify([request.credential.baseUrl, purchase.id]);
	const firstItem = journalOf(run.context).recordPurchase(id, index);
	if (firstItem !== index && !purchase.isRepeatAllowed) {
		throw new Failure('write.repeated', { firstItem });
	}
	return prepared;
}

/** Refuses a run of too many items, most often a mistake in the workflow. Previews do not count. @throws Failure */
function refuseTooMany(run: Run, operation: WriteOperation, indexes: number[]): void {
	const { maxItemsField } = operation;
	if (!maxItemsField) return;
	// The first item's limit counts for all.
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
function requestIdentity(operation: WriteOperation, request: HttpRequest): unknown {
	const { method, path, query, body, credential } = request;
	const { baseUrl, account } = credential;
	const email = body?.email;
	// Addresses in other letters are one address.
	const compared = typeof email === 'string' ? { ...body, email: normalizeEmail(email) } : body;
	// With the operation's path: the success of a custom request, which its status alone confirms, is no confirmed upgrade.
	return { baseUrl, account, operation: operation.path, method, path, query, body: compared };
}

function previewOf({ bills }: WriteOperation, request: HttpRequest): INodeExecutionData {
	const { method, path, body, credential } = request;
	const shown = { preview: true, ...(bills && { billed: false }), method, path, body };
	return toItem(hideSecrets(shown, credential.secrets));
}

/**
 * The success of a write is confirmed, never assumed: by the status "success", which is always there (§2), and by what the operation
 * asked for. Without a confirmation, the outcome is unknown.
 * @throws Failure
 */
function refuseUnconfirmed(operation: WriteOperation, request: HttpRequest, body: JsonBody): void {
	const reason = whyUnconfirmed(operation, request, body);
	if (reason === undefined) return;
	const details = `The response has the properties: ${shownNames(body)}.`;
	throw new Failure('write.unconfirmed', { reason }, { httpStatus: 200, details });
}

function whyUnconfirmed(
	operation: WriteOperation,
	request: HttpRequest,
	body: JsonBody,
): string | undefined {
	if (!isObject(body) || body.status === undefined) return 'it has no status';
	const { status, data } = body;
	if (status !== 'success') return `its status is ${JSON.stringify(status).slice(0, 200)}`;
	const [ofData, ofBody] = [errorIn(data), errorIn(body)];
	if (ofData !== undefined) return `its data reports an error: ${ofData.slice(0, 200)}`;
	if (ofBody !== undefined) return `it reports an error, too: ${ofBody.slice(0, 200)}`;
	return operation.confirmationProblem?.(body, request.body ?? {});
}

/** Properties of a response that report an error, beside a success or in its `data`, as services that use Stripe send them. */
const ERRORS = ['error', 'errors', 'errorMessage', 'error_message', 'errorCode', 'error_code'];

/** Returns the error that an object has under such a name, as JSON, or its status; undefined if there is none. */
function errorIn(value: unknown): string | undefined {
	if (!isObject(value)) return undefined;
	const error = ERRORS.map((name) => value[name]).find((one) => !isBlank(one));
	if (error !== undefined) return JSON.stringify(error);
	return reportsError(value) ? JSON.stringify(value.status) : undefined;
}

/** @param error if it is no {@link Failure}, the outcome is unknown */
function failedEntry(error: unknown): Entry {
	const known = error instanceof Failure ? error : new Failure('node.unexpected');
	const failure = known.with({ isWrite: true });
	return { outcome: failure.outcome, failure };
}

/** Makes the item of an applied write. @throws the Failure of any other write, or one that says that it was applied */
function itemOf(entry: Entry): INodeExecutionData {
	if ('failure' in entry) throw entry.failure;
	const { body, output, beside } = entry;
	try {
		return output ? output.itemOf(body, beside) : toItem(body);
	} catch {
		// Whatever failed here, the service has carried it out.
		throw notShown();
	}
}

function notShown(): Failure {
	return new Failure('write.notShown', {}, { isWrite: true, outcome: 'applied' });
}

/** A hint of the run, because a notice in the node's description can't depend on this setting. */
function retryHint(operation: WriteOperation): string {
	return `Retry On Fail is on. It never sends an item again that succeeded or may have. Another round of a loop does, and so does a new execution, also one that is started with Retry in the list of executions${unlessKeyed(operation)}.`;
}

function unlessKeyed({ fields }: WriteOperation): string {
	return fields.some(({ name }) => name === 'sendOnceKey') ? ', unless Send Once Key is set' : '';
}

/** Returns the error that ends the run, with the writes that were carried out before. */
function withProgress(
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
