import type { IDataObject, IHttpRequestMethods, INodeProperties } from 'n8n-workflow';

import type { ParameterReader } from '../../shared/parameters';
import type { JsonBody } from '../http/judge';

/** An operation: its fields, and its differences from other operations. The pipeline is the same for all of them. */
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
	/** Method and path as the partner API specification writes them (§4); `PATH_VALUES` in prepare.ts has what replaces `:names`. */
	method: IHttpRequestMethods;
	path: string;
	fields: INodeProperties[];
	/** Properties of the record with Unix seconds, for the option Timestamps. */
	timestamps?: string[];
}

export interface ReadOperation extends BaseOperation {
	write?: undefined;
	/** One record, a list of them, or a file that is streamed into n8n's binary store. */
	returns: 'record' | 'list' | 'file';
}

/** An operation with which the service changes something: see `writes.ts`. It returns one record. */
export interface WriteOperation extends BaseOperation {
	write: true;
	/** Name of the field that limits the number of items in a run. */
	maxItemsField?: string;
	/** @throws Failure naming the field; nothing was sent then */
	requestParts(parameters: ParameterReader): RequestParts;
	/** Returns why a response with the status "success" does not confirm the request; undefined if it does. */
	whyUnconfirmed?(responseBody: JsonBody, requestBody?: IDataObject): string | undefined;
}

/** Parts of a write that only its operation reads; `prepareWrite` in prepare.ts reads all others. */
export interface RequestParts {
	/** If the item chooses it. */
	method?: IHttpRequestMethods;
	/** Sent as JSON, also when empty. */
	body?: IDataObject;
	/** Return what would be sent instead of sending it. */
	preview?: boolean;
	/** What an upgrade buys: equal IDs for equal purchases, which items of one run may repeat if that is allowed. */
	purchase?: { id: string; isRepeatAllowed: boolean };
}
