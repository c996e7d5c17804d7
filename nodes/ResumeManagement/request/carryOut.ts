import type {
	IDataObject,
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INodeExecutionData,
} from 'n8n-workflow';

import { Failure } from '../answer/failure';
import { hideSecrets } from '../answer/secrets';
import { getAll } from '../resources/user/getAll';
import { readRetryAfter, withRetries } from './attempts';
import { type ClaimContext, sendOnce } from './claims';
import type { Credential } from './credential';
import type { Connection, Exchange, PreparedItem } from './item';
import type { Operation, PathValues } from './operation';
import { fillPath } from './path';
import type { RequestOptions } from './requestOptions';
import { type Outgoing, type Received, send } from './send';
import type { UserByEmail, Users } from './users';
import type { Write } from './write';

/**
 * Milliseconds that an answer may take where Request Options name no timeout. n8n's own default of
 * five minutes is long for a read; a payment may take its time.
 */
const TIMEOUTS = { read: 30_000, write: 120_000 };

export type Context = IExecuteFunctions | IExecutePaginationFunctions;

/** What all items of a run share. */
export interface Run {
	context: Context;
	operation: Operation;
	requestOptions: RequestOptions;
	users: Users;
	signal?: AbortSignal;
	/** What n8n's editor shows above the output, each once for all items. */
	hints: Set<string>;
}

/**
 * Brings an item to where nothing is left to do but its own request, or what it repeats.
 * @returns what brings it to its end, and throws a Failure where that is none
 * @throws Failure; what the item asks for was not sent then
 */
export async function getReady(
	run: Run,
	credential: Credential,
	item: PreparedItem,
): Promise<(write?: Write) => Promise<INodeExecutionData[]>> {
	const { operation, signal } = run;
	if (item.preview) return async () => [previewOf(operation, item, credential)];
	const hint = (message: string) => void run.hints.add(message);
	const exchangeFor =
		(asked: Operation, path?: Outgoing['path']): Exchange =>
		async (message, read) => {
			const attempts = { retries: item.retries, write: !!asked.write, signal };
			const outgoing = { ...message, path };
			return await withRetries(
				attempts,
				async () => await exchangeOnce(run, credential, asked, outgoing, read),
			);
		};
	const idOf = async (user: UserByEmail) =>
		await run.users.idOf(user, credential, exchangeFor(getAll), hint);
	const path = await resolved(item.path, idOf);
	const exchange = exchangeFor(operation, path);
	const request = async () => await item.request(exchange, hint);
	const { sendOnceKey: key, message } = item;
	// What an item chooses itself keeps its key apart, too.
	const claimed = message.method
		? `${message.method} ${fillPath(operation.path, path)}`
		: operation.path;
	return async (write) => {
		if (!write) return await request();
		return await write.carryOut(async () =>
			key
				? await sendOnce(
						run.context as ClaimContext,
						{ operation: claimed, key, signal },
						hint,
						request,
					)
				: await request(),
		);
	};
}

/** What would be sent, without the key. */
function previewOf(
	{ method, path }: Operation,
	{ message }: PreparedItem,
	{ secrets }: Credential,
): INodeExecutionData {
	const body = message.body && (JSON.parse(message.body) as IDataObject);
	const shown = { preview: true, method, path, ...(body && { body }) };
	const text = JSON.stringify(shown);
	return { json: hideSecrets(shown, text, secrets) as IDataObject };
}

async function resolved(
	path: PathValues,
	idOf: (user: UserByEmail) => Promise<string>,
): Promise<Outgoing['path']> {
	const values = Object.entries(path).map(async ([name, value]) => [
		name,
		typeof value === 'string' ? value : await idOf(value),
	]);
	return Object.fromEntries(await Promise.all(values)) as Outgoing['path'];
}

/** Sends one request and reads its answer. */
async function exchangeOnce<T>(
	{ context, requestOptions, signal: cancelled }: Run,
	credential: Credential,
	operation: Operation,
	outgoing: Outgoing,
	read: (received: Received, connection: Connection) => Promise<T>,
): Promise<T> {
	const timeout = requestOptions.timeout ?? TIMEOUTS[operation.write ? 'write' : 'read'];
	const http = { ...requestOptions.http, timeout };
	const deadline = Date.now() + timeout;
	const abort = new AbortController();
	const signals = [abort.signal];
	if (cancelled) signals.push(cancelled);
	// A file may take as long as it keeps coming: see `storeFile`.
	if (operation.answer !== 'file') signals.push(AbortSignal.timeout(timeout));
	const signal = AbortSignal.any(signals);
	const received = await send(context, credential, operation, outgoing, http, signal);
	try {
		const { helpers } = context;
		const { secrets } = credential;
		const connection = { helpers, secrets, http, deadline, abort, signal, cancelled };
		return await read(received, connection);
	} catch (error) {
		const retryAfter = readRetryAfter(received.headers);
		throw error instanceof Failure && retryAfter ? error.with({ retryAfter }) : error;
	}
}
