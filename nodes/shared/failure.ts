import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, INode } from 'n8n-workflow';

import { type Advice, REQUEST_FAILURES, SETTING_FAILURES } from './failures';

const FAILURES = { ...SETTING_FAILURES, ...REQUEST_FAILURES };

export type FailureId = keyof typeof FAILURES;

/**
 * What became of a write:
 *
 * - `applied`: the service confirmed it.
 * - `refused`: proved not to have happened: not sent, or turned down. Only such a write may be sent
 *   again.
 * - `held`: proved not to have happened, but a person has to act first.
 * - `unknown`: everything else, foreseen or not.
 */
export type Outcome = 'applied' | 'refused' | 'held' | 'unknown';

/** Facts about a failed item. The defaults are the safe ones. */
interface Facts {
	/** The service's `errorCode`, or the network's code such as `ECONNREFUSED`. */
	code?: string;
	httpStatus?: number;
	/** Outcome if the request was a write; `unknown` by default. */
	outcome?: Outcome;
	/** True if the request was a write, so that its outcome is shown. */
	isWrite?: boolean;
	/**
	 * True if the outcome is that of an earlier request with the same Send Once Key. This one was not
	 * sent.
	 */
	isOfEarlierRequest?: boolean;
	/** True if the same request may succeed a moment later. */
	transient?: boolean;
	/** Milliseconds after which the service asks to try again. */
	retryAfter?: number;
	/**
	 * Ends the description: an excerpt of the response, the network's code, or that nothing was sent.
	 */
	details?: string;
}

/**
 * An item that did not succeed, with the sentences that a person reads: at the node, in the list of
 * executions, in an Error Workflow, and wherever a workflow passes them on. They hold no secret,
 * and no network code (NETWORK_CODES).
 */
export class Failure extends Error {
	/** The description without the details. */
	readonly advice: string;

	/** @param values replace `{name}` in the texts of failures.ts */
	constructor(
		readonly id: FailureId,
		readonly values: Record<string, string | number> = {},
		readonly facts: Facts = {},
	) {
		const [message] = FAILURES[id];
		const shown = mayHaveHappened(facts) ? `Outcome unknown: ${message}` : message;
		super(withoutNetworkCodes(fill(shown, values)));
		this.advice = fill(adviceFor(id, facts).join(' '), values);
	}

	get description(): string {
		const { details = '' } = this.facts;
		return withoutNetworkCodes(`${this.advice} ${details}`.trim());
	}

	get outcome(): Outcome {
		return this.facts.outcome ?? 'unknown';
	}

	/** Returns the same failure with other facts. */
	with(facts: Facts): Failure {
		return new Failure(this.id, this.values, { ...this.facts, ...facts });
	}
}

/** Checks whether this request is a write that the service may have carried out. */
function mayHaveHappened(facts: Facts): boolean {
	const { isWrite = false, isOfEarlierRequest = false, outcome = 'unknown' } = facts;
	return isWrite && !isOfEarlierRequest && outcome === 'unknown';
}

const FIND_OUT =
	"The service may have carried it out, so the node did not send it again. Find out what happened before you send it again: ask your account manager, or read the user or the user's resumes.";

/**
 * Returns sentences on what to do next. After a write that may have been carried out, none advises
 * to send it again.
 */
function adviceFor(id: FailureId, facts: Facts): string[] {
	const [, ...advice]: readonly [string, ...Advice[]] = FAILURES[id];
	if (mayHaveHappened(facts)) {
		return [FIND_OUT, ...advice.filter((sentence) => typeof sentence === 'string')];
	}
	const { isWrite, outcome, retryAfter = 0 } = facts;
	const sentences: string[] = [];
	if (isWrite && outcome === 'refused') sentences.push('Nothing was done.');
	if (retryAfter > 0) {
		const seconds = Math.ceil(retryAfter / 1000);
		const wait = seconds === 1 ? 'a second' : `${seconds.toLocaleString('en-US')} seconds`;
		sentences.push(`The service asks to wait ${wait} before the next request.`);
	}
	const all = advice.map((sentence) => (typeof sentence === 'string' ? sentence : sentence.again));
	return [...sentences, ...all];
}

/** Replaces each `{name}` that has a value. */
function fill(text: string, values: Failure['values']): string {
	return text.replace(/\{([a-z]+)\}/gi, (all, name: string) => String(values[name] ?? all));
}

