import type {
	IDataObject,
	IHttpRequestMethods,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';

import type { Failure } from './failure';
import type { Pagination } from './pages';
import type { Parameters } from './parameters';

/** The body of a successful answer, as received: an envelope, or whatever an open endpoint sends. */
export type AnswerBody = IDataObject | IDataObject[];

/** What the operation's parameters add to the request, for one item. */
export interface RequestParts {
	/** Values of the path's `:parameters`, percent-encoded by {@link Parameters.id}. */
	path?: Record<string, string>;
	query?: IDataObject;
	/** Sent as JSON, also when empty. */
	body?: IDataObject;
	/** Where the user wants a list to be read page by page. */
	pagination?: Pagination;
}

/**
 * One operation of the action node: what a user sees of it, and what of it differs from the others.
 * All else is the pipeline's, so an operation can't leave a step out.
 */
export interface Operation {
	/** n8n's name of the operation: a public name, kept for good. */
	value: string;
	name: string;
	/** Shown in n8n's list of actions: the operation with its resource. */
	action: string;
	/** Also read by AI agents, so it says what the operation changes or bills. */
	description: string;
	/** Method and path as the partner API specification writes them (§4). */
	method: IHttpRequestMethods;
	path: string;
	/** Whether the service changes something: writes are sent one at a time, in item order. */
	write?: boolean;
	/** Whether the answer is a file, which is streamed into n8n's binary store. */
	file?: boolean;
	fields: INodeProperties[];
	/**
	 * Reads and checks one item's parameters.
	 * @throws NodeOperationError naming the field; nothing was sent then
	 */
	read(parameters: Parameters): RequestParts;
	/** Says why an answer that reports no error is still not the success that was asked for. */
	unconfirmed?(body: AnswerBody): string | undefined;
	/** Turns a successful answer into output items, which the pipeline pairs with their input. */
	shape(answer: AnswerBody, parameters: Parameters): Shaped;
}

export type Shaped = { items: INodeExecutionData[] } | { failure: Failure };
