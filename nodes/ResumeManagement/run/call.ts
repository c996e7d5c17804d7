import type { IHttpRequestOptions, INode } from 'n8n-workflow';

import type { Credential } from '../../shared/credential';
import { Failure } from '../../shared/failure';
import { ParameterReader, type ReadOptions } from '../../shared/parameters';
import { decoded } from '../../shared/path';
import {
	type HttpRequest,
	type HttpSettings,
	refuseProxyElsewhere,
	type Sender,
} from '../http/send';
import type { Operation, Purchase, WriteOperation } from '../operations/operation';
import { FileOutput } from './file';
import { ListOutput, readListPath, readPagination } from './list';
import { RecordOutput } from './record';
import type { UserByEmail, Users } from './users';

/** A run of the node: what its items share. */
export interface Run<O extends Operation = Operation> {
	operation: O;
	node: INode;
	sender: Sender;
	/** Failed items are returned as data, and the run continues. */
	continues: boolean;
	credentials: { read(itemIndex: number): Promise<Credential> };
	users: Users;
	/** Shows a message above the output in n8n's editor, once for all items. */
	hint(message: string): void;
	/** n8n's `getNodeParameter`. */
	readParameter(name: string, index: number, fallback?: unknown, options?: ReadOptions): unknown;
}

export function isWriteRun(run: Run): run is Run<WriteOperation> {
	return run.operation.write === true;
}

/** An item's request, and what its response is. Every expression has been evaluated. */
export interface ReadCall {
	request: HttpRequest;
	output: RecordOutput | ListOutput | FileOutput;
}

export interface WriteCall {
	request: HttpRequest;
	output: RecordOutput;
	/** Return what would be sent instead of sending it. */
	preview: boolean;
	purchase?: Purchase;
	/** Identifies the request across executions: see `claims.ts`. Undefined if the user set none. */
	sendOnceKey?: string;
}

const OUTPUTS = { record: RecordOutput, list: ListOutput, file: FileOutput };

/** Retries of a write that provably did not happen. */
const WRITE_RETRIES = 2;

export function parametersOf({ operation, readParameter }: Run, index: number): ParameterReader {
	return new ParameterReader(operation.fields, (name, fallback, options) =>
		readParameter(name, index, fallback, options),
	);
}

/**
 * Reads and checks an item's parameters and credential, and finds the user of an email address.
 * @throws Failure, or n8n's error for an expression; the item's own request was not sent then
 */
export async function readCall(run: Run, index: number): Promise<ReadCall> {
	const { operation } = run;
	const parameters = parametersOf(run, index);
	const place = readPlace(parameters, operation);
	const query = parameters.query();
	const output = new OUTPUTS[operation.write ? 'record' : operation.returns](parameters, operation);
	const retries = parameters.count('options.retries');
	const request = { method: operation.method, query, retries };
	return { output, request: await complete(run, index, place, request) };
}

/** As {@link readCall}, for a write. */
export async function readWriteCall(run: Run<WriteOperation>, index: number): Promise<WriteCall> {
	const { operation } = run;
	const parameters = parametersOf(run, index);
	const place = readPlace(parameters, operation);
	const query = parameters.query();
	const { method = operation.method, body, preview = false, purchase } = operation.read(parameters);
	const sendOnceKey = parameters.sendOnceKey();
	const output = new RecordOutput(parameters, operation);
	const parts = { method, query, body, write: true, retries: WRITE_RETRIES };
	const request = await complete(run, index, place, parts);
	return { request, output, preview, purchase, sendOnceKey };
}

/** The value for the `:name` in a path of the specification (§4): percent-encoded, or a user to look up. */
type Place = string | UserByEmail | undefined;

function readPlace(parameters: ParameterReader, { path }: Operation): Place {
	const [, name] = /:(\w+)/.exec(path) ?? [];
	return name && PLACES[name]!(parameters);
}

const PLACES: Record<string, (parameters: ParameterReader) => Place> = {
	userID: (parameters) => {
		const user = parameters.idOrEmail('userId');
		if (typeof user === 'string') return user;
		return {
			...user,
			path: readListPath(parameters, 'options.usersPath'),
			pagination: readPagination(parameters, 'options.usersPagination'),
		};
	},
	resumeID: (parameters) => parameters.id('resumeId'),
	path: (parameters) => parameters.path('path'),
};

/** Adds the Request Options, the credential and the path to an item's request. */
async function complete(
	{ operation, credentials, users, readParameter }: Run,
	index: number,
	place: Place,
	parts: Pick<HttpRequest, 'method' | 'query' | 'body' | 'write' | 'retries'>,
): Promise<HttpRequest> {
	const http = toHttpSettings(readParameter('requestOptions', index, {}) as RequestOptions);
	const credential = await credentials.read(index);
	refuseProxyElsewhere(credential.baseUrl, http);
	const common = { ...parts, credential, http };
	const value = typeof place === 'object' ? await users.findId(place, common) : (place ?? '');
	return { ...common, path: operation.path.replace(/:\w+/, () => value) };
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
function toHttpSettings(options: RequestOptions): HttpSettings {
	const { allowUnauthorizedCerts, proxy } = options;
	const timeout = Math.ceil(Math.min(Number(options.timeout), LONGEST_TIMEOUT));
	return {
		...(timeout > 0 && { timeout }),
		...(proxy && { proxy: parseProxy(proxy) }),
		...(allowUnauthorizedCerts === true && { skipSslCertificateValidation: true }),
	};
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
