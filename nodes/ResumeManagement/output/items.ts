import type { GenericValue, IBinaryKeyData, IDataObject, INodeExecutionData } from 'n8n-workflow';

import { isObject } from '../../shared/json';
import type { JsonBody } from '../http/judge';

export interface ItemSettings {
	simplify: boolean;
	/** Dotted paths of the properties to return; none to return all. */
	fields: string[];
	/** Properties of a record with Unix seconds to return as ISO 8601. */
	isoTimestamps?: string[];
}

/** The result of an item's requests, with the settings for its items. */
export type Result =
	| { kind: 'record'; body: JsonBody; settings: ItemSettings }
	| { kind: 'list'; list: List; settings: ItemSettings & { limit: number } }
	/** A stored file, or a report on a request that was not sent. */
	| { kind: 'json'; json: IDataObject; binary?: IBinaryKeyData };

/** The list of one item, from all of its responses. */
export interface List {
	bodies: JsonBody[];
	records: unknown[];
	/** Message to the user that the list may not be whole. */
	hint?: string;
}

/** Returns the items of a response. */
export function shape(result: Result): INodeExecutionData[] {
	switch (result.kind) {
		case 'record':
			return [recordItem(result.body, result.settings)];
		case 'list': {
			const { list, settings } = result;
			const values = settings.simplify ? list.records.slice(0, settings.limit) : list.bodies;
			return values.map((value) => toItem(value, settings.fields));
		}
		case 'json':
			return [{ json: result.json, ...(result.binary && { binary: result.binary }) }];
	}
}

/**
 * Returns the item of one record: without Simplify the whole response, else the envelope's `data` with all properties beside
 * it. A response without the envelope's `status` (§2) is the record itself, and `data` is one of its properties.
 */
function recordItem(
	body: JsonBody,
	{ simplify, fields, isoTimestamps = [] }: ItemSettings,
): INodeExecutionData {
	if (!isObject(body) || body.status !== 'success') return toItem(body, fields);
	const data = isObject(body.data) ? withIsoTimes(body.data, isoTimestamps) : body.data;
	if (!simplify) return toItem(data === body.data ? body : { ...body, data }, fields);
	const beside = { ...body };
	delete beside.status;
	delete beside.data;
	if (data === undefined) return toItem(beside, fields);
	if (!isObject(data)) return toItem({ ...beside, data }, fields);
	return toItem(Object.keys(beside).length > 0 ? { ...beside, ...data } : data, fields);
}

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
	// An assignment to the name `__proto__` would set the prototype.
	return Object.fromEntries(entries) as IDataObject;
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
