import { Failure, type FailureId, withoutNetworkCodes } from '../../shared/failure';

const NOT_SECURE =
	/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|EPROTO|ERR_SSL|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)$|PATH_LENGTH_EXCEEDED/;

/**
 * Failures by the codes of Node.js (its documentation of `Error` and `tls`), axios and n8n; the first match
 * counts. EINVAL: the socket's local address can't reach the host (see `onThisMachine`).
 */
const FAILURES_BY_CODE: Array<[code: RegExp, id: FailureId, transient: boolean]> = [
	[/^(ENOTFOUND|EAI_)/, 'network.hostUnknown', true],
	[/^(ECONNREFUSED|E(HOST|NET)(UNREACH|DOWN)|EINVAL)$/, 'network.notConnected', true],
	[/^SsrfBlocked/, 'network.forbidden', false],
	[NOT_SECURE, 'network.notSecure', false],
	[/^(ECONNABORTED|ETIMEDOUT)$/, 'network.timeout', true],
	[/^(HPE_|Z_)/, 'network.garbled', true],
	// Too many redirects, or one to another address than http or https (follow-redirects/index.js).
	[/^ERR_FR_/, 'file.badLink', false],
	[/^ERR_CANCELED$/, 'network.cancelled', false],
	[/^/, 'network.lost', true],
];

/**
 * Codes of a failed DNS lookup, connection or certificate check ("X509 certificate error codes" of Node.js), which all
 * come before the request is sent. n8n 1 passes on the code of an error and nothing else, so the code is the only proof.
 */
const CODES_BEFORE_SENDING =
	/^(SsrfBlocked.*|ENOTFOUND|EAI_(AGAIN|FAIL|NODATA|NONAME)|ECONNREFUSED|ERR_TLS_CERT_ALTNAME_INVALID|CERT_[A-Z_]+|DEPTH_ZERO_SELF_SIGNED_CERT|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE))$/;

/** System calls made before there is a connection. */
const CALLS_BEFORE_SENDING = ['getaddrinfo', 'connect', 'bind'];

/** Names a host, and the place of its address, in error texts. */
export type Host = typeof SERVICE;

export const SERVICE = { host: 'the service', address: "the credential's Base URL" };

export const FILE_HOST: Host = { host: "the file's host", address: "the file's link" };

/** Returns the failure for an error of n8n's HTTP helper or of a body's stream, by its code: its text may contain headers. */
export function networkFailure(error: unknown, signal: AbortSignal, host: Host): Failure {
	const causes = causesOf(error);
	const code = signal.aborted ? codeOfAbort(signal) : codeOf(causes);
	const [, id, transient] = FAILURES_BY_CODE.find(([pattern]) => pattern.test(code))!;
	return new Failure(id, host, {
		code: code || undefined,
		transient,
		outcome: causes.some(isBeforeSending) ? 'refused' : 'unknown',
		// Left out if n8n would replace the whole text for it: see `withoutNetworkCodes`.
		details: code && withoutNetworkCodes(code) === code ? `(${code})` : '',
	});
}

/** Properties of errors of Node.js, axios and n8n. */
interface Cause {
	name?: unknown;
	code?: unknown;
	/** In n8n's NodeApiError: the code of its cause, or the HTTP status if a response had begun. */
	httpCode?: unknown;
	syscall?: unknown;
	cause?: unknown;
	/** In Node.js's AggregateError: an error for each address that was tried. */
	errors?: unknown;
	/** In errors of axios: Node's ClientRequest. */
	request?: { socket?: { connecting?: boolean; secureConnecting?: boolean } | null };
}

/**
 * Checks whether an error proves that nothing of the request was sent. Over TLS, `secureConnecting` of the socket stays
 * true until the certificate is accepted (lib/internal/tls/wrap.js of Node.js), and the request is written only then.
 */
function isBeforeSending({ name, code, httpCode, syscall, request }: Cause): boolean {
	return (
		CALLS_BEFORE_SENDING.includes(String(syscall)) ||
		[name, code, httpCode].some((one) => CODES_BEFORE_SENDING.test(String(one))) ||
		// No socket was assigned: a proxy ended the connection in place of opening a tunnel.
		request?.socket === null ||
		request?.socket?.connecting === true ||
		request?.socket?.secureConnecting === true
	);
}

/** Returns an error and its causes, the outermost first. */
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

/** Returns the code for a request that its time limit or a cancelled execution ended. */
function codeOfAbort({ reason }: AbortSignal): string {
	return (reason as Error | undefined)?.name === 'TimeoutError' ? 'ETIMEDOUT' : 'ERR_CANCELED';
}

function codeOf(causes: Cause[]): string {
	const blocked = causes.find(({ name }) => String(name).startsWith('SsrfBlocked'));
	if (blocked) return String(blocked.name);
	const codes = causes.flatMap(({ code, httpCode }) => [code, httpCode]);
	return codes.map(String).find((code) => /^[A-Z]/.test(code)) ?? '';
}
