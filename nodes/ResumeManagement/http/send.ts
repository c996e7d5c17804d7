import {
	type IDataObject,
	type IExecuteFunctions,
	type IExecutePaginationFunctions,
	type IHttpRequestMethods,
	type IHttpRequestOptions,
	type ILoadOptionsFunctions,
	type IN8nHttpFullResponse,
} from 'n8n-workflow';

import { CREDENTIAL_TYPE, type Credential } from '../../shared/credential';
import type { SecretSpellings } from '../../shared/secrets';
import { FILE_HOST, type Host, networkFailure, SERVICE } from './networkFailure';

/**
 * How long a response may take if Request Options set no Timeout. n8n's own default is five minutes
 * (n8n-core's routing-node.ts), which is long for a read. A payment may take longer than a read.
 */
const TIMEOUTS_MS = { read: 30_000, write: 120_000 };

/** n8n's context of a run or a pick list, which sends the requests. */
export type HttpContext = IExecuteFunctions | IExecutePaginationFunctions | ILoadOptionsFunctions;

/** A type only: n8n's linter forbids nodes to import `stream`. */
export type Readable = import('node:stream').Readable;

/** A request to the service. */
export interface HttpRequest {
	credential: Credential;
	method: IHttpRequestMethods;
	/** Below the base URL, percent-encoded. */
	path: string;
	query?: IDataObject;
	/** Sent as JSON, even if empty. */
	body?: IDataObject;
	/** The service changes something. */
	write?: boolean;
	/** Most attempts after the first one. */
	retries: number;
	/** The response is to be a file. */
	file?: boolean;
	/** The item's Request Options; the timeout is in milliseconds. */
	settings: Pick<IHttpRequestOptions, 'proxy' | 'skipSslCertificateValidation' | 'timeout'>;
}

/** An HTTP response whose body is still to be read. */
export interface HttpResponse {
	statusCode: number;
	headers: IDataObject;
	body: Readable;
	/** The address that was requested. */
	url: string;
	/** Names the host in error texts. */
	host: Host;
	/** To be hidden in whatever a person or a log gets. */
	secrets: SecretSpellings;
	/** Of the whole response, its body included. */
	limit: TimeLimit;
}

/** Returns a signal that is aborted when the execution is cancelled; undefined for a pick list. */
export function cancelSignalOf(context: HttpContext): AbortSignal | undefined {
	return 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
}

/** Settings of each request. */
const STREAMED = {
	encoding: 'stream',
	returnFullResponse: true,
	// Otherwise, n8n would throw for an HTTP error without the service's reason, and send the request
	// again after a 401 (n8n-core's request-helper-functions.ts).
	ignoreHttpStatusErrors: true,
	// A `TimeLimit` ends each request. The timeout of n8n's client would include the time that n8n
	// takes to store a file.
	timeout: 0,
} as const;

/**
 * n8n's client treats a truncated compressed body as complete (`finishFlush` in
 * lib/adapters/http.js of axios).
 */
const NOT_COMPRESSED = { 'Accept-Encoding': 'identity' };

/**
 * Sends one request with the private key, in the headers of the credential's `authenticate`. It
 * follows no redirect: n8n would send the key to each host that one leads to.
 * @throws Failure if no response began
 */
export async function send(context: HttpContext, request: HttpRequest): Promise<HttpResponse> {
	const { credential, method, path, query, body, write, file, settings } = request;
	const { timeout = TIMEOUTS_MS[write ? 'write' : 'read'], ...connection } = settings;
	const url = credential.baseUrl + path;
	const limit = new TimeLimit(timeout, cancelSignalOf(context));
	const options: IHttpRequestOptions = {
		...connection,
		...STREAMED,
		method,
		url,
		qs: query,
		// A string, because n8n's client sends no body for an empty object.
		body: body && JSON.stringify(body),
		headers: file ? NOT_COMPRESSED : {},
		disableFollowRedirect: true,
	};
	const response = context.helpers.httpRequestWithAuthentication.call(
		withSignal(context, limit.signal),
		CREDENTIAL_TYPE,
		options,
		// Otherwise, n8n would read the credential from its database again.
		{ credentialsDecrypted: credential.decrypted },
	);
	return await awaitResponse(response, { url, host: SERVICE, secrets: credential.secrets, limit });
}

/**
 * Returns the context with another signal that cancels its requests: n8n replaces the `abortSignal`
 * of a request with the signal of its context (n8n-core's authentication.ts).
 */
function withSignal(context: HttpContext, signal: AbortSignal): HttpContext {
	return Object.create(context, {
		getExecutionCancelSignal: { value: () => signal },
	}) as HttpContext;
}

/**
 * Requests a file from the host behind a link, which never gets the private key.
 * @throws Failure if no response began
 */
export async function requestLink(
	context: HttpContext,
	{ credential, settings }: HttpRequest,
	url: string,
): Promise<HttpResponse> {
	const { timeout = TIMEOUTS_MS.read, ...connection } = settings;
	const limit = new TimeLimit(timeout, cancelSignalOf(context));
	const response = context.helpers.httpRequest({
		...connection,
		...STREAMED,
		url,
		headers: NOT_COMPRESSED,
		disableFollowRedirect: true,
		abortSignal: limit.signal,
	});
	return await awaitResponse(response, {
		url,
		host: FILE_HOST,
		secrets: credential.secrets,
		limit,
	});
}

/** Waits until the response begins. */
async function awaitResponse(
	response: Promise<unknown>,
	known: Pick<HttpResponse, 'url' | 'host' | 'secrets' | 'limit'>,
): Promise<HttpResponse> {
	const { host, limit } = known;
	try {
		const { statusCode, headers, body } = (await response) as IN8nHttpFullResponse;
		return { ...known, statusCode, headers, body: body as Readable };
	} catch (error) {
		limit.stop();
		throw networkFailure(error, limit.signal, host);
	}
}

/** Ends a request whose body is not needed. */
export function discard({ body, limit }: HttpResponse): void {
	// An error event that nobody listens to would end n8n's process.
	body.once('error', () => {});
	limit.abort();
}

/**
 * Ends a request that takes too long, or whose execution is cancelled. Whoever reads the body
 * clears the limit at its end. n8n's linter forbids `setTimeout`.
 */
export class TimeLimit {
	/** Aborted when the request has to end. */
	readonly signal: AbortSignal;

	private readonly controller = new AbortController();

	private timeoutSignal?: AbortSignal;

	/** @param milliseconds from now on; after `restart`, from then on */
	constructor(
		private readonly milliseconds: number,
		cancelled?: AbortSignal,
	) {
		const { signal } = this.controller;
		this.signal = cancelled ? AbortSignal.any([signal, cancelled]) : signal;
		this.restart();
	}

	restart(): void {
		this.stop();
		this.timeoutSignal = AbortSignal.timeout(this.milliseconds);
		this.timeoutSignal.addEventListener('abort', this.onTimeout);
	}

	/** Lets the request take any time from now on. */
	stop(): void {
		this.timeoutSignal?.removeEventListener('abort', this.onTimeout);
	}

	/** Ends the request now. */
	abort(): void {
		this.stop();
		this.controller.abort();
	}

	/** The timer's reason tells a timeout from an end by `abort`. */
	private readonly onTimeout = (): void => this.controller.abort(this.timeoutSignal!.reason);
}
