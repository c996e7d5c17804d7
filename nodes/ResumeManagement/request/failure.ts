import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, INode, JsonObject } from 'n8n-workflow';

/** Why a request did not succeed, in words that hold no secret. */
export interface Failure {
	/** What happened, in the service's words where it gave any. */
	message: string;
	/** What to do next. */
	description: string;
	/** The service's `errorCode`, or the transport's code such as `ECONNREFUSED`. */
	code?: string;
	httpStatus?: number;
	/** How far the request got when no answer came back. */
	unanswered?: 'notSent' | 'maybeSent';
	/** Whether trying again can't help, such as with a certificate that is not accepted. */
	permanent?: boolean;
	/** Milliseconds after which the service asks to try again. */
	retryAfter?: number;
	/** Whether the service may have done what was asked all the same. */
	inconclusive?: boolean;
}

/** The failure as n8n's error; the service's code is in `context.errorCode`. */
export function toNodeApiError(node: INode, failure: Failure, itemIndex: number): NodeApiError {
	// Without a message, n8n's constructor words the error by its HTTP status; with a raw answer, it
	// picks the code out of it (n8n-workflow/src/errors/node-api.error.ts).
	const error = new NodeApiError(node, {} as JsonObject, {
		message: failure.message,
		description: failure.description,
		httpCode: failure.httpStatus === undefined ? 'none' : String(failure.httpStatus),
		itemIndex,
	});
	// The constructor also replaces a message that holds a code such as ECONNREFUSED.
	error.message = failure.message;
	error.context.errorCode = failure.code ?? null;
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

/** Whether a write that failed in this way may have been carried out, and so must not be sent again. */
export function isOutcomeUnknown({ inconclusive, unanswered }: Failure): boolean {
	return inconclusive === true || unanswered === 'maybeSent';
}

/** A write's failure in the words of someone who must not be billed twice. */
export function outcomeUnknown(failure: Failure): Failure {
	return {
		...failure,
		message: `Outcome unknown: ${failure.message}`,
		description: `The service may have carried it out, so it was not sent again. Read the current state before you send it again. ${failure.description}`,
	};
}

/** The failure with each secret replaced, which a service may repeat in its own words. */
export function withoutSecrets(failure: Failure, secrets: string[]): Failure {
	const clean = (text: string) =>
		secrets.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
	return {
		...failure,
		message: clean(failure.message),
		description: clean(failure.description),
	};
}
