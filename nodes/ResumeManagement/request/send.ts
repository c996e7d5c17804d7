import type { IAllExecuteFunctions, IHttpRequestOptions, IN8nHttpFullResponse } from 'n8n-workflow';

import { CREDENTIAL_TYPE, type Credential } from './credential';
import type { Failure } from './failure';
import type { Operation, RequestParts } from './operation';
import type { HttpSettings } from './requestOptions';
import { transportFailure } from './transport';

export type Sent = { answer: IN8nHttpFullResponse } | { failure: Failure };

/**
 * Sends one request with the private key and follows no redirect. HTTP errors are answers.
 * @param http `timeout` is in milliseconds
 * @param signal ends the request, also while its body is read
 */
export async function send(
	context: IAllExecuteFunctions,
	credential: Credential,
	{ method, path, file }: Pick<Operation, 'method' | 'path' | 'file'>,
	parts: RequestParts,
	http: HttpSettings & { timeout: number },
	signal?: AbortSignal,
): Promise<Sent> {
	const options: IHttpRequestOptions = {
		method,
		url: credential.baseUrl + fillPath(path, parts.path),
		...(parts.query && { qs: parts.query }),
		// As a text, since n8n's client sends no body for an empty object.
		...(parts.body && { body: JSON.stringify(parts.body) }),
		...(file && { encoding: 'stream' }),
		returnFullResponse: true,
		// n8n sends a 401 again, and throws the service's reason away, unless HTTP errors are let
		// through (n8n-core's httpRequestWithAuthentication).
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
		return { answer };
	} catch (error) {
		return { failure: transportFailure(error) };
	}
}

/** Puts percent-encoded values into the specification's path, such as `/user/:userID`. */
function fillPath(path: string, values: Record<string, string> = {}): string {
	return path.replace(/:(\w+)/g, (_, name: string) => values[name]!);
}
