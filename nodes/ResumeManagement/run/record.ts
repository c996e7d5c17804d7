import type { INodeExecutionData } from 'n8n-workflow';

import { isObject } from '../../shared/json';
import type { ParameterReader } from '../../shared/parameters';
import type { JsonBody } from '../http/judge';
import { requestJson } from '../http/response';
import type { HttpRequest, Sender } from '../http/send';
import type { Operation } from '../operations/operation';
import { simplified, toItem, withIsoTimes } from '../output/items';

/** The kind of a response that is one record, as each write's is. The constructor and `requestItems` throw Failures. */
export class RecordKind {
	private readonly simplify: boolean;

	/** Dotted paths of the properties to return; none to return all. */
	private readonly fields: string[];

	/** Properties with Unix seconds to return as ISO 8601. */
	private readonly isoTimestamps: string[];

	constructor(parameters: ParameterReader, { timestamps = [] }: Operation) {
		this.simplify = parameters.flag('simplify');
		this.fields = parameters.paths('options.fieldsToReturn');
		const isIso = timestamps.length > 0 && parameters.choice('options.timestamps') === 'iso';
		this.isoTimestamps = isIso ? timestamps : [];
	}

	async requestItems(sender: Sender, request: HttpRequest): Promise<INodeExecutionData[]> {
		const { body } = await requestJson(sender, request);
		return [this.itemOf(body)];
	}

	/**
	 * Returns the item of a response: without Simplify the whole response, else the envelope's `data` with the properties
	 * beside it. A response without the envelope's `status` (§2) is the record itself, and `data` is one of its properties.
	 */
	itemOf(body: JsonBody): INodeExecutionData {
		if (!isObject(body) || body.status !== 'success') return toItem(body, this.fields);
		const { data } = body;
		const shown = isObject(data) ? { ...body, data: withIsoTimes(data, this.isoTimestamps) } : body;
		return toItem(this.simplify ? simplified(shown) : shown, this.fields);
	}
}
