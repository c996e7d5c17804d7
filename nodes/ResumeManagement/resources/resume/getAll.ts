import type { Operation } from '../../request/operation';
import { readPagination } from '../../request/pages';
import { list } from '../../request/shape';
import { itemsPath, pagination, readOptions, returnAllOrLimit, simplify, userId } from '../fields';

export const getAll: Operation = {
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many resumes',
	description: 'Read many resumes of one user. Changes nothing.',
	method: 'GET',
	path: '/user/:userID/resumes',
	fields: [userId, ...returnAllOrLimit, simplify, readOptions(itemsPath, pagination)],
	read: (parameters) => ({
		path: { userID: parameters.id('userId') },
		query: parameters.query(),
		pagination: readPagination(parameters),
	}),
	shape: list,
};
