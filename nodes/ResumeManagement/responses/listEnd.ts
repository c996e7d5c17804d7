import type { IDataObject } from 'n8n-workflow';

import { exactString, isObject } from '../../shared/json';
import { valuesNamed } from '../../shared/names';
import type { ParsedResponse } from '../http/judge';
import { COUNTS, MORE_FLAGS, NEXT_LINKS, PAGE_COUNTS, PAGE_PLACES, TOTALS } from './names';

/** What a response says about the end of its list. */
export interface ListEnd {
	/** Whether there are more records; undefined if nothing says so. */
	more?: boolean;
	/** Number of records in the whole list; undefined if the response has none. */
	total?: number;
}

/**
 * Reads the signs of more records. A flag wins over a number of pages, and over a link to the next page.
 * @param read numbers of records and pages that were read, with those of this response
 */
export function listEndOf(
	{ body, headers }: Pick<ParsedResponse, 'body' | 'headers'>,
	read: { records: number; pages: number },
): ListEnd {
	const places = placesIn(body);
	const total = totalIn(places, headers, read.records);
	const flag = moreFlagIn(places);
	if (flag !== undefined) return { more: flag, total };
	const hasMorePages = pageCountIn(places) > read.pages;
	// Some services send a link with the last page, too.
	const isWhole = total === read.records;
	const hasMore = hasMorePages || (hasNextLink(places, headers) && !isWhole);
	return { more: hasMore || undefined, total };
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

/** @param recordsRead a count that is not larger may be that of the page, and is no total then */
function totalIn(places: unknown[], headers: IDataObject, recordsRead: number): number | undefined {
	const totals = valuesIn(places, TOTALS);
	const counts = valuesIn(places, COUNTS).filter((count) => Number(count) > recordsRead);
	return largest([...totals, ...counts, headers['x-total-count']]);
}

function moreFlagIn(places: unknown[]): boolean | undefined {
	const flags = valuesIn(places, MORE_FLAGS).filter((flag) => flag !== null && flag !== '');
	return flags.length > 0 ? flags.some(isYes) : undefined;
}

function pageCountIn(places: unknown[]): number {
	return largest(valuesIn(places, PAGE_COUNTS)) ?? 0;
}

/** A link to the next page in the header `Link` (RFC 8288). */
const NEXT_PAGE = /\brel\s*=\s*["']?[^"';,]*\bnext\b/i;

function hasNextLink(places: unknown[], headers: IDataObject): boolean {
	return valuesIn(places, NEXT_LINKS).some(isYes) || NEXT_PAGE.test(String(headers.link ?? ''));
}

/** Values of a flag or a link that mean no. */
const NO: unknown[] = [null, '', false, 'false', 0, '0'];

function isYes(value: unknown): boolean {
	return !NO.includes(value);
}

/** Returns the largest whole number among the values; undefined if there is none. */
function largest(values: unknown[]): number | undefined {
	const numbers = values.map((value) => Number(exactString(value)?.trim() || NaN));
	const whole = numbers.filter(Number.isSafeInteger);
	return whole.length > 0 ? Math.max(...whole) : undefined;
}
