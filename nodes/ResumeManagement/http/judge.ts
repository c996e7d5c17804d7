import type { IDataObject } from 'n8n-workflow';

import { Failure, type FailureId, type Outcome } from '../../shared/failure';
import { isObject, shownNames, valuesNamed } from '../../shared/json';

/**
 * Body of a successful response: an envelope, or any JSON of an endpoint whose response the
 * specification does not show.
 */
export type JsonBody = IDataObject | IDataObject[];

/** A response of the service that was read. */
export interface ParsedResponse {
	statusCode: number;
	headers: IDataObject;
	/** Parsed if it was JSON, else its text; without secrets. */
	body: unknown;
	/** Only the start of the body was read. */
	isTruncated?: boolean;
}

/**
 * Codes that the specification names (§7.2 and §7.3); `meaning` is shown if the response has only
 * the code.
 */
const KNOWN_CODES = new Map<string, { id: FailureId; meaning: string; isHeld?: true }>([
	['plan-upgrade-1', { id: 'service.paymentFailed', meaning: 'stripe error', isHeld: true }],
	['plan-upgrade-2', { id: 'service.wrongPlan', meaning: 'wrong plan ID' }],
	['plan-upgrade-3', { id: 'service.unauthorized', meaning: 'unauthorized token' }],
	['plan-upgrade-4', { id: 'service.wrongTokenType', meaning: 'token type error' }],
	['connect-01', { id: 'service.connectFailed', meaning: '' }],
]);

/** HTTP statuses of a service, or a gateway, that has too much to do. */
const BUSY = [429, 502, 503, 504];

/** HTTP statuses after which the same request may succeed. */
export const TRANSIENT = [...BUSY, 500];

/** Characters of the service's code and text that an error shows. */
const MAX_CODE_LENGTH = 200;
const MAX_TEXT_LENGTH = 1_000;

/** Characters of a response that an error shows. */
const MAX_EXCERPT_LENGTH = 200;

/**
 * Decides whether a response is a success: by its body first, because errors come with HTTP 200
 * too, then by its status, which is 200 for each success (§7.1). Unknown properties are kept (§9).
 * A write needs a confirmation, too: {@link whyUnconfirmed}.
 * @returns the body of a success
 * @throws Failure
 */
export function judge(response: ParsedResponse): JsonBody {
	const { statusCode, body } = response;
	if (reportsError(body) && (statusCode === 200 || hasReason(body))) {
		throw serviceFailure(body, response);
	}
	if (statusCode !== 200) throw httpFailure(response);
	if (!isObject(body) && !Array.isArray(body)) throw unreadable(body);
	return body as JsonBody;
}

/**
 * Checks whether a body reports an error: by its status, in lower or upper case, or by a code
 * alone. `fail` is that of JSend, and `success: false`, in place of a status, that of other
 * services.
 */
export function reportsError(body: unknown): body is IDataObject {
	if (!isObject(body)) return false;
	const hasErrorStatus =
		body.status === undefined ? body.success === false : ['error', 'fail'].includes(statusOf(body));
	return hasErrorStatus || !isNoError(body.errorCode);
}

/** Checks whether an error has a reason. Without one, its HTTP status says more. */
function hasReason({ errorCode, errorMessage }: IDataObject): boolean {
	return !isNoError(errorCode) || !isNoError(errorMessage);
}

/**
 * Checks whether a value under the name of an error reports none: `null`, `0`, `00`, and lists and
 * objects of such values.
 */
export function isNoError(value: unknown): boolean {
	if (typeof value === 'object' && value !== null) return Object.values(value).every(isNoError);
	return !value || /^(0+|false)$/.test(String(value));
}

/**
 * Returns why a success does not confirm that something was done; undefined if it does. A write is
 * confirmed, never assumed: by the status "success", which is always there (§2), and by no error
 * beside it or in its `data`.
 */
export function whyUnconfirmed(body: JsonBody): string | undefined {
	if (!isObject(body)) return 'it has no status';
	const { status, data } = body;
	const error = errorIn(body);
	if (status === undefined) {
		return error === undefined ? 'it has no status' : `it has no status, and an error: ${error}`;
	}
	if (status !== 'success')
		return `its status is ${JSON.stringify(status).slice(0, MAX_CODE_LENGTH)}`;
	const errorInData = errorIn(data);
	if (errorInData !== undefined) return `its data reports an error: ${errorInData}`;
	return error === undefined ? undefined : `it reports an error, too: ${error}`;
}

/**
 * Properties that report an error in a success, as services that use Stripe send them, in the form
 * of `normalizeName`.
 */
