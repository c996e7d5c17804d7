import type { GenericValue, INodeExecutionData } from 'n8n-workflow';

import { isObject } from './isObject';
import type { AnswerBody, Shaped } from './operation';
import type { Parameters } from './parameters';
import { valueAt } from './valueAt';

/** One record: the envelope's `data`, or without Simplify the whole envelope. */
export function record(
	answer: AnswerBody,
	parameters: Parameters,
): { items: INodeExecutionData[] } {
	return { items: [toItem(parameters.get('simplify', true) ? content(answer) : answer)] };
}

/** A list: one item an element, as many as Limit allows, or without Simplify the whole envelope. */
export function list(answer: AnswerBody, parameters: Parameters): Shaped {
	if (!parameters.get('simplify', true)) return { items: [toItem(answer)] };
	const found = findList(answer, itemsPath(parameters));
	if ('failure' in found) return found;
	return listItems({ answers: [answer], elements: found.elements }, parameters);
}

/** The items of a list that came in one answer or in several, each with a page of it. */
export function listItems(
	{ answers, elements }: { answers: AnswerBody[]; elements: unknown[] },
	parameters: Parameters,
): { items: INodeExecutionData[] } {
	const simplify = parameters.get('simplify', true);
	return { items: (simplify ? elements.slice(0, limit(parameters)) : answers).map(toItem) };
}

/** How many elements of a list the user wants. */
export function limit(parameters: Parameters): number {
	return parameters.get('returnAll', false) ? Infinity : parameters.count('limit', 50, 1);
}

/** Where the user says that an answer holds its list; '' to find it. */
export function itemsPath(parameters: Parameters): string {
	return parameters.option('itemsPath', '').trim();
}

/** The envelope without what it adds to a record. A record has no `data` of its own to tell apart. */
function content(answer: AnswerBody): unknown {
	if (Array.isArray(answer)) return answer;
	if (isObject(answer.data)) return answer.data;
	const rest = { ...answer };
	delete rest.status;
	return rest;
}

type FoundList = { elements: unknown[] } | Extract<Shaped, { failure: unknown }>;

/**
 * The specification does not show where an answer holds its list (§4.2). So it is taken from the
 * path that the user gave, else from `data`, else from the one array that the answer has.
 */
export function findList(answer: AnswerBody, path: string): FoundList {
	if (path) {
		const value = valueAt(answer, path);
		return Array.isArray(value)
			? { elements: value }
			: noList(`The answer has no list at '${path}'`, answer);
	}
	if (Array.isArray(answer)) return { elements: answer };
	if (Array.isArray(answer.data)) return { elements: answer.data };
	for (const candidate of [answer, answer.data]) {
		const arrays = Object.values(isObject(candidate) ? candidate : {}).filter(Array.isArray);
		if (arrays.length === 1) return { elements: arrays[0] as unknown[] };
		if (arrays.length > 1) return noList('The answer holds more than one list', answer);
	}
	return noList('The answer holds no list', answer);
}

function noList(message: string, answer: AnswerBody): FoundList {
	const names = Array.isArray(answer) ? [] : Object.keys(answer);
	return {
		failure: {
			message,
			description: `Set Items Path in Options to the place of the list, such as data.users. The answer has the properties: ${names.join(', ')}. Switch off Simplify to see it whole.`,
		},
	};
}

/** n8n's items hold objects, so a bare value is put into one. */
function toItem(value: unknown): INodeExecutionData {
	return { json: isObject(value) ? value : { value: value as GenericValue } };
}
