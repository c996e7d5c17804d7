import type { GenericValue, IDataObject, INodeExecutionData } from 'n8n-workflow';

import { isObject } from '../../shared/json';
import type { AnswerBody } from '../http/judge';

/** Settings for turning answers into items. */
export interface ItemSettings {
	simplify: boolean;
	/** Dotted paths of the properties to return; all of them where there are none. */
	fields: string[];
	/** Properties of a record that hold Unix seconds and are to be shown as ISO 8601. */
	isoTimestamps?: string[];
}

/**
 * One record: without Simplify the whole answer, else what is in the envelope's `data` and beside it.
 * An answer whose `status` is not the envelope's (§2) is the record itself, with a `status` or `data`
 * of its own.
 */
export function recordItem(
	answer: AnswerBody,
	{ simplify, fields, isoTimestamps = [] }: ItemSettings,
): INodeExecutionData {
	if (!isObject(answer) || answer.status !== 'success') return toItem(answer, fields);
	const hasTimes = isoTimestamps.length > 0 && isObject(answer.data);
	const data = hasTimes ? withIsoTimes(answer.data as IDataObject, isoTimestamps) : answer.data;
	if (!simplify) return toItem(hasTimes ? { ...answer, data } : answer, fields);
	const { status: _, data: __, ...beside } = answer;
	if (data === undefined) return toItem(beside, fields);
	if (!isObject(data)) return toItem({ ...beside, data }, fields);
	return toItem(Object.keys(beside).length > 0 ? { ...beside, ...data } : data, fields);
}

/** @param fields see {@link ItemSettings} */
export function toItem(value: unknown, fields: string[] = []): INodeExecutionData {
	const json = toRecord(value);
	return { json: fields.length > 0 ? toRecord(selectFields(json, fields)) : json };
}

/**
 * n8n's items hold objects, so a bare value is put into one. So is a record whose property names n8n would
 * take for those of a failed item, and move to the error output (`handleNodeErrorOutput` in n8n-core's
 * workflow-execute.ts).
 */
function toRecord(value: unknown): IDataObject {
	return isObject(value) && !looksFailed(value) ? value : { value: value as GenericValue };
}

function looksFailed(record: IDataObject): boolean {
	const names = Object.keys(record);
	return names.includes('error') && names.every((name) => NAMES_OF_A_FAILURE.includes(name));
}

const NAMES_OF_A_FAILURE = ['error', 'message', 'details'];

/** The object with only what is at these paths; they do not lead into arrays. A name may contain dots. */
function selectFields(value: IDataObject, paths: string[]): IDataObject {
	const entries = Object.entries(value).flatMap(([name, inner]) => {
		if (paths.includes(name)) return [[name, inner]];
		const within = paths
			.filter((path) => path.startsWith(`${name}.`))
			.map((path) => path.slice(name.length + 1));
		const picked = within.length > 0 && isObject(inner) ? selectFields(inner, within) : {};
		return Object.keys(picked).length > 0 ? [[name, picked]] : [];
	});
	// Not by assignment, which would set the prototype for the name `__proto__`.
	return Object.fromEntries(entries) as IDataObject;
}

function withIsoTimes(record: IDataObject, names: string[]): IDataObject {
	const times = names.map((name) => [name, toIso(record[name])]).filter(([, iso]) => iso);
	return { ...record, ...(Object.fromEntries(times) as IDataObject) };
}

/** Undefined for what is not a valid time in seconds. */
function toIso(seconds: unknown): string | undefined {
	const date = new Date(typeof seconds === 'number' ? seconds * 1000 : NaN);
	return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
