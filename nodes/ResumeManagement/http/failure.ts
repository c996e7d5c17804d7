import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, INode, JsonObject } from 'n8n-workflow';

import { hideSecrets, type Secrets } from '../../shared/secrets';
import { FAILURES } from './failures';

export type FailureId = keyof typeof FAILURES;

/** What is known about a failed request. The defaults are the cautious ones. */
interface Facts {
	/** The service's `errorCode`, or the network's code such as `ECONNREFUSED`. */
	code?: string;
	httpStatus?: number;
	/** Whether the service may have carried out the request all the same; false only where that is proved. */
	mayHaveHappened?: boolean;
	/** Whether the same request may succeed a moment later. */
	transient?: boolean;
	/** Whether a person has to act before the same request is sent again. */
	held?: boolean;
	/** Milliseconds after which the service asks to try again. */
	retryAfter?: number;
	/** What became of a write that failed; undefined for a read, and for what was not sent. */
	outcome?: 'unknown' | 'held' | 'refused' | 'applied';
}

interface Words {
	message?: string;
	description?: string;
}

/** Why an item did not succeed. Until {@link withoutSecrets}, its words may hold secrets. */
export class Failure extends Error {
	readonly id: FailureId;

	readonly description: string;

	readonly values: Record<string, string | number>;

	readonly facts: Facts;

	/**
	 * @param values what stands for `{name}` in the texts of {@link FAILURES}
	 * @param words in place of these texts
	 */
	constructor(
		id: FailureId,
		values: Record<string, string | number> = {},
		facts: Facts = {},
		words: Words = {},
	) {
		const fill = (text: string) =>
			text.replace(/\{([a-z]+)\}/gi, (all, name: string) => String(values[name] ?? all));
		const [message, description] = FAILURES[id];
		super(words.message ?? fill(message));
		this.id = id;
		this.description = words.description ?? fill(description);
		this.values = values;
		this.facts = facts;
	}

	get mayHaveHappened(): boolean {
		return this.facts.mayHaveHappened ?? true;
	}

	/** The same failure, with what is known better by now. */
	with({ message, description, ...facts }: Facts & Words): Failure {
		return new Failure(
			this.id,
			this.values,
			{ ...this.facts, ...facts },
			{ message: message ?? this.message, description: description ?? this.description },
		);
	}
}

/** The failure of a write that may have been carried out. */
export function outcomeUnknown(failure: Failure): Failure {
	return failure.with({
		message: `Outcome unknown: ${failure.message}`,
		description: `The service may have carried it out, so it was not sent again. Read the current state before you send it again. ${failure.description}`,
		outcome: 'unknown',
	});
}

/** Characters of the service's words that an error repeats. */
const LONGEST_WORDS = 1_000;

/**
 * Hides the secrets in a Failure's texts, and then cuts the texts: after a cut, a part of a secret could not be
 * found any more. Any other error is returned as it is.
 */
export function withoutSecrets(error: unknown, secrets: Secrets): unknown {
	if (!(error instanceof Failure)) return error;
	const clean = (text: string) => hideSecrets(text, secrets).slice(0, LONGEST_WORDS);
	const { code } = error.facts;
	return error.with({
		message: clean(error.message),
		description: clean(error.description),
		code: code && clean(code),
	});
}

/**
 * A Failure as n8n's error: a NodeApiError for a request, a NodeOperationError for what comes before one. Any
 * other error is returned as it is.
 */
export function toNodeError(node: INode, error: unknown, itemIndex: number): unknown {
	if (!(error instanceof Failure)) return error;
	const { id, description } = error;
	if (!/^(parameter|credential)\.|^write\.repeated$/.test(id)) {
		return toNodeApiError(node, error, itemIndex);
	}
	const message = messageFor(error, itemIndex);
	const nodeError = new NodeOperationError(node, message, { itemIndex, description });
	nodeError.context.failureId = id;
	return nodeError;
}

/** The failure of a request as n8n's error; the service's code is in `context.errorCode`. */
export function toNodeApiError(node: INode, failure: Failure, itemIndex: number): NodeApiError {
	const { id, message, description, facts } = failure;
	// Without a message, n8n's constructor words the error by its HTTP status; with a raw answer, it
	// picks the code out of it (n8n-workflow/src/errors/node-api.error.ts).
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

/** n8n's own errors name their item in this way. */
function messageFor({ id, message, values }: Failure, itemIndex: number): string {
	const isOfItem = 'field' in values || id === 'write.repeated';
	return isOfItem ? `${message} [item ${itemIndex}]` : message;
}

/** What a failed item carries under On Error = Continue. */
export function toErrorData(error: unknown, itemIndex: number): IDataObject {
	if (!(error instanceof Failure)) {
		const { message, description } = error as Error & { description?: string | null };
		return { message, code: null, httpStatus: null, description: description ?? null, id: null };
	}
	const { id, description, facts } = error;
	const { code = null, httpStatus = null, outcome } = facts;
	const message = messageFor(error, itemIndex);
	return { message, code, httpStatus, description, id, ...(outcome && { outcome }) };
}
