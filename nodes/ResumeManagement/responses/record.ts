import type { GenericValue, IDataObject, INodeExecutionData } from 'n8n-workflow';

import { isObject } from '../../shared/json';
import type { ParameterReader } from '../../shared/parameters';
import type { JsonBody } from '../http/judge';
import { requestJson } from '../http/response';
import type { HttpContext, HttpRequest } from '../http/send';

/** A response that is one record, as each write's is. */
export class RecordOutput {
	private readonly simplify: boolean;

	/** Dotted paths of the properties to return; none to return all. */
	private readonly fields: string[];

	/** Properties with Unix seconds to return as ISO 8601. */
	private readonly isoTimestamps: string[];

	/** @param timestamps properties with Unix seconds @throws Failure */
	constructor(parameters: ParameterReader, { timestamps = [] }: { timestamps?: string[] }) {
		this.simplify = parameters.flag('simplify');
		this.fields = parameters.fieldsToReturn();
		const isIso = timestamps.length > 0 && parameters.choice('options.timestamps') === 'iso';
		this.isoTimestamps = isIso ? timestamps : [];
	}

	/** Sends the request, and returns the item of its response. @throws Failure */
	async fetchItems(context: HttpContext, request: HttpRequest): Promise<INodeExecutionData[]> {
		const { body } = await requestJson(context, request);
		return [this.itemOf(body)];
	}

	/**
	 * Returns the item of a response: without Simplify the whole response, else the envelope's `data` with the properties
	 * beside it. A response without the envelope's `status` (§2) is the record itself, and `data` is one of its properties.
	 * @param beside properties that a simplified record gets, also in place of its own: the node knows what it has billed
	 */
	itemOf(body: JsonBody, beside: IDataObject = {}): INodeExecutionData {
		if (!isObject(body) || body.status !== 'success') return toItem(body, this.fields);
		const { data } = body;
		const shown = isObject(data) ? { ...body, data: withIsoTimes(data, this.isoTimestamps) } : body;
		return toItem(this.simplify ? { ...simplified(shown), ...beside } : shown, this.fields);
	}
}

/**
 * Joins the envelope's `data` and the properties beside it: `{ status: 'success', total: 9, data: { id: 'a', total: 2 } }`
 * gives `{ envelope: { total: 9 }, id: 'a', total: 2 }`. A property that the service adds (§9) changes no other one:
 *
 * - of two values with one name, the one in `data` counts, unless it is null;
 * - the other value is in `envelope`;
 * - if the record has an `envelope` of its own, `data` stays one property.
 */
function simplified(body: IDataObject): IDataObject {
	const { data } = body;
	const beside = { ...body };
	delete beside.status;
	delete beside.data;
	if (data === undefined) return beside;
	if (!isObject(data)) return { ...beside, data };
	const own = Object.entries(data).filter(
		([name, value]) => value !== null || !Object.hasOwn(beside, name),
	);
	const joined: IDataObject = { ...beside, ...Object.fromEntries(own) };
	const overruled = Object.entries(beside).filter(
		([name, value]) =>
			value !== null &&
			joined[name] !== value &&
			JSON.stringify(joined[name]) !== JSON.stringify(value),
	);
	if (overruled.length === 0) return joined;
	if (Object.hasOwn(joined, 'envelope')) return { ...beside, data };
	return { envelope: Object.fromEntries(overruled) as IDataObject, ...joined };
}

/** Returns the record with these times, which are in Unix seconds, as ISO 8601. */
function withIsoTimes(record: IDataObject, names: string[]): IDataObject {
	const times = names.map((name) => [name, toIso(record[name])]).filter(([, iso]) => iso);
	return { ...record, ...(Object.fromEntries(times) as IDataObject) };
}

/** Returns undefined if the value is not a valid time in seconds. */
function toIso(seconds: unknown): string | undefined {
	const date = new Date(typeof seconds === 'number' ? seconds * 1000 : NaN);
	return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Makes the item of any value. @param fields dotted paths of the properties to keep; none to keep all */
export function toItem(value: unknown, fields: string[] = []): INodeExecutionData {
	const isSelected = fields.length > 0 && isObject(value);
	return { json: toRecord(isSelected ? selectFields(value, fields) : value) };
}

/** Puts a value that is no object, or that n8n takes for a failed item, into a property. */
function toRecord(value: unknown): IDataObject {
	return isObject(value) && !looksFailed(value) ? value : { value: value as GenericValue };
}

/**
 * Checks whether n8n would replace a record (`normalizeNodeErrors` in n8n-core's workflow-execute.ts), or move it to
 * the error output (`handleNodeErrorOutput` there).
 */
function looksFailed(record: IDataObject): boolean {
	if ('$error' in record && '$json' in record) return true;
	return 'error' in record && Object.keys(record).every((name) => FAILURE_NAMES.includes(name));
}

const FAILURE_NAMES = ['error', 'message', 'details'];

/** Returns the properties at these paths, which do not lead into arrays. A name may contain dots. */
function selectFields(value: IDataObject, paths: string[]): IDataObject {
	const entries = Object.entries(value).flatMap(([name, inner]) => {
		if (paths.includes(name)) return [[name, inner]];
		const within = paths
			.filter((path) => path.startsWith(`${name}.`))
			.map((path) => path.slice(name.length + 1));
		const picked = within.length > 0 && isObject(inner) ? selectFields(inner, within) : {};
		return Object.keys(picked).length > 0 ? [[name, picked]] : [];
	});
	return Object.fromEntries(entries) as IDataObject;
}
