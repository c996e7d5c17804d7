import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { exactString, valueAt } from '../../shared/json';
import type { ParameterReader } from '../../shared/parameters';
import { HIDDEN } from '../../shared/secrets';
import type { JsonBody } from '../http/judge';
import { requestJson } from '../http/response';
import type { HttpRequest, Sender } from '../http/send';
import type { Operation } from '../operations/operation';
import { toItem } from '../output/items';
import {
	type EndSigns,
	requireList,
	isLastPage,
	isMore,
	type ListPlace,
	findList,
	type PageMode,
	type Progress,
	Records,
	signsOf,
	UNKNOWN_COUNTS,
	withoutRepeats,
} from '../output/lists';

/** Settings for reading a list from one response or page by page. */
export interface ListSettings extends ListPlace {
	/** Names of the options for the list's path and its pages, for errors. */
	labels: { path: string; pagination: string };
	/** Undefined to send one request. */
	pagination?: Pagination;
	/** Most records to read; Infinity for all. */
	limit: number;
	/** A response without a list is an error. */
	needsList: boolean;
}

/** Settings of the option Pagination or Users Pagination. */
interface Pagination {
	mode: PageMode;
	/** Query parameter that carries the position of a page. */
	parameter: string;
	start: Position;
	/** Path of the next page's cursor in a response; undefined in other modes. */
	cursorPath?: string;
	/** Query parameter of the page size with its value, if the user named one. */
	size: IDataObject;
	maxPages: number;
}

/** Number, offset or cursor of a page; undefined for the first page by cursor. */
type Position = string | number | undefined;

/** A list, from all of its responses. */
interface List {
	bodies: JsonBody[];
	records: unknown[];
	/** Message to the user that the list may not be whole. */
	hint?: string;
}

/** The kind of a response that is a list of records. The constructor and `requestItems` throw Failures. */
export class ListKind {
	private readonly simplify: boolean;

	/** Dotted paths of the properties to return of each record; none to return all. */
	private readonly fields: string[];

	private readonly settings: ListSettings;

	constructor(parameters: ParameterReader, { path }: Operation) {
		this.simplify = parameters.flag('simplify');
		this.fields = parameters.paths('options.fieldsToReturn');
		this.settings = {
			name: path.split('/').at(-1)!,
			labels: { path: 'Items Path', pagination: 'Pagination' },
			limit: parameters.flag('returnAll') ? Infinity : parameters.count('limit'),
			path: listPathOf(parameters, 'options.itemsPath'),
			pagination: paginationOf(parameters, 'options.pagination'),
			needsList: this.simplify,
		};
	}

	async requestItems(
		sender: Sender,
		request: HttpRequest,
		hint: (message: string) => void,
	): Promise<INodeExecutionData[]> {
		const list = await requestList(sender, request, this.settings);
		if (list.hint) hint(list.hint);
		const values = this.simplify ? list.records.slice(0, this.settings.limit) : list.bodies;
		return values.map((value) => toItem(value, this.fields));
	}
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
	const mode = parameters.choice<PageMode>(`${option}.mode`);
	const sizeName = parameters.optionalText(`${option}.sizeParameterName`);
	const first = { offset: 'firstOffset', pageNumber: 'firstPage', cursor: undefined }[mode];
	return {
		mode,
		parameter: parameters.text(`${option}.parameterName`),
		start: first && parameters.count(`${option}.${first}`),
		cursorPath: mode === 'cursor' ? parameters.text(`${option}.cursorPath`) : undefined,
		size: sizeName ? { [sizeName]: parameters.count(`${option}.pageSize`) } : {},
		maxPages: parameters.count(`${option}.maxPages`),
	};
}

/**
 * Reads a list from one response or, with Pagination, page by page.
 * @throws Failure, also if all records are wanted and the service says that there are more
 */
export async function requestList(
	sender: Sender,
	request: HttpRequest,
	settings: ListSettings,
): Promise<List> {
	const { pagination, labels, needsList, name } = settings;
	if (pagination) return await requestPages(sender, request, settings, pagination);
	const response = await requestJson(sender, request);
	const { body } = response;
	const found = needsList ? requireList(body, settings, labels.path) : findList(body, settings);
	if ('problem' in found) return { bodies: [body], records: [] };
	const list = { bodies: [body], records: withoutRepeats(found.records, name) };
	return checkEnd(list, signsOf(response), settings, { records: found.records.length, pages: 1 });
}

