import { createHash } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import type { Parameters } from '../request/parameters';
import { Failure } from './failure';
import { valueAt } from './json';
import type { AnswerBody } from './judge';
import { findList, type List, type ListPlace } from './list';

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

type Position = string | number | undefined;

/**
 * Reads the option of this name, where it is added.
 * @throws NodeOperationError naming the field
 */
export function readPagination(parameters: Parameters, name: string): Pagination | undefined {
	const option = `options.${name}.pagination`;
	if (!parameters.get<unknown>(option, null)) return undefined;
	const mode = parameters.get<Pagination['mode']>(`${option}.mode`, 'pageNumber');
	const sizeName = parameters.optionalText(`${option}.sizeParameterName`);
	return {
		mode,
		parameter: parameters.text(`${option}.parameterName`),
		start: readStart(parameters, option, mode),
		cursorPath: mode === 'cursor' ? parameters.text(`${option}.cursorPath`) : '',
		size: sizeName ? { [sizeName]: parameters.count(`${option}.pageSize`, 100, 1) } : {},
		maxPages: parameters.count(`${option}.maxPages`, 100, 1),
	};
}

function readStart(parameters: Parameters, option: string, mode: Pagination['mode']): Position {
	if (mode === 'cursor') return undefined;
	return mode === 'offset'
		? parameters.count(`${option}.firstOffset`, 0)
		: parameters.count(`${option}.firstPage`, 1);
}

/**
 * Reads a list page by page, until it has as many elements as Limit allows, or ends: with an answer
 * that names no next cursor, an empty page, a short page, or a page that was there before.
 * @param request sends one request with these query parameters
 * @throws Failure
 */
export async function readPages(
	pagination: Pagination,
	settings: ListPlace & { limit: number },
	request: (query: IDataObject) => Promise<AnswerBody>,
): Promise<List> {
	const { size, parameter, maxPages } = pagination;
	const list: List = { answers: [], elements: [] };
	const lengths: number[] = [];
	const seen = new Set<string>();
	let position = pagination.start;
	while (lengths.length < maxPages) {
		const query = position === undefined ? size : { ...size, [parameter]: position };
		const body = await request(query);
		const elements = findList(body, settings);
		lengths.push(elements.length);
		if (elements.length === 0 && lengths.length > 1) return list;

		// What stands around the list may differ each time, such as the time of the answer.
		const content = createHash('sha256').update(JSON.stringify(elements)).digest('base64');
		if (seen.has(content)) return { ...list, hint: repeatedPage(parameter) };
		seen.add(content);
		list.answers.push(body);
		list.elements = list.elements.concat(elements);

		if (elements.length === 0 || list.elements.length >= settings.limit) return list;
		if (isShort(pagination, lengths)) return list;
		const isFirst = position === undefined;
		position = nextPosition(pagination, position, body, elements.length);
		if (position === undefined) {
			const missing = isFirst && valueAt(body, pagination.cursorPath) === undefined;
			return missing ? { ...list, hint: noCursor(pagination.cursorPath) } : list;
		}
	}
	throw tooManyPages(maxPages);
}

/**
 * Whether the last page is the end of the list, since it is not full. That the first one is shorter
 * than was asked for tells nothing: a service may send fewer than it is asked for, on each page.
 */
function isShort({ mode, size }: Pagination, lengths: number[]): boolean {
	return mode !== 'cursor' && Object.keys(size).length > 0 && lengths.at(-1)! < lengths[0]!;
}

function nextPosition(
	{ mode, cursorPath }: Pagination,
	position: Position,
	answer: AnswerBody,
	length: number,
): Position {
	if (mode === 'pageNumber') return Number(position) + 1;
	// By what came, and not by what was asked for.
	if (mode === 'offset') return Number(position) + length;
	const cursor = valueAt(answer, cursorPath);
	return (typeof cursor === 'string' && cursor !== '') || typeof cursor === 'number'
		? cursor
		: undefined;
}

function repeatedPage(parameter: string): string {
	return `The service sent a page of the list a second time, so reading stopped there. If it has more, check Pagination: the service may not know the parameter '${parameter}'.`;
}

function noCursor(path: string): string {
	return `The first answer has nothing at '${path}', so reading stopped there. If it has more, check Cursor Path in Pagination.`;
}

function tooManyPages(maxPages: number): Failure {
	return new Failure(
		`The list did not end after ${maxPages} ${maxPages === 1 ? 'page' : 'pages'}`,
		'To get all of it, set a higher Max Pages in Pagination. Get Many gets a part of it with a lower Limit.',
	);
}
