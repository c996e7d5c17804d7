import type { Operation } from '../../request/operation';
import { readPagination } from '../../request/pages';
import { list } from '../../request/shape';
import { itemsPath, pagination, readOptions, returnAllOrLimit, simplify } from '../fields';

export const getAll: Operation = {
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many users',
	description: 'Read many users of the service. Changes nothing.',
	method: 'GET',
	path: '/users',
	fields: [...returnAllOrLimit, simplify, readOptions(itemsPath, pagination)],
	read: (parameters) => ({
		query: parameters.query(),
		pagination: readPagination(parameters),
	}),
	shape: list,
};