/**
 * The keys of `COMMON_ERRORS` in n8n-workflow/src/errors/abstract/node.error.ts. n8n replaces a
 * whole text that contains one with its own sentence, such as "You can retry the request
 * immediately" after a lost connection. Stop and Error does the same with a text that a workflow
 * has passed on.
 */
const NETWORK_CODES = [
	'ECONNREFUSED',
	'ECONNRESET',
	'ENOTFOUND',
	'ETIMEDOUT',
	'ERRADDRINUSE',
	'EADDRNOTAVAIL',
	'ECONNABORTED',
	'EHOSTUNREACH',
	'EAI_AGAIN',
	'ENOENT',
	'EISDIR',
	'ENOTDIR',
	'EACCES',
	'EEXIST',
	'EPERM',
	'GETADDRINFO',
];

const ANY_NETWORK_CODE = new RegExp(NETWORK_CODES.join('|'), 'gi');

/** Checks for a text that n8n would replace. */
export function hasNetworkCode(text: string): boolean {
	return withoutNetworkCodes(text) !== text;
}

/** Returns the text with a hyphen in each network code, so that n8n leaves the text as it is. */
function withoutNetworkCodes(text: string): string {
	return text.replace(ANY_NETWORK_CODE, (code) => `${code.slice(0, 1)}-${code.slice(1)}`);
}

/**
 * Returns an error as n8n's: a NodeOperationError for a setting, a NodeApiError for a request,
 * n8n's own error as it is.
 * @param itemIndex of the item that failed, if it was one
 */
export function toNodeError(node: INode, error: unknown, itemIndex?: number): Error {
	if (isErrorOfN8n(error)) return error;
	const failure = toFailure(error);
	if (!(failure.id in SETTING_FAILURES)) return toNodeApiError(node, failure, itemIndex);
	const { id, description } = failure;
	// n8n's own errors name the item like this.
	const message = failure.message + (itemIndex === undefined ? '' : ` [item ${itemIndex}]`);
	const nodeError = new NodeOperationError(node, message, { itemIndex, description });
	nodeError.context.failureId = id;
	return nodeError;
}

/** Returns the failure of a request as n8n's error. */
export function toNodeApiError(node: INode, failure: Failure, itemIndex?: number): NodeApiError {
	const { id, message, description, facts } = failure;
	// n8n would take other texts from a response (n8n-workflow/src/errors/node-api.error.ts).
	const noResponse = {};
	const httpCode = facts.httpStatus?.toString();
	const error = new NodeApiError(node, noResponse, { message, description, httpCode, itemIndex });
	// An Error Workflow reads both in `execution.error.context`: the code of a lost connection stands
	// nowhere else.
	error.context.failureId = id;
	error.context.errorCode = facts.code ?? null;
	return error;
}

/**
 * Returns the `error` of a failed item under On Error = Continue. Failures with one cause have the
 * same message, to group them by.
 */
export function toErrorData(error: unknown): IDataObject {
	if (isErrorOfN8n(error)) {
		const { message, description = null } = error;
		return { message, code: null, httpStatus: null, description, id: null };
	}
	const failure = toFailure(error);
	const { id, message, description, outcome, facts } = failure;
	const { code = null, httpStatus = null, isWrite } = facts;
	return { message, code, httpStatus, description, id, ...(isWrite && { outcome }) };
}

/**
 * Replaces an error that is no failure: its text may contain a secret. Its class and the place in
 * this package that it comes from are kept for its report.
 */
export function toFailure(error: unknown): Failure {
	if (error instanceof Failure) return error;
	const { name = 'Error', stack = '' } = error instanceof Error ? error : {};
	const [place = ''] = /(nodes|credentials)\/[\w./]+:\d+/.exec(stack) ?? [];
	return new Failure('node.unexpected', {}, { details: `(${[name, place].join(' ').trim()})` });
}

/**
 * Checks whether an error is n8n's: these have a level and tags (BaseError and ApplicationError of
 * n8n-workflow). `instanceof` would miss them where another community package has installed its own
 * copy of n8n-workflow.
 */
export function isErrorOfN8n(error: unknown): error is Error & { description?: string | null } {
	return error instanceof Error && 'level' in error && 'tags' in error;
}
