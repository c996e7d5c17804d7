import type { Operation } from '../operation';
import { listOptions, readOptions, returnAllOrLimit, simplify } from '../fields';

export const getAll: Operation = {
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many users',
	description: 'Read many users of the service. Changes nothing.',
	method: 'GET',
	path: '/users',
	returns: 'list',
	fields: [...returnAllOrLimit, simplify, readOptions(...listOptions)],
};
