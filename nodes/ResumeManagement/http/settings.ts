import type { IHttpRequestOptions } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { decoded } from '../../shared/text';

/** n8n's own Request Options (n8n-core/src/nodes-loader/constants.ts). Times are in milliseconds. */
export interface RequestOptions {
	batching?: { batch?: { batchSize?: number; batchInterval?: number } };
	allowUnauthorizedCerts?: boolean;
	proxy?: string;
	timeout?: number;
}

/** An item's Request Options as n8n's HTTP client takes them; the timeout is in milliseconds. */
export type HttpSettings = Pick<
	IHttpRequestOptions,
	'proxy' | 'skipSslCertificateValidation' | 'timeout'
>;

/** Milliseconds. Node.js ends a longer timer at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** @throws Failure if Proxy is not a URL */
export function toHttpSettings(options: RequestOptions): HttpSettings {
	const { allowUnauthorizedCerts, proxy } = options;
	const timeout = Math.ceil(Math.min(Number(options.timeout), LONGEST_TIMEOUT));
	return {
		...(timeout > 0 && { timeout }),
		...(proxy && { proxy: parseProxy(proxy) }),
		...(allowUnauthorizedCerts === true && { skipSslCertificateValidation: true }),
	};
}

function parseProxy(proxy: string): HttpSettings['proxy'] {
	if (!/^\s*https?:/i.test(proxy) || !URL.canParse(proxy)) throw new Failure('parameter.proxy');
	const { protocol, hostname, port, username, password } = new URL(proxy);
	return {
		protocol: protocol.replace(':', ''),
		host: hostname,
		port: Number(port || (protocol === 'https:' ? 443 : 80)),
		...(username && {
			auth: { username: forProxyAgent(username), password: forProxyAgent(password) },
		}),
	};
}

/**
 * Returns a user or password as n8n's proxy agent reads it. n8n writes both into a URL and encodes all reserved characters except
 * the percent sign (@n8n/backend-network's http/axios/utils.ts). Its agent decodes them once more (http-proxy-agent).
 * @param encoded as it stands in the URL that the user entered
 * @throws Failure if a percent sign is no escape
 */
function forProxyAgent(encoded: string): string {
	const text = decoded(encoded);
	if (text === undefined) throw new Failure('parameter.proxy');
	return text.replaceAll('%', '%25');
}
