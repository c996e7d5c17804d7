import type {
	IDataObject,
	IExecuteFunctions,
	IExecutePaginationFunctions,
	IHttpRequestMethods,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';

import { CREDENTIAL_TYPE, type Credential } from '../../shared/credential';
import { withCancelSignal } from '../../shared/engine';
import { Failure } from '../../shared/failure';
import type { Secrets } from '../../shared/secrets';
import { FILE_HOST, type Host, networkFailure, SERVICE } from './networkFailure';

/**
 * Milliseconds that a response may take if Request Options set no Timeout. n8n's own default is five minutes (n8n-core's
 * routing-node.ts), which is long for a read. A payment may take longer than a read.
 */
export const TIMEOUTS = { read: 30_000, write: 120_000 };

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
	credential: Credential;
	method: IHttpRequestMethods;
	/** Below the base URL, percent-encoded. */
	path: string;
	query?: IDataObject;
	/** Sent as JSON, also when empty. */
	body?: IDataObject;
	/** The service changes something. */
	write?: boolean;
	/** Most attempts after the first one. */
	retries: number;
	/** The response is to be a file. */
	file?: boolean;
	/** The item's Request Options. */
	http: HttpSettings;
}

/** An HTTP response with an unread body, and what its reader needs. */
export interface HttpResponse {
	statusCode: number;
	headers: IDataObject;
	body: Readable;
	/** The address that was requested. */
	url: string;
	/** Names the host in error texts. */
	host: Host;
	/** Must not be shown. */
	secrets: Secrets;
	/** Time limit of the response. The body of a file has a limit for each chunk instead. */
	clock: Clock;
}

/**
 * Sends one request with the private key, and follows no redirect. The body is a stream: if n8n read the body of a 401
 * itself, and threw for it, it would sign in and send the request again (n8n-core's request-helper-functions.ts).
 * @throws Failure if no response began
 */
export async function send(
	{ context, cancelled }: Sender,
	{ credential, method, path, query, body, write, file, http }: HttpRequest,
): Promise<HttpResponse> {
	const { baseUrl, decrypted, secrets } = credential;
	const url = baseUrl + path;
	const clock = startClock(http.timeout ?? TIMEOUTS[write ? 'write' : 'read'], cancelled);
	const options: IHttpRequestOptions = {
		method,
		url,
		...(query && { qs: query }),
		// A string, because n8n's client sends no body for an empty object.
		...(body && { body: JSON.stringify(body) }),
		...(file && { headers: UNPACKED }),
		...STREAMED,
		abortSignal: clock.signal,
		// n8n sends the Authentication header to each host that a redirect leads to.
		disableFollowRedirect: true,
		...http,
		// Replaces n8n's default. Without redirects, this limit ends when the response begins (axios).
		timeout: clock.milliseconds,
		...onThisMachine(url),
	};
	const request = context.helpers.httpRequestWithAuthentication.call(
		withCancelSignal(context, clock.signal),
		CREDENTIAL_TYPE,
		options,
		{ credentialsDecrypted: decrypted },
	);
	return { ...(await begin(request, clock, SERVICE)), url, host: SERVICE, secrets, clock };
}

/** Requests a file from the host behind a link, which never gets the private key. @throws Failure if no response began */
export async function requestLink(
	{ context, cancelled }: Sender,
	{ credential, http }: HttpRequest,
	url: string,
): Promise<HttpResponse> {
	const clock = startClock(http.timeout ?? TIMEOUTS.read, cancelled);
	const request = context.helpers.httpRequest({
		url,
		headers: UNPACKED,
		...STREAMED,
		abortSignal: clock.signal,
		...http,
		// With redirects, it would include the time that n8n's store takes (follow-redirects). The clock is the limit.
		timeout: 0,
	});
	const response = await begin(request, clock, FILE_HOST);
	return { ...response, url, host: FILE_HOST, secrets: credential.secrets, clock };
}

/** Waits until a response begins, whose body is a stream. */
async function begin(
	request: Promise<unknown>,
	{ signal, stop }: Clock,
	host: Host,
): Promise<Pick<HttpResponse, 'statusCode' | 'headers' | 'body'>> {
	try {
		const { statusCode, headers, body } = (await request) as IN8nHttpFullResponse;
		return { statusCode, headers, body: body as Readable };
	} catch (error) {
		stop();
		throw networkFailure(error, signal, host);
	}
}

/** The time limit of a request. */
export interface Clock {
	milliseconds: number;
	/** Its `abort` ends the request. */
	controller: AbortController;
	/** Aborted by `controller`, when the time is over, and when the execution is cancelled. */
	signal: AbortSignal;
	stop(): void;
}

function startClock(milliseconds: number, cancelled?: AbortSignal): Clock {
	const controller = new AbortController();
	const signal = cancelled ? AbortSignal.any([controller.signal, cancelled]) : controller.signal;
	return { milliseconds, controller, signal, stop: limitTime(controller, milliseconds) };
}

/** Ends a request after so many milliseconds (n8n's linter forbids `setTimeout`). @returns a function that stops the clock */
export function limitTime(controller: AbortController, milliseconds: number): () => void {
	const limit = AbortSignal.timeout(milliseconds);
	const end = () => controller.abort(limit.reason);
	limit.addEventListener('abort', end);
	return () => limit.removeEventListener('abort', end);
}

/** Settings of each request. Otherwise n8n throws for HTTP errors, sends a 401 again, and drops the service's reason. */
const STREAMED = {
	encoding: 'stream',
	returnFullResponse: true,
	ignoreHttpStatusErrors: true,
} as const;

/** n8n's client treats a truncated compressed body as complete (`finishFlush` in lib/adapters/http.js of axios). */
const UNPACKED = { 'Accept-Encoding': 'identity' };

/** Ends a request whose body is not needed. */
export function discard({ body, clock }: HttpResponse): void {
	// An error event that nobody listens to would end n8n's process.
	body.once('error', () => {});
	clock.stop();
	clock.controller.abort();
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Refuses a proxy on another machine, which could read the key of a request without TLS. @throws Failure */
export function refuseRemoteProxy(baseUrl: string, { proxy }: HttpSettings): void {
	const isElsewhere = typeof proxy === 'object' && !LOOPBACK.test(proxy.host);
	if (!isElsewhere || !baseUrl.startsWith('http:')) return;
	throw new Failure('network.proxyElsewhere');
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
