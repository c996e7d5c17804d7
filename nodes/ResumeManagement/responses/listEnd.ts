import type { IDataObject } from 'n8n-workflow';

import { exactString, isObject, valuesNamed } from '../../shared/json';
import type { ParsedResponse } from '../http/judge';
import { COUNTS, MORE_FLAGS, NEXT_LINKS, PAGE_COUNTS, PAGE_PLACES, TOTALS } from './names';

/** What responses say about the end of their list. The numbers are 0 if no response has them. */
export interface ListEnd {
	/** Whether there are more records; undefined if nothing says so. */
	more?: boolean;
	/** Records in the whole list. */
	total: number;
	/** Records in the whole list or, with some services, on a page. */
	count: number;
	/** Pages of the whole list. */
	pages: number;
}

/**
 * Reads what a response says about the end of its list.
 * @param read numbers of records and pages that were read, with this response
 * @param before the end by the pages before. Larger numbers count: deletions move later records
 *   onto pages already read
 */
export function listEndOf(
	{ body, headers }: Pick<ParsedResponse, 'body' | 'headers'>,
	read: { records: number; pages: number },
	before: ListEnd = { total: 0, count: 0, pages: 0 },
): ListEnd {
	const places = placesIn(body);
	const total = largest([...valuesIn(places, TOTALS), headers['x-total-count'], before.total]);
	const count = largest([...valuesIn(places, COUNTS), before.count]);
	const pages = largest([...valuesIn(places, PAGE_COUNTS), before.pages]);
	const signs = {
		flag: moreFlagIn(places),
		pages,
		next: hasNextLink(places, headers),
		isWhole: total > 0 && total === read.records,
	};
	return { more: hasMore(signs, read.pages), total, count, pages };
}

/**
 * Decides whether there are more records; undefined if nothing says so. The first sign that a
 * response has decides.
 */
function hasMore(
	signs: { flag?: boolean; pages: number; next?: boolean; isWhole: boolean },
	pagesRead: number,
): boolean | undefined {
	const { flag, pages, next, isWhole } = signs;
	if (flag !== undefined) return flag;
	if (pages > pagesRead) return true;
	// Some services send a link with the last page, too.
	if (next && !isWhole) return true;
	return pages > 0 || next === false ? false : undefined;
}

/** Checks whether records of the list are missing. */
export function isIncomplete({ more, total, count }: ListEnd, records: number): boolean {
	return more === true || total > records || count > records;
}

/** Returns the objects that may hold a sign. In a record, the same names mean something else. */
function placesIn(body: unknown): unknown[] {
	if (!isObject(body)) return [];
	const outer = [body, body.data];
	return [...outer, ...outer.flatMap((place) => valuesNamed(place, PAGE_PLACES))];
}

function valuesIn(places: unknown[], names: string[]): unknown[] {
	return places.flatMap((place) => valuesNamed(place, names));
}

function moreFlagIn(places: unknown[]): boolean | undefined {
	const flags = valuesIn(places, MORE_FLAGS).filter((flag) => flag !== null && flag !== '');
	return flags.length > 0 ? flags.some(isYes) : undefined;
}

/** Links of the header `Link` (RFC 8288). */
const NEXT_PAGE = /\brel\s*=\s*["']?[^"';,]*\bnext\b/i;
const EARLIER_PAGE = /\brel\s*=\s*["']?[^"';,]*\b(first|prev)\b/i;
const LAST_PAGE = /\brel\s*=\s*["']?[^"';,]*\blast\b/i;

/** Returns undefined if the response has no such links, or if they do not tell. */
function hasNextLink(places: unknown[], headers: IDataObject): boolean | undefined {
	const links = valuesIn(places, NEXT_LINKS);
	const header = String(headers.link ?? '');
	if (links.some(isYes) || NEXT_PAGE.test(header)) return true;
	// GitHub's last page links to the first and the previous one alone. Other services link to the
	// last page from each page, which says nothing.
	const isLastPage = EARLIER_PAGE.test(header) && !LAST_PAGE.test(header);
	return links.length > 0 || isLastPage ? false : undefined;
}

/** Values of a flag or a link. */
const MEANS_NO: unknown[] = [null, '', 'null', false, 'false', 0, '0'];

function isYes(value: unknown): boolean {
	return !MEANS_NO.includes(value);
}

/** Returns the largest whole number among the values; 0 if there is none. */
function largest(values: unknown[]): number {
	const numbers = values.map((value) => Number(exactString(value)?.trim() || NaN));
	return Math.max(0, ...numbers.filter(Number.isSafeInteger));
}
