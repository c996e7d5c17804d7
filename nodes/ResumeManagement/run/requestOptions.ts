import type { IHttpRequestOptions } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { decoded } from '../../shared/path';
import type { HttpSettings } from '../http/send';
import type { Gate } from './gate';

/** n8n's own Request Options (n8n-core/src/nodes-loader/constants.ts). Times are in milliseconds. */
export interface RequestOptions {
	batching?: { batch?: { batchSize?: number; batchInterval?: number } };
	allowUnauthorizedCerts?: boolean;
	proxy?: string;
	timeout?: number;
}

/** Milliseconds; Node.js fires a longer timer at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/**
 * Returns what an item's options mean for its requests.
 * @throws Failure if Proxy is not a URL
 */
export function toHttpSettings(options: RequestOptions): HttpSettings {
	const { allowUnauthorizedCerts, proxy } = options;
	const timeout = Math.ceil(Math.min(Number(options.timeout), LONGEST_TIMEOUT));
	return {
		...(timeout > 0 && { timeout }),
		...(proxy && { proxy: parseProxy(proxy) }),
		...(allowUnauthorizedCerts === true && { skipSslCertificateValidation: true }),
	};
}

/** Returns the batches of a run. */
export function toBatch({ batching }: RequestOptions): Gate['batch'] {
	const { batchSize = 50, batchInterval = 0 } = batching?.batch ?? {};
	// n8n writes -1 for a size that is "disabled".
	if (batchInterval <= 0 || batchSize <= 0) return undefined;
	return { size: batchSize, interval: batchInterval };
}

function parseProxy(proxy: string): IHttpRequestOptions['proxy'] {
	const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
	const [username, password] = [url?.username, url?.password].map((text) => decoded(text ?? ''));
	const isUsable = username !== undefined && password !== undefined;
	if (!url || !/^https?:$/.test(url.protocol) || !isUsable) {
		throw new Failure('parameter.proxy', {}, { mayHaveHappened: false, isSetting: true });
	}
	const { protocol, hostname, port } = url;
	return {
		protocol: protocol.replace(':', ''),
		host: hostname,
		port: Number(port || (protocol === 'https:' ? 443 : 80)),
		...(username && { auth: { username, password } }),
	};
}
