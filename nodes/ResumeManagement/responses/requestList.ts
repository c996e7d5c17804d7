import type { IDataObject } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { exactString, valueAt } from '../../shared/json';
import type { ParameterReader } from '../../shared/parameters';
import { HIDDEN } from '../../shared/secrets';
import type { JsonBody } from '../http/judge';
import { requestJson } from '../http/response';
import type { HttpContext, HttpRequest } from '../http/send';
import { findList, type ListPlace, requireList } from './findList';
import { type ListEnd, listEndOf } from './listEnd';
import { PageRecords } from './pageRecords';

export interface ListSettings extends ListPlace {
	/** Undefined to send one request. */
	pagination?: Pagination;
	/** Most records to read; Infinity for all. */
	limit: number;
	/** A response without a list is an error. */
	needsList: boolean;
	/** Names of the options for the list's path and its pages, for errors. */
	labels: { path: string; pagination: string };
}

/** Settings of the option Pagination or Users Pagination. */
interface Pagination {
	mode: 'pageNumber' | 'offset' | 'cursor';
	/** Query parameter that carries the position of a page. */
	parameter: string;
	start: Position;
	/** Path of the next page's cursor in a response; '' in other modes. */
	cursorPath: string;
	/** Query parameter of the page size with its value, if the user named one. */
	size: IDataObject;
	maxPages: number;
}

/** Number, offset or cursor of a page; undefined for the first page by cursor, and after the last page. */
type Position = string | number | undefined;

/** A list, from all of its responses. */
interface List {
	bodies: JsonBody[];
	records: unknown[];
	/** Message to the user that the list may not be whole. */
	hint?: string;
}

/** Reads the option for a list's path; undefined if the user has left it empty. */
export function listPathOf(parameters: ParameterReader, option: string): string[] | undefined {
	const path = parameters.optionalText(option);
	return path === '' ? undefined : path.split('.');
}

/** Reads the option for a list's pages; undefined if the user has not added it. */
export function paginationOf(parameters: ParameterReader, name: string): Pagination | undefined {
	const option = `${name}.pagination`;
	if (!parameters.has(option)) return undefined;
	const mode = parameters.choice<Pagination['mode']>(`${option}.mode`);
	const sizeName = parameters.optionalText(`${option}.sizeParameterName`);
	const first = { pageNumber: 'firstPage', offset: 'firstOffset', cursor: undefined }[mode];
	return {
		mode,
		parameter: parameters.text(`${option}.parameterName`),
		start: first && parameters.count(`${option}.${first}`),
		cursorPath: mode === 'cursor' ? parameters.text(`${option}.cursorPath`) : '',
		size: sizeName ? { [sizeName]: parameters.count(`${option}.pageSize`) } : {},
		maxPages: parameters.count(`${option}.maxPages`),
	};
}

/**
 * Reads a list from one response or, with Pagination, page by page.
 * @throws Failure, also if all records are wanted and the service says that there are more
 */
export async function requestList(
	context: HttpContext,
	request: HttpRequest,
	settings: ListSettings,
): Promise<List> {
	const { pagination, labels, needsList } = settings;
	if (pagination) return await requestPages(context, request, settings, pagination);
	const response = await requestJson(context, request);
	const { body } = response;
	const found = needsList ? requireList(body, settings, labels.path) : findList(body, settings);
	if ('problem' in found) return { bodies: [body], records: [] };
	const { records } = found;
	const end = listEndOf(response, { records: records.length, pages: 1 });
	return checked({ bodies: [body], records }, end, settings);
}

/**
 * Reads pages until Limit is reached, a response has no cursor (in other modes: no record), or the service says that there
 * are no more. A short page does not end the list: services leave out records that an account may not see.
 */
async function requestPages(
	context: HttpContext,
	request: HttpRequest,
	settings: ListSettings,
	pagination: Pagination,
): Promise<List> {
	const { mode, parameter, size, maxPages } = pagination;
	const place = { ...settings };
	const read = new PageRecords(settings.name, mode === 'cursor');
	const list: List = { bodies: [], records: read.records };
	const positions = new Set<Position>();
	let position = pagination.start;
	let total = 0;
	for (let page = 1; page <= maxPages; page++) {
		const query = { ...request.query, ...size };
		if (position !== undefined) query[parameter] = position;
		const response = await requestJson(context, { ...request, query });
		const { body } = response;
		const { path, records } = requireList(body, place, settings.labels.path);
		// The list's path on the first page counts for all pages, so that no other list is mistaken for it.
		place.path = path;

		const isRepeated = read.isSamePageAgain(records);
		// Past the end, some services send the last page for each page number. On page 2, that may also mean an unknown parameter.
		// With offsets, it proves nothing: they may count records that the service hides.
		if (isRepeated && !(mode === 'pageNumber' && page > 2)) {
			throw new Failure('list.samePage', { what: 'A page has the records of the page before.' });
		}
		read.add(records);
		if (page === 1 || (records.length > 0 && !isRepeated)) list.bodies.push(body);
		if (list.records.length >= settings.limit) return list;

		position = nextPosition(pagination, body, position, records.length);
		if (positions.has(position))
			throw new Failure('list.samePage', { what: 'A cursor came twice.' });
		positions.add(position);

		const end = listEndOf(response, { records: list.records.length, pages: page });
		// Keep the largest total: deletions move later records onto pages already read.
		total = Math.max(total, end.total ?? 0);
		// The first page may have its own number of records as the total.
		const isTotalReached = page > 1 && list.records.length === total;
		const isEnd = end.more === false || (end.more === undefined && isTotalReached);
		if (isEnd || isRepeated || position === undefined) {
			return checked(list, { ...end, total }, settings);
		}
	}
	throw new Failure('list.tooManyPages', { pages: maxPages });
}

/** Returns the position of the next page; undefined if there is none. */
function nextPosition(
	{ mode, cursorPath }: Pagination,
	body: JsonBody,
	position: Position,
	length: number,
): Position {
	if (mode !== 'cursor') {
		// Offsets count the records that came: the service may send fewer than it was asked for.
		const step = mode === 'offset' ? length : 1;
		return length > 0 ? Number(position) + step : undefined;
	}
	const cursor = valueAt(body, cursorPath);
	// Some services end with the cursor 0.
	if (!cursor || cursor === '0') return undefined;
	const text = exactString(cursor);
	// A cursor with a secret, which has been hidden, would lead elsewhere.
	if (text !== undefined && !text.includes(HIDDEN)) return text;
	throw new Failure('list.noCursor', { path: cursorPath });
}

/**
 * Returns the list, with a hint if it is shorter than Limit although the service has more records.
 * @throws Failure if all records are wanted
 */
function checked(list: List, { more, total = 0 }: ListEnd, settings: ListSettings): List {
	const { limit, labels } = settings;
	const count = list.records.length;
	if (count >= limit || !(more || total > count)) return list;
	const failure = new Failure('list.incomplete', { count, option: labels.pagination });
	if (limit === Infinity) throw failure;
	return { ...list, hint: failure.description };
}
