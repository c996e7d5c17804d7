import type {
	IDataObject,
	IExecuteFunctions,
	IExecutePaginationFunctions,
	IHttpRequestMethods,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';

import { withCancelSignal } from '../../shared/engine';
import { Failure } from '../../shared/failure';
import type { Secrets } from '../../shared/secrets';
import { withRetries, withRetryAfter } from './attempts';
import { CREDENTIAL_TYPE, type Credential } from './credential';
import { type Host, networkFailure, SERVICE } from './networkFailure';

/**
 * Milliseconds that a response may take if Request Options set no Timeout. n8n's own default is five minutes (n8n-core's
 * routing-node.ts), which is long for a read. A payment may take longer than a read.
 */
const TIMEOUTS = { read: 30_000, write: 120_000 };

/** Node's `Readable`, by way of n8n's types: nodes may not import `stream`. */
export type Readable = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Buffer
>;

/** Settings for n8n's HTTP client. */
export type HttpSettings = Pick<IHttpRequestOptions, 'proxy' | 'skipSslCertificateValidation'> & {
	/** Milliseconds; undefined if the user set none. */
	timeout?: number;
};

/** n8n's context of a run or a picker, which sends the requests. */
export interface Sender {
	context: IExecuteFunctions | IExecutePaginationFunctions | ILoadOptionsFunctions;
	/** Aborted when the execution is cancelled. */
	cancelled?: AbortSignal;
}

export interface HttpRequest {
	method: IHttpRequestMethods;
	/** Below the base URL, percent-encoded. */
	path: string;
	query?: IDataObject;
	/** JSON. */
	body?: string;
	/** The service changes something. */
	write: boolean;
	retries: number;
	/** The response is to be a file. */
	file: boolean;
	/** The item's Request Options. */
	http: HttpSettings;
}

/** An HTTP response with an unread body. */
export interface HttpResponse {
	statusCode: number;
	headers: IDataObject;
	body: Readable;
	/** The address that was requested. */
	url: string;
}

/** One request to one host: a download has a second one for the host of its file. */
export interface Connection {
	secrets: Secrets;
	helpers: Pick<IExecuteFunctions['helpers'], 'httpRequest' | 'prepareBinaryData'>;
	http: HttpSettings & { timeout: number };
	/** Ends the request; see {@link limitTime}. */
	abort: AbortController;
	/** Aborted by `abort`, and when the execution is cancelled. */
	signal: AbortSignal;
	cancelled?: AbortSignal;
	/** Ends the time limit of the request: the body of a file has a limit for each chunk instead. */
	stopClock: () => void;
	/** Names the host in error texts. */
	host: Host;
}

/**
 * Sends a request, with retries, and reads its response, also that of an HTTP error.
 * @throws Failure
 */
export async function exchange<T>(
	sender: Sender,
	credential: Credential,
	request: HttpRequest,
	read: (response: HttpResponse, connection: Connection) => Promise<T>,
): Promise<T> {
	return await withRetries({ ...request, cancelled: sender.cancelled }, async () => {
		const connection = connect(sender, credential, request);
		try {
			const response = await send(sender, credential, request, connection);
			return await read(response, connection).catch((error: unknown) => {
				throw withRetryAfter(error, response.headers);
			});
		} finally {
			connection.stopClock();
		}
	});
}

function connect(
	{ context, cancelled }: Sender,
	{ secrets }: Credential,
	{ write, http }: HttpRequest,
): Connection {
	const timeout = http.timeout ?? TIMEOUTS[write ? 'write' : 'read'];
	return {
		secrets,
		// The pickers' context has no `prepareBinaryData`, and they need none.
		helpers: context.helpers as Connection['helpers'],
		http: { ...http, timeout },
		...startClock(timeout, cancelled),
		cancelled,
		host: SERVICE,
	};
}

/** Starts the time limit of one request. A cancelled execution ends the request too. */
export function startClock(
	timeout: number,
	cancelled?: AbortSignal,
): Pick<Connection, 'abort' | 'signal' | 'stopClock'> {
	const abort = new AbortController();
	const signal = cancelled ? AbortSignal.any([abort.signal, cancelled]) : abort.signal;
	return { abort, signal, stopClock: limitTime(abort, timeout) };
}

/**
 * Ends a request after so many milliseconds.
 * @returns a function that stops the clock
 */
export function limitTime(abort: AbortController, milliseconds: number): () => void {
	const limit = AbortSignal.timeout(milliseconds);
	const end = () => abort.abort(limit.reason);
	limit.addEventListener('abort', end);
	return () => limit.removeEventListener('abort', end);
}

/**
 * Sends one request with the private key, and follows no redirect. The body is a stream: if n8n read the body of a 401
 * itself, and threw for it, it would sign in and send the request again (`httpRequestWithAuthentication` in
 * n8n-core's request-helper-functions.ts).
 * @throws Failure if no response began
 */
async function send(
	{ context }: Sender,
	credential: Credential,
	{ method, path, query, body, file }: HttpRequest,
	{ http, signal }: Connection,
): Promise<HttpResponse> {
	const url = credential.baseUrl + path;
	const options: IHttpRequestOptions = {
		method,
		url,
		...(query && { qs: query }),
		// A string, because n8n's client sends no body for an empty object.
		...(body !== undefined && { body }),
		...(file && { headers: UNPACKED }),
		...STREAMED,
		abortSignal: signal,
		// n8n sends the Authentication header to each host that a redirect leads to.
		disableFollowRedirect: true,
		...http,
		...onThisMachine(url),
	};
	let response: IN8nHttpFullResponse;
	try {
		response = (await context.helpers.httpRequestWithAuthentication.call(
			withCancelSignal(context, signal),
			CREDENTIAL_TYPE,
			options,
			{ credentialsDecrypted: credential.decrypted },
		)) as IN8nHttpFullResponse;
	} catch (error) {
		throw networkFailure(error, signal);
	}
	return { ...response, body: response.body as Readable, url };
}

/** Settings of each request. Otherwise n8n throws for HTTP errors, sends a 401 again, and drops the service's reason. */
export const STREAMED = {
	encoding: 'stream',
	returnFullResponse: true,
	ignoreHttpStatusErrors: true,
} as const;

/**
 * Headers for files: n8n's client treats a truncated compressed body as complete (`finishFlush` in
 * lib/adapters/http.js of axios).
 */
export const UNPACKED = { 'Accept-Encoding': 'identity' };

/** Ends a request whose body is not needed. */
export function discard(body: Readable, abort: AbortController): void {
	// An error event that nobody listens to would end n8n's process.
	body.once('error', () => {});
	abort.abort();
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Refuses a proxy on another machine, which could read the key of a request without TLS.
 * @throws Failure
 */
export function refuseProxyElsewhere(baseUrl: string, { proxy }: HttpSettings): void {
	const isElsewhere = typeof proxy === 'object' && !LOOPBACK.test(proxy.host);
	if (!isElsewhere || !baseUrl.startsWith('http:')) return;
	throw new Failure('network.proxyElsewhere', {}, { isSetting: true });
}

/**
 * Keeps a request without TLS on this machine: n8n's environment may name a proxy, which could read the key. A socket
 * that is bound to the loopback address reaches no other machine. (n8n 1 has no such setting: docs/installation.md.)
 */
function onThisMachine(url: string): Partial<IHttpRequestOptions> {
	if (!url.startsWith('http:')) return {};
	const isV6 = new URL(url).hostname === '[::1]';
	const agentOptions = { localAddress: isV6 ? '::1' : '127.0.0.1', family: isV6 ? 6 : 4 };
	return { agentOptions: agentOptions as IHttpRequestOptions['agentOptions'] };
}
