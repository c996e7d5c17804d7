import { ListOutput } from '../../responses/list';
import type { ReadOperation } from '../operation';
import {
	listOptions,
	lookupOptions,
	readOptions,
	returnAllOrLimit,
	simplify,
	userId,
} from '../fields';

export const getAll: ReadOperation = {
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many resumes',
	description: 'Read many resumes of one user. Changes nothing.',
	method: 'GET',
	path: '/user/:userID/resumes',
	pathField: userId,
	returns: ListOutput,
	fields: [userId, ...returnAllOrLimit, simplify, readOptions(...listOptions, ...lookupOptions)],
};
