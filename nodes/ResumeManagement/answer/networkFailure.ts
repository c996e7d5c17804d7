import { Failure } from './failure';

interface Words {
	pattern: RegExp;
	/** With `$` where the host's name goes. */
	message: string;
	description: string;
	/** Whether it helps to send the same request again. */
	transient: boolean;
}

/** What codes of Node.js (its documentation of `Error` and `tls`), axios and n8n mean to a user. */
const WORDS: Words[] = [
	{
		pattern: /^(ENOTFOUND|EAI_)/,
		message: 'The host name of $ is not known',
		description: "Check the host in the credential's Base URL, and n8n's DNS.",
		transient: true,
	},
	{
		pattern: /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/,
		message: 'Could not connect to $',
		description:
			"Check the credential's Base URL and the proxy, if there is one, and that n8n may connect to them.",
		transient: true,
	},
	{
		pattern: /^(ERR_INVALID_URL|ERR_SOCKET_BAD_PORT|ERR_UNESCAPED_CHARACTERS)$/,
		message: "The address of $ can't be used",
		description: "Check the credential's Base URL: its host, and its port from 1 to 65535.",
		transient: false,
	},
	{
		pattern: /^SsrfBlocked/,
		message: 'n8n does not allow connections to $',
		description:
			"n8n's SSRF protection refuses this address. If it is right, have an administrator of n8n add it to N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.",
		transient: false,
	},
	{
		pattern: /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|EPROTO|ERR_SSL/,
		message: 'No secure connection to $ could be made',
		description:
			"The service's certificate was not accepted, or it does not speak TLS. Check the credential's Base URL.",
		transient: false,
	},
	{
		pattern: /^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/,
		message: 'No answer from $ in time',
		description:
			'Try again later, or set a longer Timeout in Request Options. If it happens often, ask your account manager.',
		transient: true,
	},
	{
		pattern: /^(HPE_|Z_)/,
		message: 'The answer of $ could not be read',
		description:
			'What arrived is not valid HTTP or badly compressed. Check for a proxy between n8n and the service, and try again later.',
		transient: true,
	},
	{
		pattern: /^ERR_CANCELED$/,
		message: 'The execution was cancelled before $ had answered',
		description: 'Run it again if it was not meant to be cancelled.',
		transient: false,
	},
];

const LOST: Omit<Words, 'pattern'> = {
	message: 'The connection to $ was lost before the answer was complete',
	description: 'Try again later. If this keeps happening, contact your account manager.',
	transient: true,
};

/**
 * Codes that only looking up a name, connecting, checking a certificate or reading an address ends
 * in: each of these comes before the request leaves. n8n 1 hands on the code of an error and nothing
 * else, so there they are the only proof. Codes of certificates are those of OpenSSL's verification
 * (Node.js, "X509 certificate error codes") and of the host name's.
 */
const CODES_BEFORE_SENDING = new Set([
	'ENOTFOUND',
	'EAI_AGAIN',
	'EAI_FAIL',
	'EAI_NODATA',
	'EAI_NONAME',
	'ECONNREFUSED',
	'ERR_INVALID_URL',
	'ERR_SOCKET_BAD_PORT',
	'ERR_UNESCAPED_CHARACTERS',
	'ERR_TLS_CERT_ALTNAME_INVALID',
	'CERT_CHAIN_TOO_LONG',
	'CERT_HAS_EXPIRED',
	'CERT_NOT_YET_VALID',
	'CERT_REJECTED',
	'CERT_REVOKED',
	'CERT_SIGNATURE_FAILURE',
	'CERT_UNTRUSTED',
	'DEPTH_ZERO_SELF_SIGNED_CERT',
	'HOSTNAME_MISMATCH',
	'INVALID_CA',
	'INVALID_PURPOSE',
	'PATH_LENGTH_EXCEEDED',
	'SELF_SIGNED_CERT_IN_CHAIN',
	'UNABLE_TO_GET_ISSUER_CERT',
	'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
	'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** System calls that come before a connection is there to send on. */
const CALLS_BEFORE_SENDING = ['getaddrinfo', 'connect'];

/**
 * The failure behind what n8n's HTTP helper or the stream of an answer threw, told by its code alone:
 * its text may hold headers.
 * @param signal of the request
 * @param host what was to answer
 */
export function networkFailure(
	error: unknown,
	signal?: AbortSignal,
	host = 'the service',
): Failure {
	const causes = causesOf(error);
	const code = signal?.aborted ? codeOfEnd(signal) : codeOf(causes);
	const words = WORDS.find(({ pattern }) => pattern.test(code)) ?? LOST;
	return new Failure(
		words.message.replace('$', host),
		// Not in the message: n8n rewords each message that holds such a code, and would tell the user
		// of a lost upgrade to send it again (n8n-workflow/src/errors/abstract/node.error.ts).
		words.description + (code && ` (${code})`),
		{
			code: code || undefined,
			transient: words.transient,
			mayHaveHappened: !causes.some(isBeforeSending),
		},
	);
}

/** What an error of Node.js, axios or n8n may carry. */
interface Cause {
	name?: unknown;
	code?: unknown;
	/** Of n8n's NodeApiError: the code of its cause, unless an answer had begun: then its status. */
	httpCode?: unknown;
	syscall?: unknown;
	cause?: unknown;
	/** One for each address that was tried (Node.js's AggregateError). */
	errors?: unknown;
	/** Of axios: Node's ClientRequest. */
	request?: { socket?: { connecting?: boolean; secureConnecting?: boolean } | null };
}

/**
 * Proves by how far the request got that nothing of it was sent. Over TLS, the socket itself tells:
 * `secureConnecting` stays true until the handshake is done and the certificate accepted
 * (lib/internal/tls/wrap.js of Node.js), and only then the request is written.
 */
function isBeforeSending({ name, code, httpCode, syscall, request }: Cause): boolean {
	return (
		CALLS_BEFORE_SENDING.includes(String(syscall)) ||
		CODES_BEFORE_SENDING.has(String(code)) ||
		CODES_BEFORE_SENDING.has(String(httpCode)) ||
		String(name).startsWith('SsrfBlocked') ||
		// No socket was assigned: a proxy did not open the way.
		request?.socket === null ||
		request?.socket?.connecting === true ||
		request?.socket?.secureConnecting === true
	);
}

/** The error with what it was caused by, the outermost first. */
function causesOf(error: unknown): Cause[] {
	const causes = new Set<Cause>();
	const add = (value: unknown) => {
		if (typeof value !== 'object' || value === null || causes.has(value)) return;
		const cause: Cause = value;
		causes.add(cause);
		add(cause.cause);
		if (Array.isArray(cause.errors)) cause.errors.forEach(add);
	};
	add(error);
	return [...causes];
}

/** Why we ended the request: time had run out, or the execution was cancelled. */
function codeOfEnd({ reason }: AbortSignal): string {
	return (reason as Error | undefined)?.name === 'TimeoutError' ? 'ETIMEDOUT' : 'ERR_CANCELED';
}

function codeOf(causes: Cause[]): string {
	const blocked = causes.find(({ name }) => String(name).startsWith('SsrfBlocked'));
	if (blocked) return String(blocked.name);
	const codes = causes.flatMap(({ code, httpCode }) => [code, httpCode]);
	return codes.map(String).find((code) => /^[A-Z]/.test(code)) ?? '';
}
