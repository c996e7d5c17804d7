import type {
	IAllExecuteFunctions,
	IDataObject,
	IExecuteFunctions,
	IHttpRequestMethods,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';

import { networkFailure } from '../answer/networkFailure';
import { CREDENTIAL_TYPE, type Credential } from './credential';
import type { Operation } from './operation';
import { fillPath } from './path';
import type { HttpSettings } from './requestOptions';

/** Node's `Readable`, by way of n8n's types: nodes may not import `stream`. */
export type Readable = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Buffer
>;

/** An HTTP answer whose body has not been read yet. */
export interface Received {
	statusCode: number;
	headers: IDataObject;
	body: Readable;
	/** The address that was requested. */
	url: string;
}

/** A request as it goes to the wire. */
export interface Outgoing {
	/** In place of the operation's own. */
	method?: IHttpRequestMethods;
	/** Values of the path's `:parameters`, percent-encoded. */
	path?: Record<string, string>;
	query?: IDataObject;
	/** JSON. */
	body?: string;
}

/**
 * Sends one request with the private key and follows no redirect. HTTP errors are answers. The body
 * comes as a stream: n8n signs in and sends again when reading the body of a 401 fails (n8n-core's
 * httpRequestWithAuthentication), so it must not be n8n that reads it.
 * @param http `timeout` in milliseconds, until the answer begins
 * @param signal ends the request, also while its body is read
 * @throws Failure when no answer began
 */
export async function send(
	context: IAllExecuteFunctions,
	credential: Credential,
	{ method, path }: Pick<Operation, 'method' | 'path'>,
	outgoing: Outgoing,
	http: HttpSettings & { timeout: number },
	signal?: AbortSignal,
): Promise<Received> {
	const url = credential.baseUrl + fillPath(path, outgoing.path);
	const options: IHttpRequestOptions = {
		method: outgoing.method ?? method,
		url,
		...(outgoing.query && { qs: outgoing.query }),
		// As a text, since n8n's client sends no body for an empty object.
		...(outgoing.body !== undefined && { body: outgoing.body }),
		encoding: 'stream',
		returnFullResponse: true,
		// n8n sends a 401 again, and throws the service's reason away, unless HTTP errors are let through.
		ignoreHttpStatusErrors: true,
		// n8n forwards the Authentication header to wherever a redirect leads.
		disableFollowRedirect: true,
		...http,
	};
	try {
		const answer = (await context.helpers.httpRequestWithAuthentication.call(
			// n8n overwrites `abortSignal` with what its context says.
			Object.create(context, { getExecutionCancelSignal: { value: () => signal } }),
			CREDENTIAL_TYPE,
			options,
			{ credentialsDecrypted: credential.decrypted },
		)) as IN8nHttpFullResponse;
		return { ...answer, body: answer.body as Readable, url };
	} catch (error) {
		throw networkFailure(error, signal);
	}
}
