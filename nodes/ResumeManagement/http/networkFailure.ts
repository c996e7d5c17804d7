import { Failure, type FailureId, hasNetworkCode } from '../../shared/failure';

/** A host in error texts. */
export interface Host extends Record<string, string> {
	host: string;
	/** Where its address comes from. */
	address: string;
}

export const SERVICE: Host = { host: 'the service', address: "the credential's 'Base URL'" };

export const FILE_HOST: Host = { host: "the file's host", address: "the file's link" };

interface NetworkError {
	id: FailureId;
	/** Starts of codes of Node.js (its documentation of `Error` and `tls`), axios and n8n. */
	codes: string[];
	/** The same request may succeed a moment later. */
	transient?: true;
	/** Such an error always comes before the request is sent, so that a write was not carried out. */
	notSent?: true;
}

/** The first match counts. */
const NETWORK_ERRORS: NetworkError[] = [
	{ id: 'network.hostUnknown', codes: ['ENOTFOUND', 'EAI_'], transient: true, notSent: true },
	{ id: 'network.notConnected', codes: ['ECONNREFUSED'], transient: true, notSent: true },
	{
		// They may also end a connection that was made.
		id: 'network.notConnected',
		codes: ['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
		transient: true,
	},
	{ id: 'network.forbidden', codes: ['SsrfBlocked'], notSent: true },
	{
		// The certificate was not accepted ("X509 certificate error codes" of Node.js).
		id: 'network.notSecure',
		codes: [
			'CERT_',
			'DEPTH_ZERO_SELF_SIGNED_CERT',
			'ERR_TLS_CERT_ALTNAME_INVALID',
			'HOSTNAME_MISMATCH',
			'INVALID_CA',
			'INVALID_PURPOSE',
			'PATH_LENGTH_EXCEEDED',
			'SELF_SIGNED_CERT_IN_CHAIN',
			'UNABLE_TO_GET_ISSUER_CERT',
			'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
		],
		notSent: true,
	},
	{ id: 'network.notSecure', codes: ['EPROTO', 'ERR_SSL', 'ERR_TLS'] },
	{ id: 'network.timeout', codes: ['ECONNABORTED', 'ETIMEDOUT'], transient: true },
	{
		// In this order: HTTP itself, gzip, Brotli, zstd.
		id: 'network.garbled',
		codes: ['HPE_', 'Z_', 'ERR__ERROR_', 'ZSTD_'],
		transient: true,
	},
	{ id: 'network.cancelled', codes: ['ERR_CANCELED'] },
];

const LOST: NetworkError = { id: 'network.lost', codes: [], transient: true };

/**
 * Returns the failure for an error of n8n's HTTP helper or of a body's stream, by its code: its
 * text may contain headers.
 */
export function networkFailure(error: unknown, signal: AbortSignal, host: Host): Failure {
	const causes = causesOf(error);
	const code = signal.aborted ? codeOfAbort(signal) : codeOf(causes);
	const isMatch = ({ codes }: NetworkError) => codes.some((start) => code.startsWith(start));
	const { id, transient, notSent } = NETWORK_ERRORS.find(isMatch) ?? LOST;
	return new Failure(id, host, {
		code: code || undefined,
		transient,
		outcome: notSent || failedToConnect(causes) ? 'refused' : 'unknown',
		details: code && !hasNetworkCode(code) ? `(${code})` : '',
	});
}

/** Properties of errors of Node.js, axios and n8n. */
interface Cause {
	name?: unknown;
	code?: unknown;
	/** In n8n's NodeApiError: the code of its cause, or the HTTP status if a response had begun. */
	httpCode?: unknown;
	/** What Node.js did when it failed. */
	syscall?: unknown;
	cause?: unknown;
	/** In Node.js's AggregateError: an error for each address that was tried. */
	errors?: unknown[];
}

/** Returns an error and its causes, the outermost first. */
function causesOf(error: unknown): Cause[] {
	if (typeof error !== 'object' || error === null) return [];
	const { cause, errors = [] } = error as Cause;
	return [error, ...[cause, ...errors].flatMap(causesOf)];
}

/** Checks whether an error came while Node.js connected: it sends a request only afterwards. */
function failedToConnect(causes: Cause[]): boolean {
	return causes.some(({ syscall }) => syscall === 'connect');
}

/** Returns the code for a request that its time limit or a cancelled execution ended. */
function codeOfAbort({ reason }: AbortSignal): string {
	return (reason as Error | undefined)?.name === 'TimeoutError' ? 'ETIMEDOUT' : 'ERR_CANCELED';
}

/** Returns the outermost code, or n8n's name for a blocked address; '' if there is none. */
function codeOf(causes: Cause[]): string {
	const blocked = causes.find(({ name }) => String(name).startsWith('SsrfBlocked'));
	if (blocked) return String(blocked.name);
	const codes = causes.flatMap(({ code, httpCode }) => [code, httpCode]);
	// Not the HTTP status of a response.
	return (
		codes.find((code): code is string => typeof code === 'string' && /^[A-Z]/.test(code)) ?? ''
	);
}
