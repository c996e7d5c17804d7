import type { Failure } from './failure';

interface Cause {
	pattern: RegExp;
	unanswered: 'notSent' | 'maybeSent';
	permanent?: boolean;
	/** With `$` where the host's name goes. */
	message: string;
	description: string;
}

/** Codes of Node.js (its documentation of `Error` and `tls`) and axios, the most telling first. */
const CAUSES: Cause[] = [
	{
		pattern: /^(ENOTFOUND|EAI_)/,
		unanswered: 'notSent',
		message: 'The host name of $ is not known',
		description: "Check the host in the credential's Base URL, and n8n's DNS.",
	},
	{
		pattern: /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/,
		unanswered: 'notSent',
		message: 'Could not connect to $',
		description: "Check the credential's Base URL, and that n8n may connect to it.",
	},
	{
		pattern: /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|EPROTO|ERR_SSL/,
		unanswered: 'notSent',
		permanent: true,
		message: 'No secure connection to $ could be made',
		description:
			"The service's certificate was not accepted, or it does not speak TLS. Check the credential's Base URL.",
	},
	{
		pattern: /^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/,
		unanswered: 'maybeSent',
		message: 'No answer from $ in time',
		description:
			'Try again later, or set a longer Timeout in Request Options. Frequent timeouts are a matter for your account manager.',
	},
	{
		pattern: /^(HPE_|Z_)/,
		unanswered: 'maybeSent',
		message: 'The answer of $ could not be read',
		description:
			'What arrived is not valid HTTP or badly compressed. Check for a proxy between n8n and the service, and try again later.',
	},
];

const LOST: Omit<Cause, 'pattern'> = {
	unanswered: 'maybeSent',
	message: 'The connection to $ was lost before the answer was complete',
	description: 'Try again later. If it goes on, contact your account manager.',
};

/**
 * The failure behind what n8n's HTTP helper threw, told by its code alone: its text may hold headers.
 * @param host what was to answer
 */
export function transportFailure(error: unknown, host = 'the service'): Failure {
	const code = codeOf(error);
	const cause = CAUSES.find(({ pattern }) => pattern.test(code)) ?? LOST;
	return {
		message: cause.message.replace('$', host),
		// Not in the message: n8n rewords each message that holds such a code, and would tell the user
		// of a lost upgrade to send it again (n8n-workflow/src/errors/abstract/node.error.ts).
		description: cause.description + (code && ` (${code})`),
		code: code || undefined,
		unanswered: cause.unanswered,
		permanent: cause.permanent,
	};
}

/**
 * The error's own code, or that of the axios error which n8n's NodeApiError holds. `httpCode` is it
 * too, unless an answer had begun: then it is that answer's status.
 */
function codeOf(error: unknown): string {
	const { code, errorResponse, cause, httpCode } = error as Record<string, unknown>;
	const codes = [code, (errorResponse as Coded)?.code, (cause as Coded)?.code, httpCode];
	return codes.map(String).find((candidate) => /^[A-Z]/.test(candidate)) ?? '';
}

type Coded = { code?: unknown } | undefined;
