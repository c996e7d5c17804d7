import type { IDataObject } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { exactString, valueAt } from '../../shared/json';
import type { ParameterReader } from '../../shared/parameters';
import { HIDDEN } from '../../shared/secrets';
import type { JsonBody } from '../http/judge';

/** Settings of the option Pagination or Users Pagination. */
export interface Pagination {
	/**
	 * A page is requested by its number, by the number of records before it, or by a cursor of the
	 * page before it.
	 */
	mode: 'pageNumber' | 'offset' | 'cursor';
	/** Query parameter that carries the position of a page. */
	parameter: string;
	/** Position of the first page; undefined by cursor. */
	start?: number;
	/** Path of the next page's cursor in a response; '' in other modes. */
	cursorPath: string;
	/** Query parameter of the page size with its value, if the user named one. */
	size: IDataObject;
	maxPages: number;
}

/** Reads the option for a list's pages; undefined if the user has not added it. */
export function paginationOf(parameters: ParameterReader, name: string): Pagination | undefined {
	const option = `${name}.pagination`;
	if (!parameters.isAdded(option)) return undefined;
	const mode = parameters.choice<Pagination['mode']>(`${option}.mode`);
	const sizeName = parameters.optionalText(`${option}.sizeParameterName`);
	const pagination = {
		mode,
		parameter: parameters.text(`${option}.parameterName`),
		cursorPath: '',
		size: sizeName ? { [sizeName]: parameters.wholeNumber(`${option}.pageSize`) } : {},
		maxPages: parameters.wholeNumber(`${option}.maxPages`),
	};
	switch (mode) {
		case 'pageNumber':
			return { ...pagination, start: parameters.wholeNumber(`${option}.firstPage`) };
		case 'offset':
			return { ...pagination, start: parameters.wholeNumber(`${option}.firstOffset`) };
		case 'cursor':
			return { ...pagination, cursorPath: parameters.text(`${option}.cursorPath`) };
	}
}

/** Position of the page to request. */
export class Position {
	/** Number, offset or cursor of the page; undefined for the first page by cursor. */
	private value?: string | number;

	private readonly cursors = new Set<string>();

	constructor(private readonly pagination: Pagination) {
		this.value = pagination.start;
	}

	get query(): IDataObject {
		return this.value === undefined ? {} : { [this.pagination.parameter]: this.value };
	}

	/**
	 * Moves to the next page.
	 * @param count number of records on this page
	 * @returns false if this page is the last one
	 * @throws Failure
	 */
	advance(body: JsonBody, count: number): boolean {
		switch (this.pagination.mode) {
			case 'pageNumber':
				this.value = Number(this.value) + 1;
				return count > 0;
			case 'offset':
				// Not the page size: the service may send fewer records than it was asked for.
				this.value = Number(this.value) + count;
				return count > 0;
			case 'cursor':
				this.value = cursorAt(body, this.pagination.cursorPath);
				if (this.value === undefined) return false;
				if (this.cursors.has(this.value)) {
					throw new Failure('list.samePage', { what: 'A cursor came twice.' });
				}
				this.cursors.add(this.value);
				return true;
		}
	}
}

/** Returns the cursor of the next page; undefined after the last page. @throws Failure */
function cursorAt(body: JsonBody, path: string): string | undefined {
	const cursor = valueAt(body, path);
	// Some services end with the cursor 0.
	if (!cursor || cursor === '0') return undefined;
	const text = exactString(cursor);
	// A cursor with a secret, which has been hidden, would lead elsewhere.
	if (text !== undefined && !text.includes(HIDDEN)) return text;
	throw new Failure('list.noCursor', { path });
}
