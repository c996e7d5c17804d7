import { Failure, type FailureId } from '../../shared/failure';
import { isObject, valueAt } from '../../shared/json';
import { normalizeName, shownNames } from '../../shared/names';
import type { JsonBody } from '../http/judge';

/** The place of a list in a response. */
export interface ListPlace {
	/** Property names that lead to the list; none for the response itself. Undefined to find the list. */
	path?: string[];
	/** Name of the option for the path, for errors. */
	pathOption: string;
	/** Name of the list: the last word of its address, such as `users`. */
	name: string;
	/** Ignores lists with other names: a wrong list could lead to another person. */
	onlyByName?: boolean;
}

/** A list in a response. */
interface FoundList {
	path: string[];
	records: unknown[];
}

/** @throws Failure, with the option for the list's path, if there is no list, or if several may be meant */
export function requireList(body: JsonBody, place: ListPlace): FoundList {
	const found = findList(body, place);
	if (!('problem' in found)) return found;
	const { path, pathOption } = place;
	const details = `The response has the properties: ${shownNames(body)}.`;
	throw new Failure(found.problem, { path: path?.join('.') ?? '', pathOption }, { details });
}

/**
 * Finds the list at the user's path. Without a path, the list is, because the specification does not show its place (§4.2):
 *
 * 1. the response itself, if that is an array;
 * 2. the array at an expected place: `data`, or a property with the list's name in the response or in `data`;
 * 3. the only array, if the response has none of the expected places. The service may add other arrays (§9).
 */
export function findList(
	body: JsonBody,
	{ path, name, onlyByName }: Omit<ListPlace, 'pathOption'>,
): FoundList | { problem: FailureId } {
	if (path) {
		const records = valueAt(body, path);
		return Array.isArray(records) ? { path, records } : { problem: 'list.notAtPath' };
	}
	if (Array.isArray(body)) return { path: [], records: body };

	const inData = propertiesOf(body.data, ['data']);
	const properties = [...propertiesOf(body, []), ...inData];
	// An object with lists is only the way to the list.
	const isListInData = listsOf(inData).length > 0;
	const expected = properties.filter((property) =>
		isData(property) ? !isListInData : normalizeName(property.path.at(-1)!) === name,
	);
	const [list, ...others] = listsOf(expected);
	if (list) {
		const text = JSON.stringify(list.records);
		const areEqual = others.every(({ records }) => JSON.stringify(records) === text);
		return areEqual ? list : { problem: 'list.several' };
	}
	// In `{ users: null, tags: [] }` or `{ data: {}, tags: [] }`, the list is missing: the tags are not the list.
	if (expected.length > 0 || onlyByName) return { problem: 'list.none' };
	const [only, ...more] = listsOf(properties);
	if (!only) return { problem: 'list.none' };
	return more.length === 0 ? only : { problem: 'list.several' };
}

/** A property of a response, or of its `data`. */
interface Property {
	path: string[];
	value: unknown;
}

function propertiesOf(value: unknown, path: string[]): Property[] {
	if (!isObject(value)) return [];
	return Object.entries(value).map(([name, inner]) => ({ path: [...path, name], value: inner }));
}

function isData({ path }: Property): boolean {
	return path.length === 1 && path[0] === 'data';
}

function listsOf(properties: Property[]): FoundList[] {
	return properties.flatMap(({ path, value }) =>
		Array.isArray(value) ? [{ path, records: value as unknown[] }] : [],
	);
}
