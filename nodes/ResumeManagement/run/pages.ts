import type { IDataObject } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { exactString, valueAt } from '../../shared/json';
import { HIDDEN } from '../../shared/secrets';
import type { JsonResponse } from '../http/response';
import type { JsonBody } from '../http/judge';
import {
	findList,
	isMore,
	type ListSettings,
	lookForList,
	type Signs,
	signsOf,
} from '../output/list';
import { type PageMode, Records } from '../output/records';
import type { List } from '../output/items';

/** Number, offset or cursor of a page; undefined for the first page by cursor. */
type Position = string | number | undefined;

/** Settings of the option Pagination or Users Pagination. */
export interface Pagination {
	mode: PageMode;
	/** Query parameter that carries the position of a page. */
	parameter: string;
	start: Position;
	/** Path of the next page's cursor in a response. */
	cursorPath: string;
	/** Query parameter of the page size with its value, if the user named one. */
	size: IDataObject;
	maxPages: number;
}

type RequestPage = (query: IDataObject) => Promise<JsonResponse>;

/**
 * Reads a list from one response or, with Pagination, page by page.
 * @param request sends one request with these query parameters
 * @throws Failure, also if all records are wanted and the service says that there are more
 */
export async function readList(
	pagination: Pagination | undefined,
	settings: ListSettings,
	request: RequestPage,
): Promise<List> {
	if (pagination) return await readPages(pagination, settings, request);
	const response = await request({});
	const { body } = response;
	const found = settings.simplify ? findList(body, settings) : lookForList(body, settings);
	// Without Simplify, a response without a list is returned too.
	if ('problem' in found) return { bodies: [body], records: [] };
	return checkEnd({ bodies: [body], records: found.records }, signsOf(response), settings);
}

/**
 * Returns the list, with a hint if it is shorter than Limit although the service has more records.
 * @throws Failure if all records are wanted
 */
function checkEnd(list: List, signs: Signs, { limit, option }: ListSettings): List {
	const count = list.records.length;
	if (count >= limit || !isMore(signs, count)) return list;
	const failure = new Failure('list.incomplete', { count, option });
	if (limit === Infinity) throw failure;
	return { ...list, hint: failure.description };
}

/**
 * Reads pages until Limit is reached, a page is empty, a response has no cursor, or the service says that there are no
 * more. A short page does not end the list: services leave out records that an account may not see.
 */
async function readPages(
	pagination: Pagination,
	settings: ListSettings,
	request: RequestPage,
): Promise<List> {
	const { parameter, size, maxPages } = pagination;
	const records = new Records(settings.name, pagination.mode);
	const list: List = { bodies: [], records: records.all };
	const positions = new Set<Position>();
	let position = pagination.start;
	let { path } = settings;
	// Keep the largest total: deletions move later records onto pages already read.
	let total = 0;
	for (let page = 1; page <= maxPages; page++) {
		const response = await request(
			position === undefined ? size : { ...size, [parameter]: position },
		);
		// The list's path on the first page counts for all pages, so that no other list is mistaken for it.
		const found = findList(response.body, { ...settings, path });
		({ path } = found);
		const isRepeated = records.add(found.records, page);
		const isEmpty = found.records.length === 0;
		if (page === 1 || !(isEmpty || isRepeated)) list.bodies.push(response.body);
		position = nextPosition(pagination, response.body, position, found.records.length);
		if (positions.has(position)) throw new Failure('list.samePage', { what: CURSOR_TWICE });
		positions.add(position);
		const count = list.records.length;
		if (count >= settings.limit) return list;

		const signs = signsOf(response);
		total = Math.max(total, signs.total);
		// On the first page, a total may be the number of records on this page.
		const isEnd = signs.flag === undefined ? page > 1 && count === total : !signs.flag;
		if (position === undefined || isEnd || isRepeated) {
			const hasNoSign = page === 1 && !isEmpty && signs.flag === undefined && total === 0;
			const hint = hasNoSign ? cursorHint(pagination, response.body) : undefined;
			return checkEnd({ ...list, hint }, { ...signs, total }, settings);
		}
	}
	throw new Failure('list.tooManyPages', { pages: maxPages });
}

const CURSOR_TWICE = 'A cursor came twice.';

/** Returns the position of the next page; undefined if there is none. */
function nextPosition(
	{ mode, cursorPath }: Pagination,
	body: JsonBody,
	position: Position,
	length: number,
): Position {
	// Offsets count the records that came: the service may send fewer than it was asked for.
	const step = mode === 'offset' ? length : 1;
	if (mode !== 'cursor') return length > 0 ? Number(position) + step : undefined;
	const cursor = valueAt(body, cursorPath);
	if (!cursor || cursor === '0') return undefined;
	const text = exactString(cursor);
	// A cursor with a secret, which has been hidden, would lead elsewhere.
	if (text !== undefined && !text.includes(HIDDEN)) return text;
	throw new Failure('list.noCursor', { path: cursorPath });
}

function cursorHint({ mode, cursorPath }: Pagination, body: JsonBody): string | undefined {
	if (mode !== 'cursor' || valueAt(body, cursorPath) !== undefined) return undefined;
	return `The first response has nothing at '${cursorPath}', so reading stopped there. If it has more, check Cursor Path in Pagination.`;
}
