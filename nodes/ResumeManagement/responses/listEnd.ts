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
 * Reads the signs of more records outside of the records: in a record, the same names mean something else.
 * @param read numbers of records and pages that were read, with those of this response
 */
export function listEndOf(
	{ body, headers }: Pick<ParsedResponse, 'body' | 'headers'>,
	read: { records: number; pages: number },
): ListEnd {
	const bodies = isObject(body) ? [body, body.data] : [];
	const places = [...bodies, ...bodies.flatMap((one) => valuesNamed(one, PAGE_PLACES))];
	const valuesOf = (names: string[]) => places.flatMap((place) => valuesNamed(place, names));

	// A count that is not larger than the records may be that of the page.
	const counts = valuesOf(COUNTS).filter((count) => Number(count) > read.records);
	const total = largest([...valuesOf(TOTALS), headers['x-total-count'], ...counts]);

	const flags = valuesOf(MORE_FLAGS).filter((flag) => flag !== null && flag !== '');
	if (flags.length > 0) return { more: flags.some(isYes), total };

	const pages = largest(valuesOf(PAGE_COUNTS)) ?? 0;
	const hasLink = valuesOf(NEXT_LINKS).some(isYes) || NEXT_PAGE.test(String(headers.link ?? ''));
	const hasMore = pages > read.pages || (hasLink && total !== read.records);
	return { more: hasMore || undefined, total };
}

/** A link to the next page in the header `Link` (RFC 8288). */
const NEXT_PAGE = /\brel\s*=\s*["']?[^"';,]*\bnext\b/i;

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
