import type { ReadOperation } from '../operation';
import { fieldsToReturn, readOptions, simplify, userId, lookupOptions } from '../fields';

export const get: ReadOperation = {
	value: 'get',
	name: 'Get',
	action: 'Get a user',
	description: 'Read one user by ID or email. Changes nothing.',
	method: 'GET',
	path: '/user/:userID',
	returns: 'record',
	fields: [userId, simplify, readOptions(fieldsToReturn, ...lookupOptions)],
};
