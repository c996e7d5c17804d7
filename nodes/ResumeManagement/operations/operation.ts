import type { IDataObject, IHttpRequestMethods, INodeProperties } from 'n8n-workflow';

import type { ParameterReader } from '../../shared/parameters';
import type { JsonBody } from '../http/judge';
import type { FileOutput } from '../responses/file';
import type { ListOutput } from '../responses/list';
import type { RecordOutput } from '../responses/record';

/** An operation: its fields, and its differences from other operations. The steps are the same for all of them. */
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
	/** Reads the parts that only this operation has. @throws Failure naming the field; nothing was sent then */
	readParts(parameters: ParameterReader): WriteParts;
	/** Returns why a response with the status "success" does not confirm the request; undefined if it does. */
	confirmationProblem?(responseBody: JsonBody, requestBody?: IDataObject): string | undefined;
}

/** Parts of a write that only its operation reads. */
export interface WriteParts {
	/** If the item chooses it. */
	method?: IHttpRequestMethods;
	/** Sent as JSON, also when empty. */
	body?: IDataObject;
	/** Return what would be sent instead of sending it. */
	preview?: boolean;
	/** Properties that the item of a success gets beside those of its record. */
	beside?: IDataObject;
	/** What an upgrade buys: equal IDs for equal purchases, which items of one run may repeat if that is allowed. */
	purchase?: { id: string; isRepeatAllowed: boolean };
}
