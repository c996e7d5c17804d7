import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, INode, JsonObject } from 'n8n-workflow';

import { hide, type Secrets } from './secrets';

/** What is known of a request that did not succeed. The defaults are the cautious ones. */
interface Facts {
	/** The service's `errorCode`, or the network's code such as `ECONNREFUSED`. */
	code?: string;
	httpStatus?: number;
	/** Whether the service may have done what was asked all the same; false takes a proof. */
	mayHaveHappened?: boolean;
	/** Whether the same request may succeed a moment later. */
	transient?: boolean;
	/** Whether a person has to act before the same request is sent again. */
	held?: boolean;
	/** Milliseconds after which the service asks to try again. */
	retryAfter?: number;
}

/** Why a request did not succeed. Until {@link toNodeApiError}, its words may hold secrets. */
export class Failure extends Error {
	readonly description: string;
	readonly code?: string;
	readonly httpStatus?: number;
	readonly mayHaveHappened: boolean;
	readonly transient: boolean;
	readonly held: boolean;
	readonly retryAfter?: number;

	/**
	 * @param message what happened, in the service's words where it gave any
	 * @param description what to do next
	 */
	constructor(
		message: string,
		description: string,
		{ code, httpStatus, mayHaveHappened, transient, held, retryAfter }: Facts = {},
	) {
		super(message);
		this.description = description;
		this.code = code;
		this.httpStatus = httpStatus;
		this.mayHaveHappened = mayHaveHappened ?? true;
		this.transient = transient ?? false;
		this.held = held ?? false;
		this.retryAfter = retryAfter;
	}

	/** The same failure, with what is known better by now. */
	with({ message, description, ...facts }: Facts & { message?: string; description?: string }) {
		return new Failure(message ?? this.message, description ?? this.description, {
			...this,
			...facts,
		});
	}
}

/** A failed write in the words of someone who must not be billed twice. */
export function outcomeUnknown(failure: Failure): Failure {
	return failure.with({
		message: `Outcome unknown: ${failure.message}`,
		description: `The service may have carried it out, so it was not sent again. Read the current state before you send it again. ${failure.description}`,
	});
}

/** Characters of the service's words that an error repeats. */
const LONGEST_WORDS = 1_000;

/**
 * Of a Failure, the same with the secrets hidden, and then cut: a part of a secret can't be found any more.
 * Of any other error, itself.
 */
export function withoutSecrets(error: unknown, secrets: Secrets): unknown {
	if (!(error instanceof Failure)) return error;
	const { message, description, code } = error;
	return error.with({
		message: hide(message, secrets).slice(0, LONGEST_WORDS),
		description: hide(description, secrets).slice(0, LONGEST_WORDS),
		code: code && hide(code, secrets).slice(0, LONGEST_WORDS),
	});
}

/** The failure as n8n's error; the service's code is in `context.errorCode`. */
export function toNodeApiError(
	node: INode,
	{ message, description, httpStatus, code }: Failure,
	itemIndex: number,
): NodeApiError {
	// Without a message, n8n's constructor words the error by its HTTP status; with a raw answer, it
	// picks the code out of it (n8n-workflow/src/errors/node-api.error.ts).
	const error = new NodeApiError(node, {} as JsonObject, {
		message,
		description,
		httpCode: httpStatus === undefined ? 'none' : String(httpStatus),
		itemIndex,
	});
	// The constructor also replaces a message that holds a code such as ECONNREFUSED.
	error.message = message;
	error.context.errorCode = code ?? null;
	return error;
}

/** What a failed item carries under On Error = Continue. */
export function toErrorData(error: unknown): IDataObject {
	const { message } = error as Error;
	if (error instanceof NodeApiError) {
		const httpStatus = Number(error.httpCode);
		return {
			message,
			code: error.context.errorCode as string | null,
			httpStatus: Number.isNaN(httpStatus) ? null : httpStatus,
			description: error.description ?? null,
		};
	}
	const description = error instanceof NodeOperationError ? error.description : undefined;
	return { message, code: null, httpStatus: null, description: description ?? null };
}
