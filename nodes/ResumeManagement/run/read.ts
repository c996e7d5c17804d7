import type { IHttpRequestOptions } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import type { ParameterReader } from '../../shared/parameters';
import { decoded } from '../../shared/path';
import { type HttpSettings, refuseProxyElsewhere } from '../http/send';
import type { Operation } from '../operations/operation';
import type { Call, OutputSettings, UserByEmail } from './call';
import type { StartLimits } from './inOrder';
import type { Pagination } from './pages';
import type { Run } from './perform';

/** Retries of a write that provably did not happen. */
const WRITE_RETRIES = 2;

/**
 * Reads and checks an item's parameters and credential, and finds the user of an email address.
 * @param options the item's Request Options
 * @throws Failure, or n8n's error for an expression; the item's own request was not sent then
 */
export async function readCall(
	run: Run,
	parameters: ParameterReader,
	options: RequestOptions,
	index: number,
): Promise<Call> {
	const { operation } = run;
	const { write = false, returns } = operation;
	const [, name = ''] = /:(\w+)/.exec(operation.path) ?? [];
	const value = name && PATH_VALUES[name]!(parameters);
	const query = parameters.query();
	const { method, body, isoTimestamps, ...parts } = operation.read?.(parameters) ?? {};
	const sendOnceKey = write ? parameters.sendOnceKey() : undefined;
	const output = OUTPUT_READERS[returns](parameters, operation, isoTimestamps);
	const retries = write ? WRITE_RETRIES : parameters.count('options.retries');
	const http = toHttpSettings(options);
	const credential = await run.credentials.read(index);
	refuseProxyElsewhere(credential.baseUrl, http);
	const isUser = typeof value === 'object';
	const encoded = isUser ? await run.users.findId(value, credential, { retries, http }) : value;
	const request = {
		method: method ?? operation.method,
		path: operation.path.replace(`:${name}`, () => encoded),
		query,
		...(body && { body: JSON.stringify(body) }),
		write,
		retries,
		file: returns === 'file',
		http,
	};
	return { ...parts, index, operation, credential, body, sendOnceKey, request, output };
}

/** Readers of the values for `:names` in the specification's paths (§4): the percent-encoded value, or a user to look up. */
const PATH_VALUES: Record<string, (parameters: ParameterReader) => string | UserByEmail> = {
	userID: (parameters) => {
		const user = parameters.idOrEmail('userId');
		if (typeof user === 'string') return user;
		const itemsPath = parameters.optionalText('options.usersPath') || undefined;
		return { ...user, itemsPath, pagination: readPagination(parameters, 'usersPagination') };
	},
	resumeID: (parameters) => parameters.id('resumeId'),
	path: (parameters) => parameters.path('path'),
};

const OUTPUT_READERS: Record<
	Operation['returns'],
	(parameters: ParameterReader, operation: Operation, isoTimestamps?: string[]) => OutputSettings
> = {
	record: (parameters, _, isoTimestamps) => ({
		kind: 'record',
		...readItemSettings(parameters),
		isoTimestamps,
	}),

	list: (parameters, { path }) => ({
		kind: 'list',
		...readItemSettings(parameters),
		limit: parameters.flag('returnAll') ? Infinity : parameters.count('limit'),
		path: parameters.optionalText('options.itemsPath') || undefined,
		name: path.split('/').at(-1)!,
		option: 'the option Pagination',
		pagination: readPagination(parameters, 'pagination'),
	}),

	file: (parameters) => ({
		kind: 'file',
		field: parameters.text('binaryPropertyName'),
		fileName: parameters.optionalText('options.fileName'),
		filePath: parameters.optionalText('options.filePath'),
	}),
};

function readItemSettings(parameters: ParameterReader) {
	return {
		simplify: parameters.flag('simplify'),
		fields: parameters.paths('options.fieldsToReturn'),
	};
}

/** Reads the option of this name; undefined if the user has not added it. */
function readPagination(parameters: ParameterReader, name: string): Pagination | undefined {
	const option = `options.${name}.pagination`;
	if (!parameters.has(option)) return undefined;
	const mode = parameters.choice<Pagination['mode']>(`${option}.mode`);
	const sizeName = parameters.optionalText(`${option}.sizeParameterName`);
	const first = mode === 'offset' ? 'firstOffset' : 'firstPage';
	return {
		mode,
		parameter: parameters.text(`${option}.parameterName`),
		start: mode === 'cursor' ? undefined : parameters.count(`${option}.${first}`),
		cursorPath: mode === 'cursor' ? parameters.text(`${option}.cursorPath`) : '',
		size: sizeName ? { [sizeName]: parameters.count(`${option}.pageSize`) } : {},
		maxPages: parameters.count(`${option}.maxPages`),
	};
}

/** n8n's own Request Options (n8n-core/src/nodes-loader/constants.ts). Times are in milliseconds. */
export interface RequestOptions {
	batching?: { batch?: { batchSize?: number; batchInterval?: number } };
	allowUnauthorizedCerts?: boolean;
	proxy?: string;
	timeout?: number;
}

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

export function toBatch(batching: RequestOptions['batching']): StartLimits['batch'] {
	const { batchSize = 50, batchInterval = 0 } = batching?.batch ?? {};
	// n8n writes -1 for a size that is "disabled" (n8n-core/src/nodes-loader/constants.ts).
	if (batchInterval <= 0 || batchSize <= 0) return undefined;
	return { size: batchSize, interval: batchInterval };
}

function parseProxy(proxy: string): IHttpRequestOptions['proxy'] {
	const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
	const [username, password] = [url?.username, url?.password].map((text) => decoded(text ?? ''));
	const isUsable = username !== undefined && password !== undefined;
	if (!url || !/^https?:$/.test(url.protocol) || !isUsable) {
		throw new Failure('parameter.proxy', {}, { isSetting: true });
	}
	const { protocol, hostname, port } = url;
	return {
		protocol: protocol.replace(':', ''),
		host: hostname,
		port: Number(port || (protocol === 'https:' ? 443 : 80)),
		...(username && { auth: { username, password } }),
	};
}
