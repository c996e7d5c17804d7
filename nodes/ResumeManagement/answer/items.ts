import type { GenericValue, IDataObject, INodeExecutionData } from 'n8n-workflow';

import { isObject, pick } from './json';
import type { AnswerBody } from './judge';

/** How answers become items. */
export interface ItemSettings {
	simplify: boolean;
	/** Paths of the properties to return; all of them where there are none. */
	fields: string[][];
}

/**
 * One record: without Simplify the whole answer, else what is in the envelope's `data` and beside it.
 * An answer whose `status` is not the envelope's (§2) is the record itself, with a `status` or `data`
 * of its own.
 */
export function recordItem(
	answer: AnswerBody,
	{ simplify, fields }: ItemSettings,
): INodeExecutionData {
	if (!simplify || !isObject(answer) || answer.status !== 'success') return toItem(answer, fields);
	const { data, ...beside } = answer;
	delete beside.status;
	if (data === undefined) return toItem(beside, fields);
	return toItem(isObject(data) ? { ...beside, ...data } : { ...beside, data }, fields);
}

/** @param fields see {@link ItemSettings} */
export function toItem(value: unknown, fields: string[][] = []): INodeExecutionData {
	const json = toRecord(value);
	return { json: fields.length > 0 ? toRecord(pick(json, fields)) : json };
}

/**
 * n8n's items hold objects, so a bare value is put into one. So is a record that n8n would take for a
 * failed item and move to the error output, for what it is called
 * (`handleNodeErrorOutput` in n8n-core's workflow-execute.ts).
 */
function toRecord(value: unknown): IDataObject {
	return isObject(value) && !looksFailed(value) ? value : { value: value as GenericValue };
}

function looksFailed(record: IDataObject): boolean {
	const names = Object.keys(record);
	return names.includes('error') && names.every((name) => NAMES_OF_A_FAILURE.includes(name));
}

const NAMES_OF_A_FAILURE = ['error', 'message', 'details'];
