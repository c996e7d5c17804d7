import { ListOutput } from '../../responses/list';
import type { ReadOperation } from '../operation';
import { listOptions, readOptions, returnAllOrLimit, simplify } from '../fields';

export const getAll: ReadOperation = {
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many users',
	description: 'Read many users of the service. Changes nothing.',
	method: 'GET',
	path: '/users',
	returns: ListOutput,
	fields: [...returnAllOrLimit, simplify, readOptions(...listOptions)],
};
