import { Failure, type FailureId } from '../../shared/failure';
import { isObject, normalizeName, shownNames, valueAt, valuesNamed } from '../../shared/json';
import type { JsonBody } from '../http/judge';

/** The place of a list in a response. */
export interface ListPlace {
	/**
	 * Property names that lead to the list; none for the response itself. Undefined to find the list.
	 */
	path?: string[];
	/** Name of the option for the path, for errors. */
	pathOption: string;
	/** Name of the list: the last word of its address, such as `users`. */
	name: string;
	/** Ignores lists with other names: a wrong list could lead to another person. */
	onlyByName?: boolean;
}

/** A list in a response, by the names of the properties that lead to it. */
interface FoundList {
	path: string[];
	records: unknown[];
}

/**
 * @throws Failure, with the option for the list's path, if there is no list, or if several may be
 * meant
 */
export function requireList(body: JsonBody, place: ListPlace): FoundList {
	const found = findList(body, place);
	if (!('problem' in found)) return found;
	const { path, pathOption } = place;
	const details = `The response has the properties: ${shownNames(body)}.`;
	throw new Failure(found.problem, { path: path?.join('.') ?? '', pathOption }, { details });
}

/**
 * Finds the list at the user's path. Without a path, the list is, because the specification does
 * not show its place (§4.2):
 *
 * 1. the response itself, if that is an array;
 * 2. the array at an expected place: `data`, or a property with the list's name in the response or
 *    in `data`. Several count as one if they are equal;
 * 3. the only array, if the response has none of the expected places. The service may add other
 *    arrays (§9). In `{ users: null, tags: [] }` and `{ data: {}, tags: [] }`, it has such a place:
 *    the list is missing.
 */
export function findList(
	body: JsonBody,
	{ path: givenPath, name, onlyByName }: Omit<ListPlace, 'pathOption'>,
): FoundList | { problem: FailureId } {
	if (givenPath) {
		const value = valueAt(body, givenPath);
		// Some services write null for an empty list.
		const records = value === null ? [] : value;
		return Array.isArray(records) ? { path: givenPath, records } : { problem: 'list.notAtPath' };
	}
	if (Array.isArray(body)) return { path: [], records: body };

	const inData = listsIn(body.data, ['data']);
	const lists = [...listsIn(body, []), ...inData];
	const [list, ...others] = lists.filter(
		({ path }) => path.join() === 'data' || normalizeName(path.at(-1)!) === name,
	);
	if (list) {
		const text = JSON.stringify(list.records);
		const areEqual = others.every(({ records }) => JSON.stringify(records) === text);
		return areEqual ? list : { problem: 'list.several' };
	}
	const isMissing =
		valuesNamed(body, [name]).length > 0 ||
		valuesNamed(body.data, [name]).length > 0 ||
		(body.data !== undefined && inData.length === 0);
	if (isMissing || onlyByName) return { problem: 'list.none' };
	const [only, ...more] = lists;
	if (!only) return { problem: 'list.none' };
	return more.length === 0 ? only : { problem: 'list.several' };
}

/** Returns the lists among the properties of a response, or of its `data`. */
function listsIn(value: unknown, path: string[]): FoundList[] {
	if (!isObject(value)) return [];
	return Object.entries(value).flatMap(([name, records]) =>
		Array.isArray(records) ? [{ path: [...path, name], records }] : [],
	);
}
