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
 * Milliseconds that an answer may take where Request Options name no timeout. n8n's own default of
 * five minutes is long for a read; a payment may take its time.
 */
const TIMEOUTS = { read: 30_000, write: 120_000 };

/** Node's `Readable`, by way of n8n's types: nodes may not import `stream`. */
export type Readable = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Buffer
>;

/** Settings for n8n's HTTP client. */
export type HttpSettings = Pick<IHttpRequestOptions, 'proxy' | 'skipSslCertificateValidation'> & {
	/** Milliseconds; undefined where the user set none. */
	timeout?: number;
};

/** What sends the requests of a run. */
export interface Sender {
	context: IExecuteFunctions | IExecutePaginationFunctions | ILoadOptionsFunctions;
	/** Aborted when the execution is cancelled. */
	cancelled?: AbortSignal;
}

/** One request to the service. */
export interface HttpRequest {
	method: IHttpRequestMethods;
	/** Below the base URL, percent-encoded. */
	path: string;
	query?: IDataObject;
	/** JSON. */
	body?: string;
	/** Whether the service changes something. */
	write: boolean;
	/** How often it may be repeated where it can't be carried out twice. */
	retries: number;
	/** Whether a file is asked for. */
	file: boolean;
	/** The item's Request Options. */
	http: HttpSettings;
}

/** An HTTP answer whose body has not been read yet. */
export interface Received {
	statusCode: number;
	headers: IDataObject;
	body: Readable;
	/** The address that was requested. */
	url: string;
}

/** What one attempt of a request works with. */
export interface Connection {
	/** What no item and no error may show. */
	secrets: Secrets;
	helpers: Pick<IExecuteFunctions['helpers'], 'httpRequest' | 'prepareBinaryData'>;
	/** `timeout` in milliseconds */
	http: HttpSettings & { timeout: number };
	/** Ends the request; see {@link limitTime}. */
	abort: AbortController;
	/** Aborted by `abort`, and when the execution is cancelled. */
	signal: AbortSignal;
	cancelled?: AbortSignal;
	/** Lifts the time limit, which a file does not have once it has begun. */
	stopClock: () => void;
	/** What should answer. */
	host: Host;
}

/**
 * Sends a request, repeats it where that may help, and reads its answer, whatever its HTTP status.
 * @throws Failure
 */
export async function exchange<T>(
	sender: Sender,
	credential: Credential,
	request: HttpRequest,
	read: (received: Received, connection: Connection) => Promise<T>,
): Promise<T> {
	const { cancelled } = sender;
	const { retries, write } = request;
	return await withRetries({ retries, write, cancelled }, async () => {
		const connection = connect(sender, credential, request);
		try {
			const received = await send(sender, credential, request, connection);
			return await read(received, connection).catch((error: unknown) => {
				throw withRetryAfter(error, received.headers);
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

/** Returns what ends one request: its time limit, or the end of the execution. */
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
 * @returns stops the clock
 */
export function limitTime(abort: AbortController, milliseconds: number): () => void {
	const limit = AbortSignal.timeout(milliseconds);
	const end = () => abort.abort(limit.reason);
	limit.addEventListener('abort', end);
	return () => limit.removeEventListener('abort', end);
}

/**
 * Sends one request with the private key and follows no redirect. HTTP errors are answers. The body
 * comes as a stream: n8n signs in and sends again when reading the body of a 401 fails (n8n-core's
 * httpRequestWithAuthentication), so it must not be n8n that reads it.
 * @throws Failure when no answer began
 */
async function send(
	{ context }: Sender,
	credential: Credential,
	{ method, path, query, body, file }: HttpRequest,
	{ http, signal }: Connection,
): Promise<Received> {
	const url = credential.baseUrl + path;
	const options: IHttpRequestOptions = {
		method,
		url,
		...(query && { qs: query }),
		// As a text, since n8n's client sends no body for an empty object.
		...(body !== undefined && { body }),
		...(file && { headers: UNPACKED }),
		...STREAMED,
		abortSignal: signal,
		// n8n forwards the Authentication header to wherever a redirect leads.
		disableFollowRedirect: true,
		...http,
		...onThisMachine(url),
	};
	let answer: IN8nHttpFullResponse;
	try {
		answer = (await context.helpers.httpRequestWithAuthentication.call(
			withCancelSignal(context, signal),
			CREDENTIAL_TYPE,
			options,
			{ credentialsDecrypted: credential.decrypted },
		)) as IN8nHttpFullResponse;
	} catch (error) {
		throw networkFailure(error, signal);
	}
	return { ...answer, body: answer.body as Readable, url };
}

/** Settings of each request. n8n sends a 401 again, and discards its reason, unless HTTP errors are let through. */
export const STREAMED = {
	encoding: 'stream',
	returnFullResponse: true,
	ignoreHttpStatusErrors: true,
} as const;

/** For files: n8n's client takes a packed body that breaks off for a whole one (`finishFlush` of axios). */
export const UNPACKED = { 'Accept-Encoding': 'identity' };

/** Ends a request whose body is not needed. */
export function discard(body: Readable, abort: AbortController): void {
	// An error event that nobody listens to would end n8n's process.
	body.once('error', () => {});
	abort.abort();
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Refuses a proxy that could read the key: a Base URL without TLS is one of this machine.
 * @throws Failure
 */
export function refuseProxyElsewhere(baseUrl: string, { proxy }: HttpSettings): void {
	const isElsewhere = typeof proxy === 'object' && !LOOPBACK.test(proxy.host);
	if (!isElsewhere || !baseUrl.startsWith('http:')) return;
	throw new Failure('network.proxyElsewhere', {}, { mayHaveHappened: false, isSetting: true });
}

/**
 * Keeps a request without TLS on this machine: n8n's environment may name a proxy, which could read the key. A socket
 * that is bound to the loopback address reaches no other machine. (n8n 1 has no such setting: docs/credentials.md.)
 */
function onThisMachine(url: string): Partial<IHttpRequestOptions> {
	if (!url.startsWith('http:')) return {};
	const isV6 = new URL(url).hostname === '[::1]';
	const agentOptions = { localAddress: isV6 ? '::1' : '127.0.0.1', family: isV6 ? 6 : 4 };
	return { agentOptions: agentOptions as IHttpRequestOptions['agentOptions'] };
}
