import type { IDataObject } from 'n8n-workflow';

import { Failure } from './failure';
import { isObject } from './json';

/** The body of a successful answer, as received: an envelope, or whatever an open endpoint sends. */
export type AnswerBody = IDataObject | IDataObject[];

/** An HTTP answer of the service. */
export interface Answer {
	statusCode: number;
	/** Parsed where it was JSON, and a text where it was not. */
	body: unknown;
}

/** What the codes that the specification names mean (§7.2 and §7.3), and what to do about each. */
const KNOWN_CODES: Record<string, { meaning: string; hint: string; held?: boolean }> = {
	'plan-upgrade-1': {
		meaning: 'stripe error',
		hint: 'The payment provider reported a failure. Contact your account manager before you send this upgrade again.',
		held: true,
	},
	'plan-upgrade-2': {
		meaning: 'wrong plan ID',
		hint: 'Use the plan ID exactly as your account manager supplied it.',
	},
	'plan-upgrade-3': {
		meaning: 'unauthorized token',
		hint: "The credential's Private Key is not authorized, or plan upgrades are not arranged for your account: ask your account manager.",
	},
	'plan-upgrade-4': {
		meaning: 'token type error',
		hint: "The credential holds a token of another type, such as a user token. Put the private API key into the credential's Private Key field.",
	},
	'connect-01': {
		meaning: 'connect failed',
		hint: 'The service could not issue a token for this user. Check the request body, then contact your account manager with the code.',
	},
};

const CONTACT = 'If this keeps happening, contact your account manager.';

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
 * @param unconfirmed says why an answer that reports no error is still not the success asked for
 * @returns the body of a success
 * @throws Failure
 */
export function judge(
	answer: Answer,
	unconfirmed?: (body: AnswerBody) => string | undefined,
): AnswerBody {
	const { statusCode, body } = answer;
	if (isObject(body) && body.status === 'error') throw serviceFailure(body, statusCode);
	if (statusCode < 200 || statusCode >= 300) throw httpFailure(answer);
	if (!isObject(body) && !Array.isArray(body)) throw unreadable(body, statusCode);
	const reason = unconfirmed?.(body as AnswerBody);
	if (reason !== undefined) throw new Failure(reason, CONTACT, { httpStatus: statusCode });
	return body as AnswerBody;
}

/** An envelope with `status: "error"`. */
function serviceFailure(body: IDataObject, httpStatus: number): Failure {
	const given = toText(body.errorCode);
	// The connect operation wraps its code in a sentence (§2, rule 5).
	const code = /error code:\s*([^\s,]+)/i.exec(given)?.[1] ?? given;
	const known = Object.hasOwn(KNOWN_CODES, code) ? KNOWN_CODES[code] : undefined;
	const said = toText(body.errorMessage) || (given === code ? known?.meaning : given) || code;
	const words = said.includes(code) ? said : `${said} (${code})`;
	return new Failure(
		words
			? `The service answered: ${words}`
			: 'The service answered with an error and gave no reason',
		known?.hint ??
			`Check this item's parameters and the credential. ${CONTACT}${code ? ` Give them the code ${code}.` : ''}`,
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
function httpFailure({ statusCode, body }: Answer): Failure {
	const page = looksLikeHtml(body) ? ', with a web page in place of JSON' : '';
	const message = (words: string) => `${words} (HTTP ${statusCode}${page})`;
	const failure = (words: string, description: string) =>
		new Failure(message(words), description, {
			httpStatus: statusCode,
			mayHaveHappened: !TURNED_DOWN.includes(statusCode) || mayBeSuccess(body),
			transient: TRANSIENT.includes(statusCode),
		});
	if (statusCode < 400) {
		return failure(
			'The service redirected the request, which was not followed to keep the key safe',
			"Check the credential's Base URL: it is the final address of the service, with https:// and its version.",
		);
	}
	if (statusCode === 401 || statusCode === 403) {
		return failure(
			'The service did not accept the private key',
			"Check the credential's Private Key, and that it belongs to this Base URL.",
		);
	}
	if (statusCode === 404) {
		return failure(
			'The service has nothing at this address',
			"Check the ID, and the credential's Base URL, which ends in the service's version.",
		);
	}
	if (statusCode === 429) {
		return failure(
			'The service received too many requests',
			'Send fewer at a time, for example with Batching in Request Options, and try again later.',
		);
	}
	if (statusCode >= 500) {
		const words =
			statusCode === 500 ? 'The service had an internal error' : 'The service is not available';
		return failure(words, `Try again later. ${CONTACT}`);
	}
	return failure('The service rejected the request', `Check this item's parameters. ${CONTACT}`);
}

/** A 2xx answer whose body is not what the service sends. */
function unreadable(body: unknown, httpStatus: number): Failure {
	if (body === undefined || body === null || body === '') {
		return new Failure('The service sent an empty answer', `Try again later. ${CONTACT}`, {
			httpStatus,
		});
	}
	return new Failure(
		looksLikeHtml(body) ? 'A web page was received in place of JSON' : 'The answer is not JSON',
		"Check the credential's Base URL, and whether a proxy or a login page stands between n8n and the service.",
		{ httpStatus },
	);
}

/**
 * Whether a body contradicts a status that says no: it reports a success or holds a record, or may have
 * done so before it was cut.
 */
function mayBeSuccess(body: unknown): boolean {
	if (isObject(body)) return /^success$/i.test(String(body.status)) || isObject(body.data);
	return typeof body === 'string' ? /^\s*[[{"]|\0|"success"/.test(body) : body !== null;
}

function looksLikeHtml(body: unknown): boolean {
	return typeof body === 'string' && body.trimStart().startsWith('<');
}

function toText(value: unknown): string {
	const isText = typeof value === 'string' || typeof value === 'number';
	return isText ? String(value).trim() : '';
}
