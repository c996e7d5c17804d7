import { createHash } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { exactText, valueAt } from '../../shared/json';
import { HIDDEN } from '../../shared/secrets';
import type { Reply } from '../http/answer';
import { Failure } from '../../shared/failure';
import type { AnswerBody } from '../http/judge';
import { findList, type ListSettings, lookFor } from '../output/list';
import type { List as Elements } from '../output/shape';
import { identityOf } from '../output/records';
import { signsOf } from '../output/signs';

/** Where a page is: its number, its offset or its cursor; undefined for the first one by cursor. */
type Position = string | number | undefined;

/** A list, and a remark for the user on how it ended. */
type List = Elements & { hint?: string };

type ReadSettings = Omit<ListSettings, 'fields'>;

/** How to ask for the pages of a list: the `pagination` option. */
export interface Pagination {
	mode: 'pageNumber' | 'offset' | 'cursor';
	/** The query parameter that carries the position of a page: its number, offset or cursor. */
	parameter: string;
	/** The position of the first page; undefined for a cursor, which the first answer gives. */
	start: Position;
	/** Where an answer holds the cursor of the next page. */
	cursorPath: string;
	/** What else each page is asked for with: its size, where the user named a parameter for it. */
	size: IDataObject;
	maxPages: number;
}

/**
 * Reads a list: from one answer or, with Pagination, page by page, until there are as many elements as
 * Limit allows, or the service says that there are no more. A short page does not say so, as
 * a service may leave out what the account may not see.
 * @param request sends one request with these query parameters
 * @throws Failure also where all of a list is wanted, and what came is not all of it for sure
 */
export async function readList(
	pagination: Pagination | undefined,
	settings: ReadSettings,
	request: (query: IDataObject) => Promise<Reply>,
): Promise<List> {
	if (!pagination) return readOnly(await request({}), settings);
	const { size, parameter, maxPages } = pagination;
	const reading = new Reading(pagination, settings);
	let position = pagination.start;
	for (let page = 0; page < maxPages; page++) {
		const query = position === undefined ? size : { ...size, [parameter]: position };
		position = reading.take(await request(query), position);
		if (position === undefined) return reading.list;
	}
	throw new Failure('list.tooManyPages', {
		pages: `${maxPages} ${maxPages === 1 ? 'page' : 'pages'}`,
	});
}

function readOnly(reply: Reply, settings: ReadSettings): List {
	const { simplify, limit, option } = settings;
	const { body } = reply;
	// Without Simplify, the answer is returned whatever it holds.
	const found = simplify ? findList(body, settings) : lookFor(body, settings);
	const { path, elements } = typeof found === 'string' ? { path: '', elements: [] } : found;
	const list = { answers: [body], elements };
	const { more, total } = signsOf(reply, path);
	const isShort = typeof found !== 'string' && total > elements.length;
	const isPart = more || isShort;
	if (!isPart || elements.length >= limit) return list;
	const missing = whatIsMissing(elements.length, total);
	const advice = `To read the list page by page, add ${option}.`;
	if (limit === Infinity) throw new Failure('list.incomplete', { missing, advice });
	return { ...list, hint: `${missing} ${advice}` };
}

/** A list while it is read page by page. */
class Reading {
	readonly list: List = { answers: [], elements: [] };

	private path: string;

	/** The keys of the last page's records, sorted. */
	private last = '';

	private readonly seen = new Set<string>();

	private readonly cursors = new Set<Position>();

	/** The largest one given: while records are removed, others move to pages that were read already. */
	private total = 0;

	/** How many have been read. */
	private pages = 0;

	constructor(
		private readonly pagination: Pagination,
		private readonly settings: ReadSettings,
	) {
		this.path = settings.path;
	}

