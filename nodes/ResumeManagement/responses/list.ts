import type { INodeExecutionData } from 'n8n-workflow';

import type { ParameterReader } from '../../shared/parameters';
import type { HttpContext, HttpRequest } from '../http/send';
import { toItem } from './record';
import { paginationOf } from './pagination';
import { listPathOf, type ListSettings, requestList } from './requestList';

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
			pagination: paginationOf(parameters, 'options.pagination'),
			limit: parameters.flag('returnAll') ? Infinity : parameters.count('limit'),
			needsList: this.simplify,
			labels: { path: 'Items Path', pagination: 'Pagination' },
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
		return values.map((value) => toItem(value, this.fields));
	}
}
