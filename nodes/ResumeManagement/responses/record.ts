import type { GenericValue, IDataObject, INodeExecutionData } from 'n8n-workflow';

import { isObject } from '../../shared/json';
import type { ParameterReader } from '../../shared/parameters';
import { isNoError, type JsonBody } from '../http/judge';
import { requestJson } from '../http/request';
import type { HttpContext, HttpRequest } from '../http/send';

/** A response that is one record, as each write's is. */
export class RecordOutput {
	private readonly simplify: boolean;

	/** Dotted paths of the properties to return; none to return all. */
	private readonly fields: string[];

	/** Properties with Unix seconds to return as ISO 8601. */
	private readonly isoTimestamps: string[];

	/** @param operation has the names of properties with Unix seconds @throws Failure */
	constructor(parameters: ParameterReader, operation: { timestamps?: string[] }) {
		const { timestamps = [] } = operation;
		this.simplify = parameters.flag('simplify');
		this.fields = parameters.fieldsToReturn();
		const isIso = timestamps.length > 0 && parameters.choice('options.timestamps') === 'iso';
		this.isoTimestamps = isIso ? timestamps : [];
	}

	/**
	 * Sends the request, and returns the item of its response.
	 * @param hint shows a message above the output
	 * @throws Failure
	 */
	async fetchItems(
		context: HttpContext,
		request: HttpRequest,
		hint: (message: string) => void,
	): Promise<INodeExecutionData[]> {
		const { body } = await requestJson(context, request);
		const items = [this.itemOf(body)];
		if (hasNoField(items, this.fields)) hint(NO_FIELD);
		return items;
	}

	/**
	 * Returns the item of a response: the record in the envelope; without Simplify, the envelope.
	 * @param extras properties that a simplified record gets. They replace its own: the node knows
	 *   what it has billed
	 */
	itemOf(body: JsonBody, extras: IDataObject = {}): INodeExecutionData {
		if (!isEnvelope(body)) return toItem(body, this.fields);
		const { data } = body;
		const shown = isObject(data) ? { ...body, data: withIsoTimes(data, this.isoTimestamps) } : body;
		return toItem(this.simplify ? { ...simplified(shown), ...extras } : shown, this.fields);
	}
}

/**
 * Checks whether a response is the envelope of a success (§2). If not, it is the record itself: the
 * specification does not show the responses of all endpoints.
 */
function isEnvelope(body: JsonBody): body is IDataObject {
	return isObject(body) && body.status === 'success';
}

/**
 * Joins the record in the envelope's `data` and the properties beside `data`. The service may add
 * properties (§9), so that both have a property of the same name:
 *
 * - The record's value wins, unless it is null.
 * - The other value, if it is a different one, is in `envelope`: `{ status: 'success', total: 9,
 *   data: { id: 'a', total: 2 } }` gives `{ envelope: { total: 9 }, id: 'a', total: 2 }`.
 * - If the name `envelope` is taken, nothing is joined, and `data` stays a property.
 */
function simplified(body: IDataObject): IDataObject {
	const beside = withoutBlankError(body);
	delete beside.status;
	delete beside.data;
	if (body.data === undefined) return beside;
	if (!isObject(body.data)) return { ...beside, data: body.data };
	const data = withoutBlankError(body.data);

	const inBoth = Object.keys(beside).filter((name) => Object.hasOwn(data, name));
	const nullInRecord = inBoth.filter((name) => data[name] === null);
	const different = inBoth.filter(
		(name) =>
			data[name] !== null &&
			beside[name] !== null &&
			JSON.stringify(data[name]) !== JSON.stringify(beside[name]),
	);
	const joined = { ...beside, ...data, ...pick(beside, nullInRecord) };
	if (different.length === 0) return joined;
	if (Object.hasOwn(joined, 'envelope')) return { ...beside, data };
	return { envelope: pick(beside, different), ...joined };
}

/**
 * Returns a copy without an `error` such as `[]`, by which a workflow would take the item for a
 * failed one.
 */
function withoutBlankError(record: IDataObject): IDataObject {
	const copy = { ...record };
	if (isNoError(copy.error)) delete copy.error;
	return copy;
}

function pick(record: IDataObject, names: string[]): IDataObject {
	return Object.fromEntries(names.map((name) => [name, record[name]])) as IDataObject;
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

export const NO_FIELD =
	"No record has a property that 'Fields to Return' names. Separate their names by commas, and check their case.";

/** Checks whether the fields to return are missing in all records. */
export function hasNoField(items: INodeExecutionData[], fields: string[]): boolean {
	const isEmpty = items.every(({ json }) => Object.keys(json).length === 0);
	return fields.length > 0 && items.length > 0 && isEmpty;
}

/**
 * Makes an item from any value.
 * @param fields dotted paths of the properties to keep; none to keep all
 */
export function toItem(value: unknown, fields: string[] = []): INodeExecutionData {
	const isSelected = fields.length > 0 && isObject(value);
	return { json: toRecord(isSelected ? selectFields(value, fields) : value) };
}

/**
 * Properties of a failed item. n8n moves an item that has an `error`, and no other property than
 * these, to the error output.
 */
const FAILED_ITEM = ['error', 'message', 'details'];

/**
 * Returns a record. A value that is no object, or that n8n would take for a failed item, becomes
 * the property `value`.
 */
function toRecord(value: unknown): IDataObject {
	const isRecord = isObject(value) && !looksFailed(value);
	return isRecord ? value : { value: value as GenericValue };
}

/** Decides like n8n's `handleNodeErrorOutput` (n8n-core's workflow-execute.ts). */
function looksFailed(record: IDataObject): boolean {
	const hasOthers = Object.keys(record).some((name) => !FAILED_ITEM.includes(name));
	return 'error' in record && !hasOthers;
}

/**
 * Returns the properties at these paths, which do not lead into arrays. A name may contain dots.
 */
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
