import type { IHttpRequestOptions } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { decoded } from '../../shared/path';
import type { HttpSettings } from '../http/send';

/** What n8n's own Request Options come to, for all items of a run. Times are in milliseconds. */
export interface RequestOptions {
	settings: HttpSettings;
	/** Starts at most `size` requests each `interval`. */
	batch?: { size: number; interval: number };
}

/** The shape of n8n's parameter (n8n-core/src/nodes-loader/constants.ts). */
export interface RequestOptionsParameter {
	batching?: { batch?: { batchSize?: number; batchInterval?: number } };
	allowUnauthorizedCerts?: boolean;
	proxy?: string;
	timeout?: number;
}

/** Milliseconds; Node.js fires a longer timer at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** @throws Failure when Proxy is not a URL */
export function readRequestOptions({
	batching,
	allowUnauthorizedCerts,
	proxy,
	timeout,
}: RequestOptionsParameter): RequestOptions {
	const { batchSize = 50, batchInterval = 0 } = batching?.batch ?? {};
	return {
		settings: {
			...(Number(timeout) > 0 && {
				timeout: Math.ceil(Math.min(Number(timeout), LONGEST_TIMEOUT)),
			}),
			...(proxy && { proxy: parseProxy(proxy) }),
			...(allowUnauthorizedCerts === true && { skipSslCertificateValidation: true }),
		},
		// n8n writes -1 for a size that is "disabled".
		...(batchInterval > 0 &&
			batchSize > 0 && { batch: { size: batchSize, interval: batchInterval } }),
	};
}

function parseProxy(proxy: string): IHttpRequestOptions['proxy'] {
	const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
	const [username, password] = [url?.username, url?.password].map((text) => decoded(text ?? ''));
	const isUsable = username !== undefined && password !== undefined;
	if (!url || !/^https?:$/.test(url.protocol) || !isUsable) throw new Failure('parameter.proxy');
	const { protocol, hostname, port } = url;
	return {
		protocol: protocol.replace(':', ''),
		host: hostname,
		port: Number(port || (protocol === 'https:' ? 443 : 80)),
		...(username && { auth: { username, password } }),
	};
}
