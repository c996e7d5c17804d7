import type { IHttpRequestOptions } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { decodePercent } from '../../shared/text';

/** Returns a proxy's URL as n8n's HTTP client takes it. @throws Failure if it is not a URL */
export function parseProxy(proxy: string): IHttpRequestOptions['proxy'] {
	// `URL` would take the backslash of a Windows user for a slash.
	const isUrl = /^\s*https?:[^\\]*$/i.test(proxy) && URL.canParse(proxy);
	if (!isUrl) throw new Failure('parameter.proxy');
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
 * Returns a user or password as n8n's proxy agent reads it. n8n writes both into a URL and encodes
 * all reserved characters except the percent sign (@n8n/backend-network's http/axios/utils.ts). Its
 * agent decodes them once more (http-proxy-agent). So the password `50%`, which the user enters as
 * `50%25`, is handed to n8n as `50%25`, too.
 * @param encoded as it stands in the URL that the user entered
 * @throws Failure if a percent sign is no escape
 */
function forProxyAgent(encoded: string): string {
	const text = decodePercent(encoded);
	if (text === undefined) throw new Failure('parameter.proxy');
	return text.replaceAll('%', '%25');
}
