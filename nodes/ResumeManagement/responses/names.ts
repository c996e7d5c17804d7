/*
 * Names that the node tries where the specification shows none (§2 and §4.2), in the form of
 * `normalizeName`. Add a name only for a real response of the service: for all others, an error
 * names the option to set.
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

/** Returns the names of the ID of a record in this list: `id` and, in `users`, `userid`. */
export function idNames(list: string): string[] {
	const singular = list.replace(/s$/, '');
	return ['id', `${singular}id`];
}

/** Names of a record in a picker: the first of `NAMES`, or else all `GIVEN_NAMES`. */
export const NAMES = ['name', 'fullname', 'title'];
export const GIVEN_NAMES = ['firstname', 'lastname'];

export const EMAIL = ['email'];

/** A file in a JSON response: a link, or base64. */
export const FILES = ['data', 'url', 'link', 'file', 'content', 'base64'];
