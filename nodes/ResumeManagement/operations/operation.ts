import type { IDataObject, IHttpRequestMethods, INodeProperties } from 'n8n-workflow';

import type { ParameterReader } from '../../shared/parameters';
import type { FileOutput } from '../responses/file';
import type { ListOutput } from '../responses/list';
import type { RecordOutput } from '../responses/record';

/**
 * An operation: its fields, and its differences from other operations. The steps are the same for
 * all of them.
 */
export type Operation = ReadOperation | WriteOperation;

interface BaseOperation {
	/** n8n's name of the operation, which saved workflows contain. */
	value: string;
	name: string;
	/** Shown in n8n's list of actions: the operation with its resource. */
	action: string;
	/** AI agents read it too, so it says what the operation changes or bills. */
	description: string;
	/** For assistants that build workflows. */
	builderHint?: string;
	/** Method and path as the partner API specification writes them (§4). */
	method: IHttpRequestMethods;
	path: string;
	/** The field that gives the value for the `:name` in the path. */
	pathField?: INodeProperties;
	fields: INodeProperties[];
	/** Properties of the record with Unix seconds, for the option Timestamps. */
	timestamps?: string[];
}

export interface ReadOperation extends BaseOperation {
	write?: undefined;
	returns: typeof RecordOutput | typeof ListOutput | typeof FileOutput;
}

/** An operation with which the service changes something: see run/write.ts. */
export interface WriteOperation extends BaseOperation {
	write: true;
	returns: typeof RecordOutput;
	/** Name of the field that limits the number of items in a run. */
	maxItemsField?: string;
	/** Adds `billed: true` to its items, and `billed: false` to its previews. */
	bills?: true;
	/**
	 * Reads the fields that only this operation has.
	 * @throws Failure naming the field; nothing was sent then
	 */
	readInput(parameters: ParameterReader): WriteInput;
	/**
	 * Returns what a response with the status "success" lacks to confirm the request; undefined if
	 * nothing.
	 */
	whyUnconfirmed?(response: IDataObject, sent: IDataObject): string | undefined;
}

/** What a write reads from its own fields. */
export interface WriteInput {
	/** Replaces the operation's method. */
	method?: IHttpRequestMethods;
	/** Sent as JSON, even if empty. */
	body?: IDataObject;
	/** Return what would be sent instead of sending it. */
	preview?: boolean;
	/** Properties that the item of a success gets besides those of its record. */
	extras?: IDataObject;
	/**
	 * What the item buys. Equal purchases have equal IDs, and a run refuses a repeated one unless it
	 * is allowed.
	 */
	purchase?: { id: string; isRepeatAllowed: boolean };
}