/**
 * Returns the list, with a hint if it is shorter than Limit although the service has more records.
 * @throws Failure if all records are wanted
 */
function checkEnd(list: List, signs: EndSigns, settings: ListSettings, read: Progress): List {
	const { limit, labels } = settings;
	const count = list.records.length;
	if (count >= limit || !isMore(signs, read)) return list;
	const failure = new Failure('list.incomplete', { count, option: labels.pagination });
	if (limit === Infinity) throw failure;
	return { ...list, hint: failure.description };
}

/**
 * Reads pages until Limit is reached, a response has no cursor (in other modes: no record), or the service says that there
 * are no more. A short page does not end the list: services leave out records that an account may not see.
 */
async function requestPages(
	sender: Sender,
	request: HttpRequest,
	settings: ListSettings,
	pagination: Pagination,
): Promise<List> {
	const { parameter, size, maxPages, start } = pagination;
	const records = new Records(settings.name, pagination.mode);
	const bodies: JsonBody[] = [];
	const startsAtFirst = Number(start ?? 0) <= (pagination.mode === 'offset' ? 0 : 1);
	// Numbers and offsets grow, so that only a cursor can come twice.
	const cursors = new Set<Position>();
	let position = start;
	let { path } = settings;
	let signs: EndSigns | undefined;
	for (let page = 1; page <= maxPages; page++) {
		const query = {
			...request.query,
			...size,
			...(position !== undefined && { [parameter]: position }),
		};
		const response = await requestJson(sender, { ...request, query });
		const { body } = response;
		// The list's path on the first page counts for all pages, so that no other list is mistaken for it.
		const found = requireList(body, { ...settings, path }, settings.labels.path);
		({ path } = found);
		const isRepeated = records.addPage(found.records, page);
		const isEmpty = found.records.length === 0;
		if (page === 1 || !(isEmpty || isRepeated)) bodies.push(body);
		position = nextPosition(pagination, body, position, found.records.length);
		if (cursors.has(position)) {
			throw new Failure('list.samePage', { what: 'A cursor came twice.' });
		}
		cursors.add(position);
		const list = { bodies, records: records.all };
		const count = records.all.length;
		if (count >= settings.limit) return list;

		// The service counts the whole list, which can't be compared with a part that starts later.
		signs = { ...signsOf(response, signs), ...(!startsAtFirst && UNKNOWN_COUNTS) };
		const read = { records: count, pages: page };
		// Decides only whether to stop. `checkEnd` decides whether records are missing.
		if (isLastPage(signs, read) || isRepeated || position === undefined) {
			const hint = page === 1 && !isEmpty ? cursorHint(pagination, body, signs) : undefined;
			return checkEnd({ ...list, hint }, signs, settings, read);
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
	// Offsets count the records that came: the service may send fewer than it was asked for.
	const step = mode === 'offset' ? length : 1;
	if (cursorPath === undefined) return length > 0 ? Number(position) + step : undefined;
	const cursor = valueAt(body, cursorPath);
	// Some services end with the cursor 0.
	if (!cursor || cursor === '0') return undefined;
	const text = exactString(cursor);
	// A cursor with a secret, which has been hidden, would lead elsewhere.
	if (text !== undefined && !text.includes(HIDDEN)) return text;
	throw new Failure('list.noCursor', { path: cursorPath });
}

/** Returns a hint if only the missing cursor ended the list. */
function cursorHint(
	{ cursorPath }: Pagination,
	body: JsonBody,
	{ flag, total }: EndSigns,
): string | undefined {
	const hasSign = flag !== undefined || total >= 0;
	if (cursorPath === undefined || hasSign || valueAt(body, cursorPath) !== undefined) {
		return undefined;
	}
	return `The first response has nothing at '${cursorPath}', so reading stopped there. If it has more, check Cursor Path in Pagination.`;
}
