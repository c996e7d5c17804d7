import type { IDataObject, IHttpRequestMethods, INodeProperties } from 'n8n-workflow';

import type { ParameterReader } from '../../shared/parameters';
import type { JsonBody } from '../http/judge';

/** The purchase that an upgrade makes. */
export interface Purchase {
	/** Equal for equal purchases. */
	id: string;
	/** True if another item of the run may buy the same. */
	mayRepeat: boolean;
}

/** Parts of a request that only its operation reads; `readCall` reads all others. */
export interface RequestParts {
	/** If the item chooses it. */
	method?: IHttpRequestMethods;
	/** Sent as JSON, also when empty. */
	body?: IDataObject;
	isoTimestamps?: string[];
	/** Return what would be sent instead of sending it. */
	preview?: boolean;
	purchase?: Purchase;
}

/** An operation: its fields, and its differences from other operations. The pipeline is the same for all of them. */
export interface Operation {
	/** n8n's name of the operation, which saved workflows contain. */
	value: string;
	name: string;
	/** Shown in n8n's list of actions: the operation with its resource. */
	action: string;
	/** AI agents read it too, so it says what the operation changes or bills. */
	description: string;
	/** For assistants that build workflows. */
	builderHint?: string;
	/** Method and path as the partner API specification writes them (§4); `PATH_VALUES` has what replaces `:names`. */
	method: IHttpRequestMethods;
	path: string;
	/** The service changes something: see `write.ts`. */
	write?: boolean;
	/** One record, a list of them, or a file that is streamed into n8n's binary store. */
	returns: 'record' | 'list' | 'file';
	fields: INodeProperties[];
	/** Name of the field with the most items that a run may have. */
	maxItems?: string;
	/** @throws Failure naming the field; nothing was sent then */
	read?(parameters: ParameterReader): RequestParts;
	/**
	 * Returns why a response with the status "success" does not confirm a write; undefined if it does.
	 * @param sent the request's body
	 */
	checkConfirmation?(body: JsonBody, sent: IDataObject): string | undefined;
}
