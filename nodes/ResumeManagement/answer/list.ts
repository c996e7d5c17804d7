import type { INodeExecutionData } from 'n8n-workflow';

import { Failure } from './failure';
import { type ItemSettings, toItem } from './items';
import { isObject, valueAt } from './json';
import type { AnswerBody } from './judge';

/** Where an answer holds its list. */
export interface ListPlace {
	/** '' to find it. */
	path: string;
	/** What the list is likely to be called: the last word of its address, such as `users`. */
	name: string;
	/** Whether a list that is called otherwise is none: for what must not be guessed. */
	onlyByName?: boolean;
	/** What the user can do where it is not found. */
	advice: string;
}

/** How an item's list is to be read, from its parameters. */
export interface ListSettings extends ListPlace, ItemSettings {
	/** How many elements the user wants; Infinity for all. */
	limit: number;
}

/** What the answers to one item hold together. */
export interface List {
	answers: AnswerBody[];
	elements: unknown[];
	/** What the user should know of how the list ended. */
	hint?: string;
}

/** One item for each element, or without Simplify for each answer. */
export function listItems(
	{ answers, elements }: List,
	{ simplify, limit, fields }: ListSettings,
): INodeExecutionData[] {
	return (simplify ? elements.slice(0, limit) : answers).map((value) => toItem(value, fields));
}

/**
 * The specification does not show where an answer holds its list (§4.2). So it is taken from the path
 * that the user gave, else from the one array there is, in `data` before beside it. The service may add
 * properties anywhere (§9), so of several arrays only those count that hold records, and in `data` the
 * one that is called like the list, which may be empty.
 * @throws Failure when there is no list, or when several may be meant
 */
export function findList(
	answer: AnswerBody,
	{ path, name, onlyByName, advice }: ListPlace,
): unknown[] {
	const noList = (message: string) => new Failure(message, `${advice} ${propertiesOf(answer)}`);
	if (path) {
		const value = valueAt(answer, path);
		if (Array.isArray(value)) return value;
		throw noList(`The answer has no list at '${path}'`);
	}
	if (Array.isArray(answer)) return answer;
	if (Array.isArray(answer.data)) return answer.data;
	for (const place of [answer.data, answer].filter(isObject)) {
		const named = onlyByName ? [place[name]] : Object.values(place);
		const arrays = named.filter(Array.isArray) as unknown[][];
		const called = place === answer.data ? place[name] : undefined;
		const candidates = arrays.filter((array) => array === called || array.some(isObject));
		if (arrays.length === 1 || candidates.length === 1) return candidates[0] ?? arrays[0]!;
		if (arrays.length > 1) throw noList('The answer holds more than one list');
	}
	throw noList('The answer holds no list');
}

function propertiesOf(answer: AnswerBody): string {
	const names = Array.isArray(answer) ? [] : Object.keys(answer);
	return `The answer has the properties: ${names.slice(0, 20).join(', ')}.`;
}
