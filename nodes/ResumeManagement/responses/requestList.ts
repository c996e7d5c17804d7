import { Failure } from '../../shared/failure';
import type { ParameterReader } from '../../shared/parameters';
import type { JsonBody } from '../http/judge';
import { requestJson } from '../http/response';
import type { HttpContext, HttpRequest } from '../http/send';
import { findList, type ListPlace, requireList } from './findList';
import { isIncomplete, listEndOf } from './listEnd';
import { Pages } from './pages';
import { type Pagination, Position } from './pagination';

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

/**
 * Reads a list from one response or, with Pagination, page by page.
 * @returns the list, with a hint if it is shorter than Limit although the service has more records
 * @throws Failure, even if only the end of the list is missing and all records are wanted
 */
export async function requestList(
	context: HttpContext,
	request: HttpRequest,
	settings: ListSettings,
): Promise<List> {
	const { pagination, limit, labels } = settings;
	const { bodies, records, end } = pagination
		? await requestPages(context, request, settings, pagination)
		: await requestOnce(context, request, settings);
	const count = records.length;
	if (!end || count >= limit || !isIncomplete(end, count)) return { bodies, records };
	const incomplete = new Failure('list.incomplete', { count, option: labels.pagination });
	if (limit === Infinity) throw incomplete;
	return { bodies, records, hint: incomplete.description };
}

/** What was read of a list. */
type ReadPages = Pick<Pages, 'bodies' | 'records' | 'end'>;

/** Reads a list that is in one response. */
async function requestOnce(
	context: HttpContext,
	request: HttpRequest,
	settings: ListSettings,
): Promise<ReadPages> {
	const { needsList, labels } = settings;
	const response = await requestJson(context, request);
	const { body } = response;
	const found = needsList ? requireList(body, settings, labels.path) : findList(body, settings);
	if ('problem' in found) return { bodies: [body], records: [] };
	const { records } = found;
	const end = listEndOf(response, { records: records.length, pages: 1 });
	return { bodies: [body], records, end };
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
): Promise<ReadPages> {
	const { limit, labels } = settings;
	const { mode, size, maxPages } = pagination;
	const pages = new Pages(settings, labels.path, mode);
	const position = new Position(pagination);
	for (let page = 1; page <= maxPages; page++) {
		const query = { ...request.query, ...size, ...position.query };
		const response = await requestJson(context, { ...request, query });
		const count = pages.add(response);
		const hasNext = position.advance(response.body, count);
		const { records, isRepeated, end } = pages;
		// The first page may have its own number of records as the total.
		const isTotalReached = page > 1 && records.length === end?.total;
		const hasMore = end?.more ?? !isTotalReached;
		const isLast = !hasNext || !hasMore || isRepeated;
		if (isLast || records.length >= limit) return pages;
	}
	throw new Failure('list.tooManyPages', { pages: maxPages });
}
