import { Failure, type FailureId, withoutNetworkCodes } from '../../shared/failure';

/** Names a host, and the place of its address, in error texts. */
export type Host = typeof SERVICE;

export const SERVICE = { host: 'the service', address: "the credential's Base URL" };

export const FILE_HOST: Host = { host: "the file's host", address: "the file's link" };

/** Codes of a certificate that was not accepted ("X509 certificate error codes" of Node.js). */
const CERTIFICATE =
	/^(ERR_TLS_CERT_ALTNAME_INVALID|CERT_[A-Z_]+|DEPTH_ZERO_SELF_SIGNED_CERT|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE))$/;

interface NetworkError {
	/** Codes of Node.js (its documentation of `Error` and `tls`), axios and n8n. */
	code: RegExp;
	id: FailureId;
	/** The same request may succeed a moment later. */
	transient?: true;
	/** Such an error always comes before the request is sent, so that a write was not carried out. */
	notSent?: true;
}

/** The first match counts. */
const NETWORK_ERRORS: NetworkError[] = [
	{ code: /^(ENOTFOUND|EAI_)/, id: 'network.hostUnknown', transient: true, notSent: true },
	{ code: /^ECONNREFUSED$/, id: 'network.notConnected', transient: true, notSent: true },
	{ code: /^E(HOST|NET)(UNREACH|DOWN)$/, id: 'network.notConnected', transient: true },
	{ code: /^SsrfBlocked/, id: 'network.forbidden', notSent: true },
	{ code: CERTIFICATE, id: 'network.notSecure', notSent: true },
	{ code: /^(EPROTO|ERR_SSL|ERR_TLS)/, id: 'network.notSecure' },
	{ code: /^(ECONNABORTED|ETIMEDOUT)$/, id: 'network.timeout', transient: true },
	{ code: /^(HPE_|Z_)/, id: 'network.garbled', transient: true },
	// Too many redirects, or one to another address than http or https (follow-redirects/index.js).
	{ code: /^ERR_FR_/, id: 'file.badLink' },
	{ code: /^ERR_CANCELED$/, id: 'network.cancelled' },
	{ code: /^/, id: 'network.lost', transient: true },
];

/** Returns the failure for an error of n8n's HTTP helper or of a body's stream, by its code: its text may contain headers. */
export function networkFailure(error: unknown, signal: AbortSignal, host: Host): Failure {
	const causes = causesOf(error);
	const code = signal.aborted ? codeOfAbort(signal) : codeOf(causes);
	const { id, transient, notSent } = NETWORK_ERRORS.find((one) => one.code.test(code))!;
	return new Failure(id, host, {
		code: code || undefined,
		transient,
		outcome: notSent || causes.some(wasConnecting) ? 'refused' : 'unknown',
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
	errors?: unknown[];
	/** In errors of axios: Node's ClientRequest. n8n 1 does not pass it on. */
	request?: { socket?: { connecting?: boolean; secureConnecting?: boolean } | null };
}

/** Returns an error and its causes, the outermost first. */
function causesOf(error: unknown): Cause[] {
	if (typeof error !== 'object' || error === null) return [];
	const { cause, errors = [] } = error as Cause;
	return [error, ...[cause, ...errors].flatMap(causesOf)];
}

/** Checks whether the connection was still being made: Node.js sends the request only afterwards. */
function wasConnecting({ syscall, request }: Cause): boolean {
	if (syscall === 'getaddrinfo' || syscall === 'connect') return true;
	if (!request) return false;
	const { socket } = request;
	// No socket yet: a proxy ended the connection in place of opening a tunnel.
	return socket === null || Boolean(socket?.connecting || socket?.secureConnecting);
}

/** Returns the code for a request that its time limit or a cancelled execution ended. */
function codeOfAbort({ reason }: AbortSignal): string {
	return (reason as Error | undefined)?.name === 'TimeoutError' ? 'ETIMEDOUT' : 'ERR_CANCELED';
}

function codeOf(causes: Cause[]): string {
	const blocked = causes.find(({ name }) => String(name).startsWith('SsrfBlocked'));
	if (blocked) return String(blocked.name);
	const codes = causes.flatMap(({ code, httpCode }) => [code, httpCode]).map(String);
	return codes.find((code) => /^[A-Z]/.test(code)) ?? '';
}
