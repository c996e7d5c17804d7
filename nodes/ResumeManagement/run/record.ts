import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { isObject } from '../../shared/json';
import type { ParameterReader } from '../../shared/parameters';
import type { JsonBody } from '../http/judge';
import { requestJson } from '../http/response';
import type { HttpRequest, Sender } from '../http/send';
import type { Operation } from '../operations/operation';
import { toItem } from '../output/items';

/** The kind of a response that is one record. Each write returns one. */
export class RecordOutput {
	private readonly simplify: boolean;

	/** Dotted paths of the properties to return; none to return all. */
	private readonly fields: string[];

	/** Properties with Unix seconds to return as ISO 8601. */
	private readonly isoTimestamps: string[];

	/** @throws Failure */
	constructor(parameters: ParameterReader, { timestamps = [] }: Operation) {
		this.simplify = parameters.flag('simplify');
		this.fields = parameters.paths('options.fieldsToReturn');
		const isIso = timestamps.length > 0 && parameters.choice('options.timestamps') === 'iso';
		this.isoTimestamps = isIso ? timestamps : [];
	}

	/** @throws Failure */
	async request(sender: Sender, request: HttpRequest): Promise<INodeExecutionData[]> {
		const { body } = await requestJson(sender, request);
		return [this.toItem(body)];
	}

	/**
	 * Returns the item of a response: without Simplify the whole response, else the envelope's `data` with the properties
	 * beside it. A response without the envelope's `status` (§2) is the record itself, and `data` is one of its properties.
	 */
	toItem(body: JsonBody): INodeExecutionData {
		if (!isObject(body) || body.status !== 'success') return toItem(body, this.fields);
		const data = isObject(body.data) ? withIsoTimes(body.data, this.isoTimestamps) : body.data;
		if (this.simplify) return toItem(simplified(body, data), this.fields);
		return toItem(data === body.data ? body : { ...body, data }, this.fields);
	}
}

/**
 * Joins the envelope's `data` and the properties beside it. A name that both have is that of the value in `data`, unless it
 * is null. The other value is in `envelope`, because a property that the service adds (§9) must change no other one.
 */
function simplified(body: IDataObject, data: IDataObject[string]): IDataObject {
	const beside = { ...body };
	delete beside.status;
	delete beside.data;
	if (data === undefined) return beside;
	if (!isObject(data)) return { ...beside, data };
	const own = Object.entries(data).filter(
		([name, value]) => value !== null || !Object.hasOwn(beside, name),
	);
	const joined: IDataObject = { ...beside, ...Object.fromEntries(own) };
	const replaced = Object.entries(beside).filter(
		([name, value]) => value !== null && JSON.stringify(joined[name]) !== JSON.stringify(value),
	);
	if (replaced.length === 0) return joined;
	if (Object.hasOwn(joined, 'envelope')) return { ...beside, data };
	return { envelope: Object.fromEntries(replaced) as IDataObject, ...joined };
}

function withIsoTimes(record: IDataObject, names: string[]): IDataObject {
	const times = names.map((name) => [name, toIso(record[name])]).filter(([, iso]) => iso);
	return times.length > 0 ? { ...record, ...(Object.fromEntries(times) as IDataObject) } : record;
}

/** Returns undefined if the value is not a valid time in seconds. */
function toIso(seconds: unknown): string | undefined {
	const date = new Date(typeof seconds === 'number' ? seconds * 1000 : NaN);
	return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
