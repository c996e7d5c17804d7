import type { IHttpRequestOptions, INode } from 'n8n-workflow';

import type { Credential } from '../../shared/credential';
import { Failure } from '../../shared/failure';
import { ParameterReader, type ParameterOptions } from '../../shared/parameters';
import { decoded } from '../../shared/path';
import { type HttpRequest, type HttpSettings, refuseRemoteProxy, type Sender } from '../http/send';
import type { ReadOperation, RequestParts, WriteOperation } from '../operations/operation';
import type { Claims } from './claims';
import { FileKind } from './file';
import type { Journal } from './journal';
import { ListKind, listPathOf, paginationOf } from './list';
import { RecordKind } from './record';
import type { UserByEmail, Users } from './users';

/** A run of the node: what its items share. Only a run of writes has a `journal`. */
export type Run = ReadRun | WriteRun;

export type ReadRun = BaseRun & { operation: ReadOperation; journal?: undefined };

export type WriteRun = BaseRun & { operation: WriteOperation; journal: Journal; claims: Claims };

export interface BaseRun {
	node: INode;
	sender: Sender;
	/** Failed items are returned as data, and the run continues. */
	continues: boolean;
	credentials: { read(itemIndex: number): Promise<Credential> };
	users: Users;
	/** Shows a message above the output in n8n's editor, once for all items. */
	hint(message: string): void;
	/** n8n's `getNodeParameter`. */
	readParameter(
		name: string,
		index: number,
		fallback?: unknown,
		options?: ParameterOptions,
	): unknown;
}

/** An item's request, and the kind of its response. Every expression has been evaluated. */
export interface PreparedRead {
	request: HttpRequest;
	/** Sends the request, and makes its items. */
	kind: RecordKind | ListKind | FileKind;
}

export interface PreparedWrite extends Pick<RequestParts, 'preview' | 'purchase'> {
	request: HttpRequest;
	kind: RecordKind;
	/** What the item is for, claimed across executions: see `claims.ts`. Undefined if the user set none. */
	sendOnceKey?: string;
}

const KINDS = { record: RecordKind, list: ListKind, file: FileKind };

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
export async function prepareRead(run: ReadRun, index: number): Promise<PreparedRead> {
	const { operation } = run;
	const parameters = parametersOf(run, index);
	const kind = new KINDS[operation.returns](parameters, operation);
	const parts = { method: operation.method, retries: parameters.count('options.retries') };
	return { kind, request: await toRequest(run, index, parameters, parts) };
}

/** As {@link prepareRead}, for a write. */
export async function prepareWrite(run: WriteRun, index: number): Promise<PreparedWrite> {
	const { operation } = run;
	const parameters = parametersOf(run, index);
	const own = operation.requestParts(parameters);
	const { method = operation.method, body, preview, purchase } = own;
	const sendOnceKey = parameters.sendOnceKey();
	const kind = new RecordKind(parameters, operation);
	const parts = { method, body, write: true, retries: WRITE_RETRIES };
	const request = await toRequest(run, index, parameters, parts);
	return { request, kind, preview, purchase, sendOnceKey };
}

/** The value for the `:name` in a path of the specification (§4): percent-encoded, or a user to look up. */
type PathValue = string | UserByEmail;

const PATH_VALUES: Record<string, (parameters: ParameterReader) => PathValue> = {
	userID: (parameters) => {
		const user = parameters.idOrEmail('userId');
		if (typeof user === 'string') return user;
		return {
			...user,
			path: listPathOf(parameters, 'options.usersPath'),
			pagination: paginationOf(parameters, 'options.usersPagination'),
		};
	},
	resumeID: (parameters) => parameters.id('resumeId'),
	path: (parameters) => parameters.path('path'),
};

/** Adds path, query, Request Options and credential to the parts of an item's request. */
async function toRequest(
	{ operation, credentials, users, readParameter }: Run,
	index: number,
	parameters: ParameterReader,
	parts: Pick<HttpRequest, 'method' | 'body' | 'write' | 'retries'>,
): Promise<HttpRequest> {
	const [, name] = /:(\w+)/.exec(operation.path) ?? [];
	const pathValue = name && PATH_VALUES[name]!(parameters);
	const query = parameters.query();
	const http = toHttpSettings(readParameter('requestOptions', index, {}) as RequestOptions);
	const credential = await credentials.read(index);
	refuseRemoteProxy(credential.baseUrl, http);
	const settings = { credential, http, retries: parts.retries };
	const isUser = typeof pathValue === 'object';
	const value = isUser ? await users.findId(pathValue, settings) : (pathValue ?? '');
	return { ...parts, ...settings, query, path: operation.path.replace(/:\w+/, () => value) };
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
	if (!/^\s*https?:/i.test(proxy) || !URL.canParse(proxy)) throw new Failure('parameter.proxy');
	const url = new URL(proxy);
	const { protocol, hostname, port } = url;
	const username = decoded(url.username);
	const password = decoded(url.password);
	if (username === undefined || password === undefined) throw new Failure('parameter.proxy');
	return {
		protocol: protocol.replace(':', ''),
		host: hostname,
		port: Number(port || (protocol === 'https:' ? 443 : 80)),
		...(username && { auth: { username, password } }),
	};
}