	/**
	 * Takes in the answer to the request for a position.
	 * @returns the next position; undefined where the list has been read
	 * @throws Failure
	 */
	take(reply: Reply, position: Position): Position {
		const { body } = reply;
		// The place on the first page counts for all pages, so that no other list is taken for it later.
		const { path, elements } = findList(body, { ...this.settings, path: this.path });
		this.path = path;
		const isFirst = ++this.pages === 1;
		const hasNews = this.add(elements);
		if (isFirst || hasNews) this.list.answers.push(body);
		const next = this.next(body, position, elements.length);
		if (this.cursors.has(next)) throw this.again('A cursor came twice.');
		const count = this.list.elements.length;
		if (count >= this.settings.limit) return undefined;

		const { mode, cursorPath } = this.pagination;
		const cursor = mode === 'cursor' ? next : undefined;
		const { more, total } = signsOf(reply, path, this.pages, cursor);
		this.total = Math.max(this.total, total);
		const goesOn = more ?? (elements.length > 0 && this.total !== count);
		if (next === undefined || !goesOn) {
			if (more || this.total > count) throw this.incomplete();
			const isMissing = isFirst && goesOn && valueAt(body, cursorPath) === undefined;
			if (isMissing) this.list.hint = noCursor(cursorPath);
			return undefined;
		}
		if (cursor !== undefined) this.cursors.add(cursor);
		return next;
	}

	/**
	 * Adds the new elements. Pages may overlap: a service that leaves out records may count them in offsets.
	 * @returns whether there are any
	 * @throws Failure where it is unclear whether two elements are one record, or a page came twice
	 */
	private add(elements: unknown[]): boolean {
		const before = this.list.elements.length;
		const page = new Map<string, unknown>();
		for (const element of elements) {
			const id = identityOf(element, this.settings.name);
			const key = id ?? createHash('sha256').update(JSON.stringify(element)).digest('base64');
			const isKnown = this.seen.has(key);
			// Cursors prove that these are two records.
			if (id === undefined && isKnown && this.pagination.mode !== 'cursor') {
				throw this.again('A record without an ID came twice.');
			}
			const isTwice = id !== undefined && page.has(key);
			if (isTwice && JSON.stringify(page.get(key)) !== JSON.stringify(element)) {
				throw new Failure('list.sameId', { option: this.settings.option });
			}
			if (id === undefined || !(isKnown || isTwice)) this.list.elements.push(element);
			page.set(key, element);
		}
		for (const key of page.keys()) this.seen.add(key);
		const keys = [...page.keys()].sort().join();
		const hasNews = this.list.elements.length > before;
		const mustHaveNews = this.pagination.mode === 'pageNumber' || keys === this.last;
		if (mustHaveNews && !hasNews && page.size > 0) throw this.again('A page brought nothing new.');
		this.last = keys;
		return hasNews;
	}

	private next(answer: AnswerBody, position: Position, length: number): Position {
		const { mode, cursorPath } = this.pagination;
		if (mode === 'pageNumber') return Number(position) + 1;
		// Counted by the records that came, not by those that were asked for.
		if (mode === 'offset') return length > 0 ? Number(position) + length : undefined;
		const cursor = valueAt(answer, cursorPath);
		// Some services write 0 for none, as Redis does.
		if (!cursor || cursor === '0') return undefined;
		const text = exactText(cursor);
		// A cursor with a secret, which has been hidden, would lead elsewhere.
		if (text !== undefined && !text.includes(HIDDEN)) return text;
		throw new Failure('list.noCursor', { path: cursorPath });
	}

	private again(what: string): Failure {
		const { parameter } = this.pagination;
		return new Failure('list.samePage', { what, parameter, option: this.settings.option });
	}

	private incomplete(): Failure {
		return new Failure('list.incomplete', {
			missing: whatIsMissing(this.list.elements.length, this.total),
			advice: `Run it again, as the list may have changed while it was read. If this stays, check ${this.settings.option}.`,
		});
	}
}

/** @param total what the service says, or 0 */
function whatIsMissing(count: number, total: number): string {
	return total > count
		? `The service sent ${count} records, and says that the list has ${total}.`
		: `The service sent ${count} records, and says that there are more.`;
}

function noCursor(path: string): string {
	return `The first answer has nothing at '${path}', so reading stopped there. If it has more, check Cursor Path in Pagination.`;
}
