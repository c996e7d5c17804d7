import type { IDataObject } from 'n8n-workflow';

import type { Failure } from './failure';
import { isObject } from './isObject';
import type { AnswerBody, Operation } from './operation';

/** An HTTP answer of the service, its body parsed where it was JSON and a text where it was not. */
export interface Answer {
	statusCode: number;
	body: unknown;
}

export type Verdict = { body: AnswerBody } | { failure: Failure };

/** What the codes that the specification names mean (§7.2 and §7.3), and what to do about each. */
const KNOWN_CODES: Record<string, { meaning: string; hint: string }> = {
	'plan-upgrade-1': {
		meaning: 'stripe error',
		hint: 'The payment provider reported a failure. Contact your account manager before you send this upgrade again.',
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

const CONTACT = 'If it goes on, contact your account manager.';

/**
 * Decides whether an answer is a success: its body first, its HTTP status second, as errors come
 * with HTTP 200 too (§7.1). Properties that nobody knows are kept (§9).
 */
export function judge(answer: Answer, operation: Operation): Verdict {
	const { statusCode, body } = answer;
	if (isObject(body) && body.status === 'error') {
		return { failure: serviceFailure(body, statusCode) };
	}
	if (statusCode >= 300) return { failure: httpFailure(answer) };
	if (!isObject(body) && !Array.isArray(body)) {
		return { failure: { ...unreadable(body), httpStatus: statusCode, inconclusive: true } };
	}
	const reason = operation.unconfirmed?.(body as AnswerBody);
	if (reason !== undefined) {
		return {
			failure: {
				message: reason,
				description: CONTACT,
				httpStatus: statusCode,
				inconclusive: true,
			},
		};
	}
	return { body: body as AnswerBody };
}

/** An envelope with `status: "error"`. */
function serviceFailure(body: IDataObject, httpStatus: number): Failure {
	const given = toText(body.errorCode);
	// The connect operation wraps its code in a sentence (§2, rule 5).
	const code = /error code:\s*([^\s,]+)/i.exec(given)?.[1] ?? given;
	const known = Object.hasOwn(KNOWN_CODES, code) ? KNOWN_CODES[code] : undefined;
	const said = toText(body.errorMessage) || (given === code ? known?.meaning : given) || code;
	const words = said.includes(code) ? said : `${said} (${code})`;
	return {
		message: words
			? `The service answered: ${words}`
			: 'The service answered with an error and gave no reason',
		description:
			known?.hint ??
			`Check this item's parameters and the credential. ${CONTACT}${code ? ` Give them the code ${code}.` : ''}`,
		code: code || undefined,
		httpStatus,
	};
}

/** A redirect or an HTTP error that carries no envelope. */
function httpFailure({ statusCode, body }: Answer): Failure {
	const page = looksLikeHtml(body) ? ', with a web page in place of JSON' : '';
	const message = (words: string) => `${words} (HTTP ${statusCode}${page})`;
	const failure = (words: string, description: string) => ({
		message: message(words),
		description,
		httpStatus: statusCode,
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
		return { ...failure(words, `Try again later. ${CONTACT}`), inconclusive: true };
	}
	return failure('The service rejected the request', `Check this item's parameters. ${CONTACT}`);
}

/** A 2xx answer whose body is not what the service sends. */
function unreadable(body: unknown): Failure {
	if (body === undefined || body === null || body === '') {
		return {
			message: 'The service sent an empty answer',
			description: `Try again later. ${CONTACT}`,
		};
	}
	return {
		message: looksLikeHtml(body)
			? 'A web page was received in place of JSON'
			: 'The answer is not JSON',
		description:
			"Check the credential's Base URL, and whether a proxy or a login page stands between n8n and the service.",
	};
}

function looksLikeHtml(body: unknown): boolean {
	return typeof body === 'string' && body.trimStart().startsWith('<');
}

function toText(value: unknown): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
}
