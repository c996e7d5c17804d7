import { Failure, type FailureId } from '../../shared/failure';
import { exactString, isObject, valueAt } from '../../shared/json';
import {
	MORE_FLAGS,
	NEXT_LINKS,
	PAGE_PLACES,
	normalizeName,
	shownNames,
	TOTALS,
	valuesNamed,
} from '../../shared/names';
import type { JsonResponse } from '../http/response';
import type { JsonBody } from '../http/judge';

/** The place of a list in a response. */
export interface ListPlace {
	/** Dotted path, '' for the response itself; undefined to find the list. */
	path?: string;
	/** Name of the list: the last word of its address, such as `users`. */
	name: string;
	/** Ignores lists with other names: a wrong list could lead to another person. */
	onlyByName?: boolean;
	/** Name of the option for its path, Items Path by default. */
	pathOption?: string;
}

/** Settings of an item for reading its list. */
export interface ListSettings extends ListPlace {
	simplify: boolean;
	/** Most records to return; Infinity for all. */
	limit: number;
	/** Name of the option for reading page by page. */
	option: string;
}

/** A list in a response. */
export interface FoundList {
	/** '' for the response itself. */
	path: string;
	records: unknown[];
}

/** @throws Failure if there is no list, or if several may be meant */
export function findList(body: JsonBody, place: ListPlace): FoundList {
	const found = lookForList(body, place);
	if (!('problem' in found)) return found;
	const { path = '', pathOption = 'Items Path' } = place;
	const details = `The response has the properties: ${shownNames(body)}.`;
	throw new Failure(found.problem, { path, pathOption }, { details });
}

/**
 * Looks for the list at the user's path; else in the named places: the response, `data`, and the list's own name in either.
 * The specification does not show the place (§4.2). Any other array is the list only if it is the only one, because the
 * service may add properties (§9), and only if the named places hold nothing else, such as `null`.
 */
export function lookForList(
	body: JsonBody,
	{ path, name, onlyByName }: ListPlace,
): FoundList | { problem: FailureId } {
	if (path !== undefined) {
		const records = path === '' ? body : valueAt(body, path);
		return Array.isArray(records) ? { path, records } : { problem: 'list.notAtPath' };
	}
	if (Array.isArray(body)) return { path: '', records: body };
	const lists = [...listsIn(body, ''), ...listsIn(body.data, 'data.')];
	const named = lists.filter(
		(list) => list.path === 'data' || normalizeName(list.property) === name,
	);
	// A named place holds something else: `null`, or an object without any list.
	const hasOther =
		[body, body.data].some((one) => valuesNamed(one, [name]).length > 0) ||
		(body.data !== undefined && !lists.some((list) => list.path.startsWith('data.')));
	const candidates = named.length > 0 || onlyByName || hasOther ? named : lists;
	const [list, ...others] = candidates;
	if (!list) return { problem: 'list.none' };
	const isSame = ({ records }: FoundList) =>
		named.length > 0 && JSON.stringify(records) === JSON.stringify(list.records);
	return others.every(isSame) ? list : { problem: 'list.several' };
}

function listsIn(value: unknown, prefix: string): Array<FoundList & { property: string }> {
	if (!isObject(value)) return [];
	const properties = Object.keys(value).filter((property) => Array.isArray(value[property]));
	return properties.map((property) => ({
		path: prefix + property,
		property,
		records: value[property] as unknown[],
	}));
}

/** Signs in a response that its list has more records. */
export interface Signs {
	/** A flag promises more records; undefined without a flag. */
	flag?: boolean;
	/** A link or a cursor leads to another page. */
	link: boolean;
	/** Number of records in the whole list; 0 if the response has none. */
	total: number;
}

/** Returns the signs outside of the records; in a record, the same names mean something else. */
export function signsOf({ body, headers }: JsonResponse): Signs {
	const bodies = isObject(body) ? [body, body.data] : [];
	const places = [...bodies, ...bodies.flatMap((one) => valuesNamed(one, PAGE_PLACES))];
	const valuesOf = (names: string[]) => places.flatMap((place) => valuesNamed(place, names));
	const flags = valuesOf(MORE_FLAGS).filter((flag) => flag !== null && flag !== '');
	const totals = [...valuesOf(TOTALS), headers['x-total-count']].map(exactString).map(Number);
	const isYes = (value: unknown) => !NO.includes(value);
	return {
		flag: flags.length > 0 ? flags.some(isYes) : undefined,
		link: valuesOf(NEXT_LINKS).some(isYes) || /\brel="?next\b/i.test(String(headers.link ?? '')),
		total: totals.filter(Number.isSafeInteger).reduce((one, other) => Math.max(one, other), 0),
	};
}

/** Values of a flag or a link that mean no. */
const NO: unknown[] = [null, '', false, 'false', 0, '0'];

/** Checks whether there are more records. Flags win over links, and so does a total that is reached. */
export function isMore({ flag, link, total }: Signs, count: number): boolean {
	return total > count || (flag ?? (link && total !== count));
}
