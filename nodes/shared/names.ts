import { isObject } from './json';

/*
 * Names that the nodes try where the specification shows none (§2, §4.2 and §6), in the form of `normalizeName`. Add a name
 * only for a real response of the service: for all others, an error names the option to set.
 */

/** Flags for more pages of a list. */
export const MORE_FLAGS = ['hasmore', 'hasnext'];

/** Links, cursors or page numbers of the next page of a list. */
export const NEXT_LINKS = ['next', 'nextpage', 'nextpagetoken', 'nextcursor'];

/** Numbers of pages of a list. */
export const PAGE_COUNTS = ['pages', 'totalpages', 'pagecount'];

/** Numbers of records in a list. */
export const TOTALS = ['total', 'totalcount'];

/** Numbers of records in a response or, with some services, in the whole list. */
export const COUNTS = ['count'];

/** Objects in a response, or in its `data`, that may hold the properties above. */
export const PAGE_PLACES = ['meta', 'pagination', 'links'];

/** Returns the names of the ID of a record in this list, such as `users`. */
export const idNames = (list: string): string[] => ['id', `${list.slice(0, -1)}id`];

/** Names of a record in a picker: the first of `NAMES`, or else all `GIVEN_NAMES`. */
export const NAMES = ['name', 'fullname', 'title'];
export const GIVEN_NAMES = ['firstname', 'lastname'];

export const EMAIL = ['email'];

/** A file in a JSON response: a link, or base64. */
export const FILES = ['data', 'url', 'link', 'file', 'content', 'base64'];

/** The name of an event. `type` comes last, because it often names the kind of message. */
export const EVENT_NAMES = ['event', 'eventtype', 'eventname', 'type'];

export const EVENT_IDS = ['eventid'];

/** The ID of an event beside its name and `data`. Elsewhere, `id` may be the ID of a resume. */
export const ENVELOPE_IDS = [...EVENT_IDS, 'id'];

/** Normalizes a name for comparison: `first_name`, `first-name` and `FirstName` are equal. */
export function normalizeName(name: string): string {
	return name.replace(/[_-]/g, '').toLowerCase();
}

/** Returns the values of the properties with one of these names, in the order of the names. */
export function valuesNamed(value: unknown, names: readonly string[]): unknown[] {
	if (!isObject(value)) return [];
	const found = Object.keys(value).filter((property) => names.includes(normalizeName(property)));
	return names.flatMap((name) =>
		found.filter((property) => normalizeName(property) === name).map((property) => value[property]),
	);
}

/** Returns the first property names of a value for an error, shortened: a service may send long ones. */
export function shownNames(value: unknown): string {
	const names = isObject(value) ? Object.keys(value) : [];
	const shown = names.slice(0, 20).map((name) => name.slice(0, 64));
	return shown.join(', ') || 'none';
}