const ERRORS = ['error', 'errors', 'errormessage', 'errorcode'];

/**
 * Returns the error that an object has under such a name, or its status, as JSON; undefined if
 * there is none.
 */
function errorIn(value: unknown): string | undefined {
	if (!isObject(value)) return undefined;
	const error = valuesNamed(value, ERRORS).find((one) => !isNoError(one));
	if (error === undefined && !reportsError(value)) return undefined;
	const { status, success } = value;
	return JSON.stringify(error ?? { status, success }).slice(0, MAX_CODE_LENGTH);
}

/**
 * HTTP statuses of a gateway, or its client (499), that waited too long. The service may still
 * work.
 */
const STOPPED_WAITING = [408, 499];

/**
 * Checks whether a failed response proves that nothing was done. The first rule that applies
 * decides.
 */
function isRefusal({ statusCode, body, isTruncated }: ParsedResponse): boolean {
	// What was not read may have the status "success".
	const isCutOff = isTruncated || (typeof body === 'string' && /^\s*[{[]/.test(body));
	if (isCutOff || statusOf(body) === 'success') return false;
	// Exactly as the specification spells it (§2).
	if (statusCode === 200) return isObject(body) && body.status === 'error';
	if (STOPPED_WAITING.includes(statusCode)) return false;
	// Not HTTP 500, which is the service's own failure (§7.1), and no redirect.
	return statusCode >= 400 && statusCode < 500;
}

/** Returns the envelope's status in lower case; '' if there is none. */
function statusOf(body: unknown): string {
	return isObject(body) ? toText(body.status, MAX_CODE_LENGTH).toLowerCase() : '';
}

function factsOf(response: ParsedResponse) {
	const { statusCode: httpStatus, headers } = response;
	return {
		httpStatus,
		transient: TRANSIENT.includes(httpStatus),
		outcome: outcomeOf(response),
		retryAfter: retryAfterOf(headers),
	};
}

/** Returns the outcome of a write that failed with this response. */
function outcomeOf(response: ParsedResponse): Outcome {
	if (!isRefusal(response)) return 'unknown';
	const known = KNOWN_CODES.get(codeOf(response.body).toLowerCase());
	return known?.isHeld ? 'held' : 'refused';
}

/**
 * Returns the milliseconds that a Retry-After header asks for, in seconds or as a date (RFC 9110,
 * §10.2.3).
 */
export function retryAfterOf(headers: IDataObject): number | undefined {
	const value = String(headers['retry-after'] ?? '').trim();
	if (value === '') return undefined;
	const seconds = Number(value);
	// A date is counted from the service's own clock, which may differ from this one.
	const milliseconds = Number.isNaN(seconds)
		? Date.parse(value) - (Date.parse(String(headers.date)) || Date.now())
		: seconds * 1000;
	return milliseconds > 0 && Number.isFinite(milliseconds) ? milliseconds : undefined;
}

/**
 * Returns the failure that a body reports, in the service's words:
 *
 * - `{ errorCode: 'plan-upgrade-2', errorMessage: 'no such plan' }` gives "no such plan
 *   (plan-upgrade-2)".
 * - `{ errorCode: 'plan-upgrade-2' }` gives its meaning in the specification: "wrong plan ID
 *   (plan-upgrade-2)".
 * - `{ errorCode: 'failed with error code: connect-01' }` gives this sentence. Its code is
 *   `connect-01`.
 */
function serviceFailure(body: IDataObject, response: ParsedResponse): Failure {
	const errorCode = toText(body.errorCode, MAX_TEXT_LENGTH);
	const errorMessage = toSentence(body.errorMessage);
	const code = codeOf(body);
	const known = KNOWN_CODES.get(code.toLowerCase());
	const isSentence = errorCode !== '' && errorCode !== code;
	const meaning = isSentence ? '' : known?.meaning;
	const text = errorMessage || meaning || errorCode;
	const values = {
		reported: withCode(text, code) || 'an error, without errorCode and errorMessage',
	};
	// The reason may stand under a name that the specification does not have.
	const details = text
		? ''
		: excerptOf(body) || `The response has the properties: ${shownNames(body)}.`;
	const isBusy = BUSY.includes(response.statusCode);
	return new Failure(known?.id ?? (isBusy ? 'service.busy' : 'service.error'), values, {
		...factsOf(response),
		code: code || undefined,
		details,
	});
}

/**
 * Returns the code that a body reports: that of its `errorCode`, else a known one anywhere in it,
 * such as in `{ error: { code } }`; '' if there is none.
 */
function codeOf(body: unknown): string {
	const errorCode = isObject(body) ? toText(body.errorCode, MAX_TEXT_LENGTH) : '';
	if (errorCode !== '') return codeIn(errorCode);
	// Without the escapes of JSON, such as that of a line break.
	return knownCodeIn(JSON.stringify(body ?? '').replace(/\\./g, ' ')) ?? '';
}

/**
 * Returns a known code within the text; else the code in the sentence of the connect operation (§2,
 * rule 5); else the text.
 */
function codeIn(given: string): string {
	const inSentence = /error code:\s*([^\s,]+)/i.exec(given)?.[1];
	return (knownCodeIn(given) ?? inSentence ?? given).slice(0, MAX_CODE_LENGTH);
}

function knownCodeIn(text: string): string | undefined {
	return text.split(/[^\w-]+/).find((word) => KNOWN_CODES.has(word.toLowerCase()));
}

/**
 * Adds the code to a text that does not name it. As in n8n's own messages, there is no period at
 * the end.
 */
function withCode(text: string, code: string): string {
	const sentence = text.replace(/(?<!\.)\.$/, '');
	const words = sentence.toLowerCase().split(/[^\w-]+/);
	return code === '' || words.includes(code.toLowerCase()) ? sentence : `${sentence} (${code})`;
}

/** Returns the failure for a response with another status than 200, whose body reports no error. */
function httpFailure(response: ParsedResponse): Failure {
	const { statusCode: status, body } = response;
	const page = looksLikeHtml(body) ? ', with a web page' : '';
	const details = status >= 400 && page === '' ? excerptOf(body) : '';
	return new Failure(idOfStatus(status), { status, page }, { ...factsOf(response), details });
}

/**
 * Signs that a body may hold a user token: its name before a value, the status of a token that was
 * issued, or the start of a JWT.
 */
const MAY_HOLD_TOKEN = /token["']?\s*[:=>]|success(?!["']?\s*[:=]\s*["']?false)|eyJ/i;

/**
 * Returns a sentence with the start of a body; '' if the body is empty, or may hold a user token.
 */
function excerptOf(body: unknown): string {
	const text = typeof body === 'string' ? body.trim() : JSON.stringify(body);
	if (['', '{}', '[]'].includes(text) || MAY_HOLD_TOKEN.test(text) || isBinary(text)) return '';
	return `The response began: ${text.slice(0, MAX_EXCERPT_LENGTH)}`;
}

function isBinary(text: string): boolean {
	return /(?![\t\r\n])\p{Cc}|\ufffd/u.test(text);
}

function idOfStatus(statusCode: number): FailureId {
	if (statusCode < 300 || statusCode === 304) return 'service.unexpectedStatus';
	if (statusCode < 400) return 'service.redirect';
	if (statusCode === 401 || statusCode === 403) return 'service.keyRefused';
	if (statusCode === 404) return 'service.notFound';
	// Only a proxy sends it (RFC 9110, §15.5.8).
	if (statusCode === 407) return 'network.proxyRefused';
	if (statusCode === 429) return 'service.tooManyRequests';
	if (STOPPED_WAITING.includes(statusCode)) return 'service.unavailable';
	if (statusCode === 500) return 'service.internalError';
	return statusCode > 500 ? 'service.unavailable' : 'service.rejected';
}

/** Returns the failure for HTTP 200 with a body that is not JSON. */
function unreadable(body: unknown): Failure {
	const isEmpty = body === undefined || body === null || body === '';
	const id = looksLikeHtml(body) ? 'response.webPage' : 'response.notJson';
	return new Failure(isEmpty ? 'response.empty' : id, {}, { httpStatus: 200 });
}

/**
 * Characters at the start of a page that may name HTML. A page that names it later is taken for
 * other markup, such as XML.
 */
const HTML_WITHIN = 2_000;

function looksLikeHtml(body: unknown): boolean {
	if (typeof body !== 'string') return false;
	const start = body.trimStart().slice(0, HTML_WITHIN);
	return start.startsWith('<') && /<(!doctype\s+html|html)\b/i.test(start);
}

/**
 * Returns a message as a text. Some services send a list of sentences, or one for each language.
 */
function toSentence(message: unknown): string {
	const isText = typeof message !== 'object' || message === null;
	return toText(isText ? message : JSON.stringify(message), MAX_TEXT_LENGTH);
}

function toText(value: unknown, longest: number): string {
	const isText = typeof value === 'string' || typeof value === 'number';
	return isText ? String(value).trim().slice(0, longest) : '';
}
