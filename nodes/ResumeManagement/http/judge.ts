import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../../shared/json';
import { Failure, type FailureId } from './failure';

/** The body of a successful answer, as received: an envelope, or whatever an open endpoint sends. */
export type AnswerBody = IDataObject | IDataObject[];

/** Says why an answer with HTTP 2xx and without an error is still not the success that was asked for. */
export type Unconfirmed = (body: AnswerBody, httpStatus: number) => string | undefined;

/** An HTTP answer of the service. */
export interface HttpAnswer {
	statusCode: number;
	/** Parsed where it was JSON, and a text where it was not. */
	body: unknown;
}

/** What the codes that the specification names mean (§7.2 and §7.3). */
const KNOWN_CODES = new Map<string, { id: FailureId; meaning: string; held?: boolean }>([
	['plan-upgrade-1', { id: 'service.paymentFailed', meaning: 'stripe error', held: true }],
	['plan-upgrade-2', { id: 'service.wrongPlan', meaning: 'wrong plan ID' }],
	['plan-upgrade-3', { id: 'service.unauthorized', meaning: 'unauthorized token' }],
	['plan-upgrade-4', { id: 'service.wrongTokenType', meaning: 'token type error' }],
	['connect-01', { id: 'service.connectFailed', meaning: 'connect failed' }],
]);

/** HTTP statuses after which the same request may succeed. */
export const TRANSIENT = [429, 500, 502, 503, 504];

/**
 * HTTP statuses that say that the request itself was turned down (RFC 9110 and 6585), so the service
 * did nothing. After any other one it may have, such as a redirect or a 408 of a gateway; a 500 is
 * the service's own failure, which its body does not undo (§7.1).
 */
const TURNED_DOWN = [
	400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 417, 421, 422, 426,
	428, 429, 431, 451,
];

/**
 * Decides whether an answer is a success: its body first, its HTTP status second, as errors come
 * with HTTP 200 too (§7.1). Properties that nobody knows are kept (§9).
 * @param unconfirmed of a write
 * @returns the body of a success
 * @throws Failure
 */
export function judge(answer: HttpAnswer, unconfirmed?: Unconfirmed): AnswerBody {
	const { statusCode, body } = answer;
	if (reportsError(body)) {
		const failure = serviceFailure(body, statusCode);
		// With HTTP 2xx, only what the specification calls an error proves that nothing was done.
		const isProof = body.status === 'error' || (statusCode >= 300 && !mayBeSuccess(body));
		throw isProof ? failure : failure.with({ mayHaveHappened: true });
	}
	if (statusCode < 200 || statusCode >= 300) throw httpFailure(answer);
	if (!isObject(body) && !Array.isArray(body)) throw unreadable(body, statusCode);
	const reason = unconfirmed?.(body as AnswerBody, statusCode);
	if (reason === undefined) return body as AnswerBody;
	throw new Failure('write.unconfirmed', { reason }, { httpStatus: statusCode });
}

/** What an answer must say before a write counts as done, whatever was asked for (§2: `status` is always there). */
export function unconfirmedByStatus(body: AnswerBody): string | undefined {
	const status = isObject(body) ? body.status : undefined;
	if (status === 'success') return undefined;
	return typeof status === 'string' && status !== ''
		? `its status is "${status.slice(0, 50)}"`
		: 'it has no status';
}

/** What a service may write for an error code where there is none. */
const NO_ERROR = ['', '0', 'false'];

/** Whether a body says that something failed, in whatever case of letters, or by a code alone. */
export function reportsError(body: unknown): body is IDataObject {
	if (!isObject(body)) return false;
	return /^error$/i.test(toText(body.status)) || !NO_ERROR.includes(String(body.errorCode ?? ''));
}

/** An envelope that reports an error. */
function serviceFailure(body: IDataObject, httpStatus: number): Failure {
	const given = toText(body.errorCode);
	// The connect operation wraps its code in a sentence (§2, rule 5).
	const code = /error code:\s*([^\s,]+)/i.exec(given)?.[1] ?? given;
	const known = KNOWN_CODES.get(code.toLowerCase());
	const said = toText(body.errorMessage) || (given === code ? known?.meaning : given) || code;
	const words = said.includes(code) ? said : `${said} (${code})`;
	const id = known?.id ?? (words ? 'service.error' : 'service.errorWithoutReason');
	return new Failure(
		id,
		{ words, code: code && ` Give them the code ${code}.` },
		{
			code: code || undefined,
			httpStatus,
			mayHaveHappened: !(httpStatus < 300 || TURNED_DOWN.includes(httpStatus)),
			transient: TRANSIENT.includes(httpStatus),
			held: known?.held,
		},
	);
}

/** A redirect or an HTTP error that carries no envelope. */
function httpFailure({ statusCode, body }: HttpAnswer): Failure {
	const page = looksLikeHtml(body) ? ', with a web page in place of JSON' : '';
	return new Failure(
		idOfStatus(statusCode),
		{ status: statusCode, page },
		{
			httpStatus: statusCode,
			mayHaveHappened: !TURNED_DOWN.includes(statusCode) || mayBeSuccess(body),
			transient: TRANSIENT.includes(statusCode),
		},
	);
}

function idOfStatus(statusCode: number): FailureId {
	if (statusCode < 400) return 'service.redirect';
	if (statusCode === 401 || statusCode === 403) return 'service.keyRefused';
	if (statusCode === 404) return 'service.notFound';
	// Only a proxy answers so (RFC 9110, §15.5.8).
	if (statusCode === 407) return 'network.proxyRefused';
	if (statusCode === 429) return 'service.tooManyRequests';
	if (statusCode === 500) return 'service.internalError';
	return statusCode > 500 ? 'service.unavailable' : 'service.rejected';
}

/** A 2xx answer whose body is not what the service sends. */
function unreadable(body: unknown, httpStatus: number): Failure {
	const isEmpty = body === undefined || body === null || body === '';
	const words = looksLikeHtml(body) ? 'answer.webPage' : 'answer.notJson';
	return new Failure(isEmpty ? 'answer.empty' : words, {}, { httpStatus });
}

/**
 * Whether a body contradicts the status of a refusal: it reports a success or holds a record, or may have
 * done so before it was cut.
 */
function mayBeSuccess(body: unknown): boolean {
	if (isObject(body)) {
		const values = Object.entries(body).filter(([name]) => !/^(error|detail)s?$/i.test(name));
		const isRecord = values.some(([, value]) => value === true || isObject(value));
		return isRecord || /^success$/i.test(String(body.status));
	}
	return typeof body === 'string' ? /^\s*[[{"]|\0|"success"/.test(body) : body !== null;
}

export function looksLikeHtml(body: unknown): boolean {
	return typeof body === 'string' && /^\s{0,1000}</.test(body);
}

function toText(value: unknown): string {
	const isText = typeof value === 'string' || typeof value === 'number';
	return isText ? String(value).trim() : '';
}
