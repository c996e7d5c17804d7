import { Failure } from '../../shared/failure';
import type { JsonBody, ParsedResponse } from '../http/judge';
import { requestJson } from '../http/request';
import type { HttpContext, HttpRequest } from '../http/send';
import { type ListPlace, requireList } from './findList';
import { idOf } from './ids';
import { type ListEnd, listEndOf } from './listEnd';
import { type Pagination, Position } from './pagination';

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
): Promise<Pages> {
	const { mode, size, maxPages } = pagination;
	const pages = new Pages(list, mode);
	const position = new Position(pagination);
	for (let page = 1; page <= maxPages; page++) {
		const query = { ...request.query, ...size, ...position.query };
		const response = await requestJson(context, { ...request, query });
		const count = pages.add(response);
		const hasNext = position.advance(response.body, count);
		if (!hasNext || pages.isEnd || pages.records.length >= list.limit) return pages;
	}
	throw new Failure('list.tooManyPages', { pages: maxPages });
}

/** A record of a page, with its ID if it has one. */
interface PageRecord {
	id?: string;
	record: unknown;
}

/**
 * The pages of a list that were read, and each record once. A list may change while it is read, so
 * that records come again.
 */
class Pages {
	/** Responses of the pages that have records, and of the first page. */
	readonly bodies: JsonBody[] = [];

	readonly records: unknown[] = [];

	/** What the pages say about the end of the list. */
	end?: ListEnd;

	/** The page that was added last is the end of the list. */
	isEnd = false;

	private count = 0;

	private lastPage: PageRecord[] = [];

	private readonly ids = new Set<string>();

	/** Records without an ID, as JSON. */
	private readonly withoutId = new Set<string>();

	constructor(
		private place: ListPlace,
		private readonly mode: Pagination['mode'],
	) {}

	/** @returns the number of records on the page @throws Failure */
	add(response: ParsedResponse & { body: JsonBody }): number {
		const { body } = response;
		const { path, records } = requireList(body, this.place);
		// The list's path on the first page counts for all pages, so that no other list is mistaken for
		// it.
		this.place = { ...this.place, path };
		const page = records.map((record) => ({ id: idOf(record, this.place.name), record }));
		this.count++;
		const isRepeated = this.isPageBefore(page);
		if (isRepeated && !this.mayRepeat()) {
			throw new Failure('list.samePage', { what: 'A page has the records of the page before.' });
		}
		if (!isRepeated) this.addRecords(page);
		if (this.count === 1 || (records.length > 0 && !isRepeated)) this.bodies.push(body);
		const read = { records: this.records.length, pages: this.count };
		this.end = listEndOf(response, read, this.end);
		const { more, total } = this.end;
		// The first page may have its own number of records as the total.
		const isTotalReached = this.count > 1 && this.records.length === total;
		this.isEnd = isRepeated || (more === undefined ? isTotalReached : !more);
		return records.length;
	}

	/** Checks whether all of these records have IDs, and these are the IDs of the page before. */
	private isPageBefore(page: PageRecord[]): boolean {
		const haveIds = page.length > 0 && page.every(({ id }) => id !== undefined);
		return haveIds && sortedIds(page) === sortedIds(this.lastPage);
	}

	/**
	 * Checks whether a repeated page is past the end of the list: some services send the last page
	 * again for each number past the end. By offset, the list may go on, as the service may count
	 * hidden records. If the second page repeats the first, the service more likely does not know the
	 * parameter, unless the first has the whole list.
	 */
	private mayRepeat(): boolean {
		const isAfterLast = this.count > 2 || this.records.length === this.end?.total;
		return this.mode === 'pageNumber' && isAfterLast;
	}

	/** @throws Failure if two records can't be told apart */
	private addRecords(page: PageRecord[]): void {
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
		this.lastPage = page;
	}
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
