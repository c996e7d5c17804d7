import type {
	IExecuteFunctions,
	IExecutePaginationFunctions,
	IHttpRequestOptions,
	INode,
} from 'n8n-workflow';

import type { Credential } from '../../shared/credential';
import { Failure } from '../../shared/failure';
import { isTool, ParameterReader, type ParameterOptions } from '../../shared/parameters';
import { decoded } from '../../shared/text';
import type { HttpRequest } from '../http/send';
import { type UserByEmail, Users } from '../lookup/users';
import type { Claims } from '../once/claims';
import type { Operation, ReadOperation, WriteOperation, WriteParts } from '../operations/operation';
import type { RecordOutput } from '../responses/record';
import { listPathOf, paginationOf } from '../responses/requestList';

/** What the items of a run share. */
export interface Run {
	context: IExecuteFunctions | IExecutePaginationFunctions;
	node: INode;
	/** Failed items are returned as data, and the run continues. */
	continues: boolean;
	/** A failed write stops the writes after it. */
	stopsWrites: boolean;
	credentials: { read(itemIndex: number): Promise<Credential> };
	/** Set once an item names a user by email. */
	users?: Users;
	/** Set once an item has a Send Once Key. */
	claims?: Claims;
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

/** A write of which every expression has been evaluated, and every value checked. */
export interface PreparedWrite extends Pick<WriteParts, 'preview' | 'purchase' | 'beside'> {
	request: HttpRequest;
	response: RecordOutput;
	/** What the item is for, claimed across executions. Undefined if the user set none. */
	sendOnceKey?: string;
}

/** Retries of a write that provably did not happen. */
const WRITE_RETRIES = 2;

export function parametersOf(run: Run, { fields }: Operation, index: number): ParameterReader {
	return new ParameterReader(
		fields,
		(name, fallback, options) => run.readParameter(name, index, fallback, options),
		'Nothing was sent for this item.',
		isTool(run.node),
	);
}

/**
 * Reads and checks an item's parameters and credential, and finds the user of an email address.
 * @throws Failure, or n8n's error for an expression; the item's own request was not sent then
 */
export async function prepareRead(
	run: Run,
	operation: ReadOperation,
	index: number,
): Promise<{ request: HttpRequest; response: InstanceType<ReadOperation['returns']> }> {
	const parameters = parametersOf(run, operation, index);
	const response = new operation.returns(parameters, operation);
	const retries = parameters.count('options.retries');
	const parts = { method: operation.method, retries };
	const request = await toRequest(run, operation, index, parameters, parts);
	return { request, response };
}

/** As {@link prepareRead}, for a write. */
export async function prepareWrite(
	run: Run,
	operation: WriteOperation,
	index: number,
): Promise<PreparedWrite> {
	const parameters = parametersOf(run, operation, index);
	const own = operation.readParts(parameters);
	const { method = operation.method, body, ...others } = own;
	const sendOnceKey = parameters.sendOnceKey();
	const response = new operation.returns(parameters, operation);
	const parts = { method, body, write: true, retries: WRITE_RETRIES };
	const request = await toRequest(run, operation, index, parameters, parts);
	return { ...others, request, response, sendOnceKey };
}

/** Adds path, query, Request Options and credential to the parts of an item's request. */
async function toRequest(
	run: Run,
	operation: Operation,
	index: number,
	parameters: ParameterReader,
	parts: Pick<HttpRequest, 'method' | 'body' | 'write' | 'retries'>,
): Promise<HttpRequest> {
	const pathValue = readPathValue(operation, parameters);
	const query = parameters.query();
	const settings = toHttpSettings(run.readParameter('requestOptions', index, {}) as RequestOptions);
	const credential = await run.credentials.read(index);
	const request = { ...parts, query, settings, credential };
	const value = typeof pathValue === 'string' ? pathValue : await findUser(run, pathValue, request);
	return { ...request, path: operation.path.replace(/:\w+/, () => value) };
}

/** Returns the value for the `:name` in the path, percent-encoded, or a user to look up; '' for a path without a name. */
function readPathValue(
	{ pathField }: Operation,
	parameters: ParameterReader,
): string | UserByEmail {
	if (!pathField) return '';
	if (pathField.type !== 'resourceLocator') return parameters.path(pathField.name);
	const id = parameters.idOrEmail(pathField.name);
	if (typeof id === 'string') return id;
	const path = listPathOf(parameters, 'options.usersPath');
	return { ...id, path, pagination: paginationOf(parameters, 'options.usersPagination') };
}

async function findUser(
	run: Run,
	user: UserByEmail,
	request: Omit<HttpRequest, 'path'>,
): Promise<string> {
	run.users ??= new Users(run.context, run.hint);
	return await run.users.findId(user, request);
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
function toHttpSettings(options: RequestOptions): HttpRequest['settings'] {
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
 * n8n writes user and password into a URL, which encodes all reserved characters but the percent sign, and its proxy agent
 * decodes them (@n8n/backend-network's http/axios/utils.ts, http-proxy-agent).
 * @throws Failure if a percent sign is no escape
 */
function forProxyAgent(encoded: string): string {
	const text = decoded(encoded);
	if (text === undefined) throw new Failure('parameter.proxy');
	return text.replaceAll('%', '%25');
}
