import type { INodeExecutionData } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import type { ParameterReader } from '../../shared/parameters';
import type { JsonBody } from '../http/judge';
import { requestJson } from '../http/request';
import type { HttpContext, HttpRequest } from '../http/send';
import { findList, type ListPlace, requireList } from './findList';
import { isIncomplete, type ListEnd, listEndOf } from './listEnd';
import { requestPages } from './pages';
import { type Pagination, paginationOf } from './pagination';
import { hasNoField, NO_FIELD, toItem } from './record';

/** A response that is a list of records, in one piece or in pages. */
export class ListOutput {
	private readonly simplify: boolean;

	/** Dotted paths of the properties to return of each record; none to return all. */
	private readonly fields: string[];

	private readonly settings: ListSettings;

	/** @param operation has a path that ends in the list's name @throws Failure */
	constructor(parameters: ParameterReader, operation: { path: string }) {
		this.simplify = parameters.flag('simplify');
		this.fields = parameters.fieldsToReturn();
		this.settings = {
			name: operation.path.split('/').at(-1)!,
			path: listPathOf(parameters, 'options.itemsPath'),
			pathOption: 'Items Path',
			pagination: paginationOf(parameters, 'options.pagination'),
			paginationOption: 'Pagination',
			limit: parameters.flag('returnAll') ? Infinity : parameters.wholeNumber('limit'),
			needsList: this.simplify,
		};
	}

	/**
	 * Requests the list, and returns an item for each record; without Simplify, for each response.
	 * @param hint shows a message above the output
	 * @throws Failure
	 */
	async fetchItems(
		context: HttpContext,
		request: HttpRequest,
		hint: (message: string) => void,
	): Promise<INodeExecutionData[]> {
		const list = await requestList(context, request, this.settings);
		if (list.hint) hint(list.hint);
		const values = this.simplify ? list.records.slice(0, this.settings.limit) : list.bodies;
		const items = values.map((value) => toItem(value, this.fields));
		if (hasNoField(items, this.fields)) hint(NO_FIELD);
		return items;
	}
}

/** Where a list is, and how much of it to read. */
export interface ListSettings extends ListPlace {
	/** Undefined to send one request. */
	pagination?: Pagination;
	/** Name of the option for the list's pages, for errors. */
	paginationOption: string;
	/** Most records to read; Infinity for all. */
	limit: number;
	/** A response without a list is an error. */
	needsList: boolean;
}

/** Reads the option for a list's path; undefined if the user has left it empty. */
export function listPathOf(parameters: ParameterReader, option: string): string[] | undefined {
	const path = parameters.optionalText(option);
	return path === '' ? undefined : path.split('.');
}

/** What was read of a list. */
interface ReadList {
	/** The responses. */
	bodies: JsonBody[];
	records: unknown[];
	/** What the responses say about the end of the list; undefined without a list. */
	end?: ListEnd;
}

/**
 * Reads a list from one response or, with Pagination, page by page.
 * @returns the list, with a message to the user if it is shorter than Limit although the service
 *   has more records
 * @throws Failure, even if only the end of the list is missing and all records are wanted
 */
export async function requestList(
	context: HttpContext,
	request: HttpRequest,
	settings: ListSettings,
): Promise<ReadList & { hint?: string }> {
	const { pagination, limit } = settings;
	const list: ReadList = pagination
		? await requestPages(context, request, settings, pagination)
		: await requestOnce(context, request, settings);
	const count = list.records.length;
	if (!list.end || count >= limit || !isIncomplete(list.end, count)) return list;
	const incomplete = new Failure('list.incomplete', { count, option: settings.paginationOption });
	if (limit === Infinity) throw incomplete;
	return { ...list, hint: incomplete.description };
}

/** Reads a list that is in one response. */
async function requestOnce(
	context: HttpContext,
	request: HttpRequest,
	settings: ListSettings,
): Promise<ReadList> {
	const response = await requestJson(context, request);
	const { body } = response;
	const found = settings.needsList ? requireList(body, settings) : findList(body, settings);
	if ('problem' in found) return { bodies: [body], records: [] };
	const { records } = found;
	const end = listEndOf(response, { records: records.length, pages: 1 });
	return { bodies: [body], records, end };
}
