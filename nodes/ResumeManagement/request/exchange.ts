import type { IExecuteFunctions, IExecutePaginationFunctions } from 'n8n-workflow';

import { readBody } from '../answer/body';
import { Failure } from '../answer/failure';
import type { AnswerBody } from '../answer/judge';
import type { Secrets } from '../answer/secrets';
import { readRetryAfter } from './attempts';
import type { Credential } from './credential';
import type { Operation } from './operation';
import type { HttpSettings, RequestOptions } from './requestOptions';
import { type Outgoing, type Received, send } from './send';

/**
 * Milliseconds that an answer may take where Request Options name no timeout. n8n's own default of
 * five minutes is long for a read; a payment may take its time.
 */
const TIMEOUTS = { read: 30_000, write: 120_000 };

export type Context = IExecuteFunctions | IExecutePaginationFunctions;

/** What sends a request. */
export interface Sender {
	context: Context;
	requestOptions: RequestOptions;
	/** Aborted when the execution is cancelled. */
	signal?: AbortSignal;
}

/** What belongs to one request, and ends with it. */
export interface Connection {
	/** What no item and no error may show. */
	secrets: Secrets;
	helpers: Pick<IExecuteFunctions['helpers'], 'httpRequest' | 'prepareBinaryData'>;
	/** `timeout` in milliseconds */
	http: HttpSettings & { timeout: number };
	/** When an answer in words has to be read, in milliseconds since 1970. */
	deadline: number;
	/** Ends the request. */
	abort: AbortController;
	/** Aborted by `abort`, when time has run out, and when the execution is cancelled. */
	signal: AbortSignal;
	/** Aborted when the execution is cancelled. */
	cancelled?: AbortSignal;
}

/** What is sent to a path that is known by itself. */
export type Message = Omit<Outgoing, 'path'>;

/** Sends a request, again where that may help, and reads its answer, whatever its HTTP status. */
export type Exchange = <T>(
	message: Message,
	read: (received: Received, connection: Connection) => Promise<T>,
) => Promise<T>;

/**
 * Sends one request and reads its answer.
 * @throws Failure
 */
export async function exchangeOnce<T>(
	{ context, requestOptions, signal: cancelled }: Sender,
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

/** Reads an answer in words: the service's report of success, or of a failure. */
export function bodyOf({ unconfirmed }: Operation) {
	return async (received: Received, { secrets, signal }: Connection): Promise<AnswerBody> =>
		await readBody(received, secrets, signal, unconfirmed);
}
