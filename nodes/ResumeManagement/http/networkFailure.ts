import { Failure, type FailureId } from './failure';

interface Kind {
	/** Codes of Node.js (its documentation of `Error` and `tls`), axios and n8n. */
	pattern: RegExp;
	id: FailureId;
	/** Whether it helps to send the same request again. */
	transient: boolean;
	/**
	 * Codes that only looking up a name, connecting, checking a certificate or reading an address ends in:
	 * each of these comes before the request leaves. n8n 1 hands on the code of an error and nothing else,
	 * so there they are the only proof.
	 */
	beforeSending?: RegExp;
}

const KINDS: Kind[] = [
	{
		pattern: /^(ENOTFOUND|EAI_)/,
		id: 'network.hostUnknown',
		transient: true,
		beforeSending: /^(ENOTFOUND|EAI_AGAIN|EAI_FAIL|EAI_NODATA|EAI_NONAME)$/,
	},
	{
		pattern: /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EINVAL)$/,
		id: 'network.notConnected',
		transient: true,
		beforeSending: /^ECONNREFUSED$/,
	},
	{
		pattern: /^(ERR_INVALID_URL|ERR_SOCKET_BAD_PORT|ERR_UNESCAPED_CHARACTERS)$/,
		id: 'network.badAddress',
		transient: false,
		beforeSending: /./,
	},
	{ pattern: /^SsrfBlocked/, id: 'network.forbidden', transient: false, beforeSending: /./ },
	{
		pattern:
			/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|EPROTO|ERR_SSL|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)$|PATH_LENGTH_EXCEEDED/,
		id: 'network.notSecure',
		transient: false,
		// Of OpenSSL's verification (Node.js, "X509 certificate error codes"), and of the host name's.
		beforeSending:
			/^(ERR_TLS_CERT_ALTNAME_INVALID|CERT_(CHAIN_TOO_LONG|HAS_EXPIRED|NOT_YET_VALID|REJECTED|REVOKED|SIGNATURE_FAILURE|UNTRUSTED)|DEPTH_ZERO_SELF_SIGNED_CERT|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_GET_ISSUER_CERT_LOCALLY|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/,
	},
	{
		pattern: /^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/,
		id: 'network.timeout',
		transient: true,
	},
	{ pattern: /^(HPE_|Z_)/, id: 'network.garbled', transient: true },
	{ pattern: /^ERR_CANCELED$/, id: 'network.cancelled', transient: false },
];

const LOST: Kind = { pattern: /^/, id: 'network.lost', transient: true };

/** System calls made before there is a connection. */
const CALLS_BEFORE_SENDING = ['getaddrinfo', 'connect', 'bind'];

/**
 * Turns what n8n's HTTP helper or an answer's stream threw into a failure, by its code alone: its text may
 * hold headers.
 * @param signal of the request
 * @param host what should have answered, in words
 */
export function networkFailure(
	error: unknown,
	signal?: AbortSignal,
	host = 'the service',
): Failure {
	const causes = causesOf(error);
	const code = signal?.aborted ? codeOfEnd(signal) : codeOf(causes);
	const { id, transient } = kindOf(code);
	const failure = new Failure(
		id,
		{ host },
		{ code: code || undefined, transient, mayHaveHappened: !causes.some(isBeforeSending) },
	);
	// Not in the message: n8n rewords each message that holds such a code, and would tell the user of a
	// lost upgrade to send it again (n8n-workflow/src/errors/abstract/node.error.ts).
	return failure.with({ description: failure.description + (code && ` (${code})`) });
}

function kindOf(code: string): Kind {
	return KINDS.find(({ pattern }) => pattern.test(code)) ?? LOST;
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
		[name, code, httpCode].map(String).some((one) => kindOf(one).beforeSending?.test(one)) ||
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
