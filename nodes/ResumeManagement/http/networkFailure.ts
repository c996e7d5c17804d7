import { Failure, type FailureId } from '../../shared/failure';

/**
 * What went wrong, by the codes of Node.js (its documentation of `Error` and `tls`), axios and n8n, and whether it
 * helps to send the same request again.
 */
const KINDS: Array<[code: RegExp, id: FailureId, transient: boolean]> = [
	[/^(ENOTFOUND|EAI_)/, 'network.hostUnknown', true],
	[
		/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EINVAL)$/,
		'network.notConnected',
		true,
	],
	[/^SsrfBlocked/, 'network.forbidden', false],
	[
		/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|EPROTO|ERR_SSL|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)$|PATH_LENGTH_EXCEEDED/,
		'network.notSecure',
		false,
	],
	[/^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/, 'network.timeout', true],
	[/^(HPE_|Z_)/, 'network.garbled', true],
	[/^ERR_FR_TOO_MANY_REDIRECTS$/, 'file.redirects', false],
	[/^ERR_CANCELED$/, 'network.cancelled', false],
	[/^/, 'network.lost', true],
];

/**
 * Codes that only looking up a name, connecting, or checking a certificate ends in (for the
 * last, "X509 certificate error codes" of Node.js): each comes before the request leaves. n8n 1 hands on
 * the code of an error and nothing else, so there they are the only proof.
 */
const CODES_BEFORE_SENDING =
	/^(SsrfBlocked.*|ENOTFOUND|EAI_(AGAIN|FAIL|NODATA|NONAME)|ECONNREFUSED|ERR_TLS_CERT_ALTNAME_INVALID|CERT_[A-Z_]+|DEPTH_ZERO_SELF_SIGNED_CERT|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE))$/;

/** System calls made before there is a connection. */
const CALLS_BEFORE_SENDING = ['getaddrinfo', 'connect', 'bind'];

/** What should have answered, and where its address comes from, in words. */
export type Host = typeof SERVICE;

export const SERVICE = { host: 'the service', address: "the credential's Base URL" };

export const FILE_HOST: Host = { host: "the file's host", address: "the file's link" };

/**
 * Turns what n8n's HTTP helper or an answer's stream threw into a failure, by its code alone: its text may
 * hold headers.
 * @param signal of the request
 */
export function networkFailure(error: unknown, signal?: AbortSignal, host = SERVICE): Failure {
	const causes = causesOf(error);
	const code = signal?.aborted ? codeOfEnd(signal) : codeOf(causes);
	const [, id, transient] = KINDS.find(([pattern]) => pattern.test(code))!;
	const failure = new Failure(id, host, {
		code: code || undefined,
		transient,
		mayHaveHappened: !causes.some(isBeforeSending),
	});
	// Not in the message: n8n rewords each message that holds such a code, and would tell the user of a
	// lost upgrade to send it again (n8n-workflow/src/errors/abstract/node.error.ts).
	return failure.with({ description: failure.description + (code && ` (${code})`) });
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
		[name, code, httpCode].some((one) => CODES_BEFORE_SENDING.test(String(one))) ||
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
