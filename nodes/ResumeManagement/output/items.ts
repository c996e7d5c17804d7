import type { GenericValue, IDataObject, INodeExecutionData } from 'n8n-workflow';

import { isObject } from '../../shared/json';

/** @param fields dotted paths of the properties to keep; none to keep all */
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

/**
 * Joins the envelope's `data` and the properties beside it: `{ status: 'success', total: 9, data: { id: 'a', total: 2 } }`
 * gives `{ envelope: { total: 9 }, id: 'a', total: 2 }`. A property that the service adds (§9) changes no other one:
 *
 * - of two values with one name, the one in `data` counts, unless it is null;
 * - the other value is in `envelope`;
 * - if the record has an `envelope` of its own, `data` stays one property.
 */
export function simplified(body: IDataObject): IDataObject {
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
export function withIsoTimes(record: IDataObject, names: string[]): IDataObject {
	const times = names.map((name) => [name, toIso(record[name])]).filter(([, iso]) => iso);
	return times.length > 0 ? { ...record, ...(Object.fromEntries(times) as IDataObject) } : record;
}

/** Returns undefined if the value is not a valid time in seconds. */
function toIso(seconds: unknown): string | undefined {
	const date = new Date(typeof seconds === 'number' ? seconds * 1000 : NaN);
	return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
