import type { Operation } from '../operation';
import { fieldsToReturn, readOptions, simplify } from '../fields';
import { itemsPath, pagination, returnAllOrLimit } from '../listFields';

export const getAll: Operation = {
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many users',
	description: 'Read many users of the service. Changes nothing.',
	method: 'GET',
	path: '/users',
	returns: 'list',
	fields: [...returnAllOrLimit, simplify, readOptions(fieldsToReturn, itemsPath, pagination)],
};
