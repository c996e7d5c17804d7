import { createHash } from 'node:crypto';

import { Failure } from '../../shared/failure';
import { exactString } from '../../shared/json';
import { idNames, valuesNamed } from '../../shared/names';
import { HIDDEN } from '../../shared/secrets';

/** Normalizes an email address for comparison. Lower-cases only A–Z: Unicode folding could match another address. */
export function normalizeEmail(email: string): string {
	return email.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
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

/** Kind of a page's position. */
export type PageMode = 'pageNumber' | 'offset' | 'cursor';

/** Collects the records of a list page by page. */
export class Records {
	readonly all: unknown[] = [];

	/** Keys of the records on all pages. */
	private readonly seen = new Set<string>();

	/** Keys of the records on the last page. */
	private last = '';

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
	add(records: unknown[], page: number): boolean {
		const before = { count: this.all.length, last: this.last };
		const keys = this.addNew(records);
		this.last = keys.join();
		for (const key of keys) this.seen.add(key);
		const hasNews = this.all.length > before.count || this.last !== before.last;
		if (hasNews || records.length === 0) return false;
		// Some services send the last page for each page number past it. If the second page is already a
		// repeated one, the service does not know the parameter. Offsets may count records that the service hides.
		if (this.mode === 'pageNumber' && page > 2) return true;
		throw new Failure('list.samePage', { what: 'A page has the records of the page before.' });
	}

	/** @returns the different keys of all records, sorted */
	private addNew(records: unknown[]): string[] {
		const page = new Map<string, unknown>();
		for (const record of records) {
			const ids = idsOf(record, this.list);
			const hasId = ids.length > 0;
			const key = hasId ? JSON.stringify(ids) : hashOf(record);
			const isKnown = this.seen.has(key);
			if (hasId && page.has(key) && hashOf(page.get(key)) !== hashOf(record)) {
				throw new Failure('list.sameId');
			}
			// Cursors prove that equal records on two pages are two records.
			if (isKnown && !hasId && this.mode !== 'cursor') {
				throw new Failure('list.samePage', { what: 'A record without an ID came twice.' });
			}
			if (!hasId || !(isKnown || page.has(key))) this.all.push(record);
			page.set(key, record);
		}
		return [...page.keys()].sort();
	}
}

function hashOf(record: unknown): string {
	return createHash('sha256').update(JSON.stringify(record)).digest('base64');
}
