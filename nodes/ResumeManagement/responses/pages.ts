import { Failure } from '../../shared/failure';
import type { JsonBody } from '../http/judge';
import { requestJson } from '../http/request';
import type { HttpContext, HttpRequest } from '../http/send';
import { type ListPlace, requireList } from './findList';
import { idOf } from './ids';
import { type ListEnd, listEndOf } from './listEnd';
import { type Pagination, Position } from './pagination';

/** What was read of a list in pages. */
interface ReadPages {
	/** Responses of the pages that have records, and of the first page. */
	bodies: JsonBody[];
	/** Each record once. */
	records: unknown[];
	/** What the pages say about the end of the list. */
	end?: ListEnd;
}

/**
 * Requests pages until there are enough records, a response has no cursor (in other modes: no
 * record), or the service says that there are no more. A short page does not end the list: services
 * leave out records that an account may not see.
 * @param list its place, and the number of records that are enough
 * @throws Failure
 */
export async function requestPages(
	context: HttpContext,
	request: HttpRequest,
	list: ListPlace & { limit: number },
	pagination: Pagination,
): Promise<ReadPages> {
	const { mode, size, maxPages } = pagination;
	const position = new Position(pagination);
	const bodies: JsonBody[] = [];
	const all = new Records(mode);
	let place: ListPlace = list;
	let lastPage: PageRecord[] = [];
	let end: ListEnd | undefined;
	for (let number = 1; number <= maxPages; number++) {
		const query = { ...request.query, ...size, ...position.query };
		const response = await requestJson(context, { ...request, query });
		const { body } = response;
		const found = requireList(body, place);
		// The list's path on the first page counts for all pages, so that no other list is mistaken for
		// it.
		place = { ...place, path: found.path };
		const page = found.records.map((record) => ({ id: idOf(record, list.name), record }));

		const isRepeated = isSamePage(page, lastPage);
		if (isRepeated) {
			// Some services send the last page again for each number past the end. If the second page
			// repeats the first, the service more likely does not know the parameter, unless the first
			// has the whole list. By offset, the list may go on: the service may count hidden records.
			const isPastEnd = number > 2 || all.records.length === end?.total;
			if (mode !== 'pageNumber' || !isPastEnd) {
				throw new Failure('list.samePage', { what: 'A page has the records of the page before.' });
			}
		} else {
			all.add(page);
			lastPage = page;
			if (number === 1 || page.length > 0) bodies.push(body);
		}

		end = listEndOf(response, { records: all.records.length, pages: number }, end);
		const hasNext = position.advance(body, page.length);
		// The first page may have its own number of records as the total.
		const isTotalReached = number > 1 && all.records.length === end.total;
		const isEnd = end.more === undefined ? isTotalReached : !end.more;
		if (isRepeated || !hasNext || isEnd || all.records.length >= list.limit) {
			return { bodies, records: all.records, end };
		}
	}
	throw new Failure('list.tooManyPages', { pages: maxPages });
}

/** A record of a page, with its ID if it has one. */
interface PageRecord {
	id?: string;
	record: unknown;
}

/** The records of all pages. A list may change while it is read, so that records come again. */
class Records {
	/** Each record once. */
	readonly records: unknown[] = [];

	private readonly ids = new Set<string>();

	/** Records without an ID, as JSON. */
	private readonly withoutId = new Set<string>();

	constructor(private readonly mode: Pagination['mode']) {}

	/** @throws Failure if two records can't be told apart */
	add(page: PageRecord[]): void {
		refuseSameId(page);
		const texts = page
			.filter(({ id }) => id === undefined)
			.map(({ record }) => JSON.stringify(record));
		// A cursor shows by itself whether it moves on, so that equal records are different records.
		if (this.mode !== 'cursor' && texts.some((text) => this.withoutId.has(text))) {
			throw new Failure('list.samePage', { what: 'A record without an ID came twice.' });
		}
		for (const text of texts) this.withoutId.add(text);
		for (const { id, record } of page) {
			if (id === undefined || !this.ids.has(id)) this.records.push(record);
			if (id !== undefined) this.ids.add(id);
		}
	}
}

/** Checks whether all of these records have IDs, and these are the IDs of the page before. */
function isSamePage(page: PageRecord[], before: PageRecord[]): boolean {
	const haveIds = page.length > 0 && page.every(({ id }) => id !== undefined);
	return haveIds && sortedIds(page) === sortedIds(before);
}

function sortedIds(page: PageRecord[]): string {
	return page
		.map(({ id }) => id)
		.sort()
		.join();
}

/** @throws Failure if different records of a page have the same ID */
function refuseSameId(page: PageRecord[]): void {
	const onPage = new Map<string, unknown>();
	for (const { id, record } of page) {
		if (id === undefined) continue;
		const isOther = onPage.has(id) && JSON.stringify(onPage.get(id)) !== JSON.stringify(record);
		if (isOther) throw new Failure('list.sameId');
		onPage.set(id, record);
	}
}
