import type { INodeProperties } from 'n8n-workflow';

import { isTool, ParameterReader } from '../../shared/parameters';
import { parseProxy } from '../http/proxy';
import type { HttpRequest } from '../http/send';
import { type UserByEmail, Users } from '../lookup/users';
import type { Operation, ReadOperation, WriteInput, WriteOperation } from '../operations/operation';
import { listPathOf } from '../responses/list';
import type { RecordOutput } from '../responses/record';
import { paginationOf } from '../responses/pagination';
import type { RequestOptions, Run } from './run';

/** A write of which every expression has been evaluated, and every value checked. */
export interface PreparedWrite extends Pick<WriteInput, 'preview' | 'purchase' | 'extras'> {
	request: HttpRequest;
	output: RecordOutput;
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
): Promise<{ request: HttpRequest; output: InstanceType<ReadOperation['returns']> }> {
	const parameters = parametersOf(run, operation, index);
	const output = new operation.returns(parameters, operation);
	const retries = parameters.wholeNumber('options.retries');
	const common = await prepareCommon(run, operation, index, parameters, retries);
	return { request: { ...common, method: operation.method }, output };
}

/** As {@link prepareRead}, for a write. */
export async function prepareWrite(
	run: Run,
	operation: WriteOperation,
	index: number,
): Promise<PreparedWrite> {
	const parameters = parametersOf(run, operation, index);
	const input = operation.readInput(parameters);
	const { method = operation.method, body, preview, purchase, extras } = input;
	const sendOnceKey = parameters.sendOnceKey();
	const output = new operation.returns(parameters, operation);
	const common = await prepareCommon(run, operation, index, parameters, WRITE_RETRIES);
	const request = { ...common, method, body, write: true };
	return { request, output, sendOnceKey, preview, purchase, extras };
}

/** Prepares the parts of a request that reads and writes have in common. */
async function prepareCommon(
	run: Run,
	operation: Operation,
	index: number,
	parameters: ParameterReader,
	retries: number,
): Promise<Omit<HttpRequest, 'method' | 'body' | 'write'>> {
	const { pathField } = operation;
	const target = pathField && readTarget(parameters, pathField);
	const query = parameters.query();
	const settings = toHttpSettings(run.readParameter('requestOptions', index, {}) as RequestOptions);
	const credential = await run.credentials.read(index);
	const connection = { credential, retries, settings };
	// Last, because it may send a request: what can fail without one has been checked.
	const segment = await segmentOf(run, target, connection);
	// `replace` takes a function here, because it would read `$&` in a text as the match.
	const path = operation.path.replace(/:\w+/, () => segment);
	return { ...connection, path, query };
}

/** Reads what the path leads to: a value for its `:name`, percent-encoded, or a user to look up. */
function readTarget(
	parameters: ParameterReader,
	{ name, type }: INodeProperties,
): string | UserByEmail {
	if (type !== 'resourceLocator') return parameters.path(name);
	const id = parameters.idOrEmail(name);
	if (typeof id === 'string') return id;
	return {
		...id,
		path: listPathOf(parameters, 'options.usersPath'),
		pagination: paginationOf(parameters, 'options.usersPagination'),
	};
}

/** Returns the value for the `:name` in a path; '' for a path without one. */
async function segmentOf(
	run: Run,
	target: string | UserByEmail | undefined,
	connection: Pick<HttpRequest, 'credential' | 'retries' | 'settings'>,
): Promise<string> {
	if (typeof target !== 'object') return target ?? '';
	run.users ??= new Users(run.context);
	return await run.users.findId(target, connection);
}

/** A longer timer of Node.js fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** @throws Failure if Proxy is not a URL */
function toHttpSettings(options: RequestOptions): HttpRequest['settings'] {
	const { allowUnauthorizedCerts, proxy } = options;
	const timeout = Math.ceil(Number(options.timeout ?? 0));
	return {
		...(timeout > 0 && { timeout: Math.min(timeout, MAX_TIMEOUT_MS) }),
		...(proxy && { proxy: parseProxy(proxy) }),
		...(allowUnauthorizedCerts === true && { skipSslCertificateValidation: true }),
	};
}
