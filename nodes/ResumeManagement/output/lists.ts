import { createHash } from 'node:crypto';

import { Failure, type FailureId } from '../../shared/failure';
import { exactString, isObject, valueAt } from '../../shared/json';
import {
	COUNTS,
	idNames,
	MORE_FLAGS,
	NEXT_LINKS,
	normalizeName,
	PAGE_COUNTS,
	PAGE_PLACES,
	shownNames,
	TOTALS,
	valuesNamed,
} from '../../shared/names';
import { HIDDEN } from '../../shared/secrets';
import type { JsonResponse } from '../http/response';
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

/** Signs in a response that its list has more records, or ends. */
export interface EndSigns {
	/** A flag says whether there are more records; undefined without a flag. */
	flag?: boolean;
	/** A link or a cursor leads to another page. */
	link: boolean;
	/** Number of pages; -1 if the response has none. */
	pages: number;
	/** Number of records in the whole list; -1 if the response has none. */
	total: number;
	/** Number of records in this response or in the whole list; -1 if the response has none. */
	count: number;
}

/** The numbers of a response that has none. */
export const UNKNOWN_COUNTS = { pages: -1, total: -1, count: -1 };

/**
 * Returns the signs outside of the records; in a record, the same names mean something else.
 * @param earlier numbers of the pages before; the larger ones count, as deletions move records onto pages already read
 */
export function signsOf({ body, headers }: JsonResponse, earlier = UNKNOWN_COUNTS): EndSigns {
	const bodies = isObject(body) ? [body, body.data] : [];
	const places = [...bodies, ...bodies.flatMap((one) => valuesNamed(one, PAGE_PLACES))];
	const valuesOf = (names: string[]) => places.flatMap((place) => valuesNamed(place, names));
	const flags = valuesOf(MORE_FLAGS).filter((flag) => flag !== null && flag !== '');
	const isYes = (value: unknown) => !NO.includes(value);
	return {
		flag: flags.length > 0 ? flags.some(isYes) : undefined,
		link:
			valuesOf(NEXT_LINKS).some(isYes) ||
			/\brel\s*=\s*["']?[^"';,]*\bnext\b/i.test(String(headers.link ?? '')),
		pages: largest([...valuesOf(PAGE_COUNTS), earlier.pages]),
		total: largest([...valuesOf(TOTALS), headers['x-total-count'], earlier.total]),
		count: largest([...valuesOf(COUNTS), earlier.count]),
	};
}

/** Values of a flag or a link that mean no. */
const NO: unknown[] = [null, '', false, 'false', 0, '0'];

/** Returns the largest whole number among the values; -1 if there is none. */
function largest(values: unknown[]): number {
	const numbers = values.map((value) => Number(exactString(value)?.trim() || NaN));
	return numbers.filter(Number.isSafeInteger).reduce((one, other) => Math.max(one, other), -1);
}

/** Numbers of records and pages that were read. */
export interface Progress {
	records: number;
	pages: number;
}

/**
 * Checks whether there are more records: if a total is not reached; else, if a flag says so; else, without a flag, if pages are
 * left, or if there is a link and no reached total.
 */
export function isMore({ flag, link, pages, total, count }: EndSigns, read: Progress): boolean {
	if (Math.max(total, count) > read.records) return true;
	return flag ?? (pages > read.pages || (link && total !== read.records));
}

/** Checks whether the service says that a page is the last. On the first page, a reached total may be the page's own number. */
export function isLastPage({ flag, total }: EndSigns, read: Progress): boolean {
	return flag === undefined ? read.pages > 1 && read.records === total : !flag;
}

/** Returns the strings and exact numbers that a record has under these names. */
export function stringsNamed(record: unknown, names: readonly string[]): string[] {
	return valuesNamed(record, names).flatMap((value) => exactString(value)?.trim() || []);
}

/** Returns the ID of a record in this list, such as `users`; undefined if there is none, or several. */
export function idOf(record: unknown, list: string): string | undefined {
	const [id, ...others] = idsOf(record, list);
	return others.length > 0 ? undefined : id;
}

/** Returns the different IDs of a record; none if one is neither a string nor an exact number, or held a secret. */
function idsOf(record: unknown, list: string): string[] {
	const values = valuesNamed(record, idNames(list)).filter((id) => id !== null && id !== '');
	const ids = stringsNamed(record, idNames(list)).filter((id) => !id.includes(HIDDEN));
	return ids.length === values.length ? [...new Set(ids)] : [];
}

/** Returns the records without those that equal an earlier one, ID included. */
export function withoutRepeats(records: unknown[], list: string): unknown[] {
	const firsts = new Map<string, unknown>();
	const hashes = new Set<string>();
	return records.filter((record) => {
		const ids = idsOf(record, list).join();
		if (ids === '' || !firsts.has(ids)) {
			firsts.set(ids, record);
			return true;
		}
		// The first record is hashed only once its ID repeats: most IDs do not.
		hashes.add(hashOf(firsts.get(ids)));
		const { size } = hashes;
		return hashes.add(hashOf(record)).size > size;
	});
}

/** Kind of a page's position. */
export type PageMode = 'pageNumber' | 'offset' | 'cursor';

/** Collects the records of a list page by page. */
export class Records {
	readonly all: unknown[] = [];

	/** Keys of the records on all pages. */
	private readonly seen = new Set<string>();

	/** Keys of the records on the page before. */
	private previous = '';

	/** @param list its name, such as `users` */
	constructor(
		private readonly list: string,
		private readonly mode: PageMode,
	) {}

	/**
	 * Adds the records of a page, without those whose IDs were on an earlier page.
	 * @returns true if the service repeats the last page of the list
	 * @throws Failure if a record may be there twice, or the service sent a wrong page
	 */
	addPage(records: unknown[], page: number): boolean {
		const countBefore = this.all.length;
		const keys = new Set<string>();
		for (const record of withoutRepeats(records, this.list)) {
			const ids = idsOf(record, this.list);
			const hasId = ids.length > 0;
			const key = hasId ? JSON.stringify(ids) : hashOf(record);
			if (hasId && keys.has(key)) throw new Failure('list.sameId');
			keys.add(key);
			// Cursors prove that equal records on two pages are two records.
			const isNew = !this.seen.has(key) || (!hasId && this.mode === 'cursor');
			if (isNew) this.all.push(record);
			else if (!hasId) {
				throw new Failure('list.samePage', { what: 'A record without an ID came twice.' });
			}
		}
		// Only now, because equal records without an ID on one page are different records.
		for (const key of keys) this.seen.add(key);
		const pageKeys = [...keys].sort().join();
		const isSamePage = this.all.length === countBefore && pageKeys === this.previous;
		this.previous = pageKeys;
		if (!isSamePage || records.length === 0) return false;
		// Past the end, some services send the last page for each page number. On page 2, that may also mean an unknown parameter.
		// With offsets, it proves nothing: they may count records that the service hides.
		if (this.mode === 'pageNumber' && page > 2) return true;
		throw new Failure('list.samePage', { what: 'A page has the records of the page before.' });
	}
}

function hashOf(record: unknown): string {
	return createHash('sha256').update(JSON.stringify(record)).digest('base64');
}
