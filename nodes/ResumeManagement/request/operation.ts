import type { IDataObject, IHttpRequestMethods, INodeProperties } from 'n8n-workflow';

import type { AnswerBody } from '../answer/judge';
import type { Pagination } from '../answer/pages';
import type { Parameters } from './parameters';

/** A user of whom an item knows the e-mail address alone, and how the list of users is to be read. */
export interface UserByEmail {
	email: string;
	list: {
		operation: Operation;
		/** Where an answer holds the list; '' to find it. */
		itemsPath: string;
		pagination?: Pagination;
	};
}

/** Values of a path's `:parameters`, percent-encoded, or what such a value is to be looked up by. */
export type PathValues = Record<string, string | UserByEmail>;

export interface Purchase {
	/** The same text for the same purchase. */
	id: string;
	/** Whether another item of the run may be for it, too. */
	mayRepeat: boolean;
}

/** What the operation's parameters come to, for one item. */
export interface RequestParts {
	/** Where the item chooses it. */
	method?: IHttpRequestMethods;
	path?: PathValues;
	query?: IDataObject;
	/** Sent as JSON, also when empty. */
	body?: IDataObject;
	/** Stands for the purchase across executions: see `claims.ts`. */
	sendOnceKey?: string;
	/** Whether to return what would be sent instead of sending it. */
	preview?: boolean;
	/** What a person pays for: see `refuseRepeated`. */
	purchase?: Purchase;
	/** Turns a successful answer into the form that the user asked for. It must not throw: see `write.ts`. */
	convert?: (answer: AnswerBody) => AnswerBody;
	/** What n8n's editor shows above the output when the item has succeeded. */
	hint?: string;
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
	/** What assistants that build workflows are told when they choose the operation. */
	builderHint?: string;
	/** Method and path as the partner API specification writes them (§4). */
	method: IHttpRequestMethods;
	path: string;
	/** Whether the service changes something: see `write.ts`. */
	write?: boolean;
	/** What comes back: one record, a list of them, or a file that is streamed into n8n's binary store. */
	answer: 'record' | 'list' | 'file';
	fields: INodeProperties[];
	/**
	 * Reads and checks what one item's parameters say of the request. Those that all operations with
	 * such an answer have, such as Simplify and Limit, the pipeline reads.
	 * @throws NodeOperationError naming the field; nothing was sent then
	 */
	read(parameters: Parameters): RequestParts;
	/** Says why an answer that reports no error is still not the success that was asked for. */
	unconfirmed?(body: AnswerBody): string | undefined;
}
