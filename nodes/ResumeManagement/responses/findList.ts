import { Failure, type FailureId } from '../../shared/failure';
import { isObject, valueAt } from '../../shared/json';
import { normalizeName, shownNames, valuesNamed } from '../../shared/names';
import type { JsonBody } from '../http/judge';

/** The place of a list in a response. */
export interface ListPlace {
	/** Property names that lead to the list; none for the response itself. Undefined to find the list. */
	path?: string[];
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
export function requireList(body: JsonBody, place: ListPlace, pathOption: string): FoundList {
	const found = findList(body, place);
	if (!('problem' in found)) return found;
	const path = place.path?.join('.') ?? '';
	const details = `The response has the properties: ${shownNames(body)}.`;
	throw new Failure(found.problem, { path, pathOption }, { details });
}

/**
 * Looks for the list at the user's path; else in the named places: the response, `data`, and the list's own name in either.
 * The specification does not show the place (§4.2). Any other array is the list only if it is the only one, because the
 * service may add properties (§9).
 */
export function findList(
	body: JsonBody,
	{ path, name, onlyByName }: ListPlace,
): FoundList | { problem: FailureId } {
	if (path) {
		const records = valueAt(body, path);
		return Array.isArray(records) ? { path, records } : { problem: 'list.notAtPath' };
	}
	if (Array.isArray(body)) return { path: [], records: body };
	const inData = listsIn(body.data, ['data']);
	const lists = [...listsIn(body, []), ...inData];
	const [list, ...others] = lists.filter(
		({ path: names }) => names.join() === 'data' || normalizeName(names.at(-1)!) === name,
	);
	if (list) {
		const isSame = ({ records }: FoundList) =>
			JSON.stringify(records) === JSON.stringify(list.records);
		return others.every(isSame) ? list : { problem: 'list.several' };
	}
	// Such as `{ users: null, tags: [] }` or `{ data: {}, tags: [] }`: no other list is taken for the missing one.
	const hasPlaceWithoutList =
		[body, body.data].some((one) => valuesNamed(one, [name]).length > 0) ||
		(body.data !== undefined && inData.length === 0);
	if (onlyByName || hasPlaceWithoutList || lists.length === 0) return { problem: 'list.none' };
	return lists.length === 1 ? lists[0]! : { problem: 'list.several' };
}

function listsIn(value: unknown, path: string[]): FoundList[] {
	if (!isObject(value)) return [];
	return Object.entries(value).flatMap(([name, records]) =>
		Array.isArray(records) ? [{ path: [...path, name], records }] : [],
	);
}
