import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, INode, JsonObject } from 'n8n-workflow';

import { FAILURES } from './failures';

export type FailureId = keyof typeof FAILURES;

/** Facts about a failed item. The defaults are the cautious ones. */
interface Facts {
	/** The service's `errorCode`, or the network's code such as `ECONNREFUSED`. */
	code?: string;
	httpStatus?: number;
	/** Whether the service may have carried out the request all the same; false only if that is proved. */
	mayHaveHappened?: boolean;
	/** Whether the same request may succeed a moment later. */
	transient?: boolean;
	/** Whether a person has to act before the same request is sent again. */
	onHold?: boolean;
	/** Milliseconds after which the service asks to try again. */
	retryAfter?: number;
	/** Whether the workflow or the credential has to be changed: the service had no part in it. */
	isSetting?: boolean;
	/** Shown after the description: an excerpt of the response, or the network's code. */
	details?: string;
	/** Outcome of a write that failed; undefined for a read, and for what was not sent. */
	outcome?: 'unknown' | 'held' | 'refused' | 'applied';
}

interface Texts {
	message?: string;
	advice?: string;
}

/** Why an item did not succeed. What its texts hold of a response has no secrets in it: see `hideSecrets`. */
export class Failure extends Error {
	readonly id: FailureId;

	/** The description without the details. */
	readonly advice: string;

	readonly values: Record<string, string | number>;

	readonly facts: Facts;

	/**
	 * @param values replace `{name}` in the texts of {@link FAILURES}
	 * @param texts in place of these texts
	 */
	constructor(
		id: FailureId,
		values: Record<string, string | number> = {},
		facts: Facts = {},
		texts: Texts = {},
	) {
		const fill = (text: string) =>
			text.replace(/\{([a-z]+)\}/gi, (all, name: string) => String(values[name] ?? all));
		const [message, description] = FAILURES[id];
		super(texts.message ?? fill(message));
		this.id = id;
		this.advice = texts.advice ?? fill(description);
		this.values = values;
		this.facts = facts;
	}

	get description(): string {
		return `${this.advice} ${this.facts.details ?? ''}`.trim();
	}

	get mayHaveHappened(): boolean {
		return this.facts.mayHaveHappened ?? true;
	}

	/** Returns the same failure with other facts or texts. */
	with({ message, advice, ...facts }: Facts & Texts): Failure {
		return new Failure(
			this.id,
			this.values,
			{ ...this.facts, ...facts },
			{ message: message ?? this.message, advice: advice ?? this.advice },
		);
	}
}

/** Returns the failure of a write that may have been carried out. Its own advice could be to send it again. */
export function outcomeUnknown(failure: Failure): Failure {
	const advice =
		'The service may have carried it out, so it was not sent again. Read the current state before you send it again.';
	return failure.with({
		message: `Outcome unknown: ${failure.message}`,
		advice,
		outcome: 'unknown',
	});
}

/**
 * Returns an error as n8n's: a NodeOperationError for a setting, a NodeApiError for a request. An error of n8n
 * itself, such as that of an expression, stays as it is.
 * @param itemIndex of the item that failed, if it was one
 */
export function toNodeError(node: INode, error: unknown, itemIndex?: number): Error {
	if (isErrorOfN8n(error)) return error;
	const failure = toFailure(error);
	if (!failure.facts.isSetting) return toNodeApiError(node, failure, itemIndex);
	const { id, description } = failure;
	const message = messageFor(failure, itemIndex);
	const nodeError = new NodeOperationError(node, message, { itemIndex, description });
	nodeError.context.failureId = id;
	return nodeError;
}

/** Returns the failure of a request as n8n's error; the service's code is in `context.errorCode`. */
export function toNodeApiError(node: INode, failure: Failure, itemIndex?: number): NodeApiError {
	const { id, message, description, facts } = failure;
	// Without a message, n8n's constructor writes one for the HTTP status. From a raw response, it takes the code (n8n-workflow/src/errors/node-api.error.ts).
	const error = new NodeApiError(node, {} as JsonObject, {
		message,
		description,
		httpCode: facts.httpStatus === undefined ? 'none' : String(facts.httpStatus),
		itemIndex,
	});
	// The constructor also replaces a message that holds a code such as ECONNREFUSED.
	error.message = message;
	error.context.errorCode = facts.code ?? null;
	error.context.failureId = id;
	return error;
}

/** Returns what a failed item carries under On Error = Continue. */
export function toErrorData(error: unknown, itemIndex: number): IDataObject {
	if (isErrorOfN8n(error)) {
		const { message, description = null } = error;
		return { message, code: null, httpStatus: null, description, id: null };
	}
	const failure = toFailure(error);
	const { id, description, facts } = failure;
	const { code = null, httpStatus = null, outcome } = facts;
	const message = messageFor(failure, itemIndex);
	return { message, code, httpStatus, description, id, ...(outcome && { outcome }) };
}

/** Names the item of a setting, as n8n's own errors do. */
function messageFor({ message, facts }: Failure, itemIndex?: number): string {
	return facts.isSetting && itemIndex !== undefined ? `${message} [item ${itemIndex}]` : message;
}

/** Returns the failure for an error. The text of any other error is not shown, because it may contain a secret. */
function toFailure(error: unknown): Failure {
	return error instanceof Failure ? error : new Failure('node.unexpected');
}

/** Whether n8n made an error: its own have a level and tags (n8n-workflow/src/errors/base/base.error.ts, in n8n 1 and 2). */
export function isErrorOfN8n(error: unknown): error is Error & { description?: string | null } {
	return error instanceof Error && 'level' in error && 'tags' in error;
}
