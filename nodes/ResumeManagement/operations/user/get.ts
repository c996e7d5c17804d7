import { RecordOutput } from '../../responses/record';
import type { ReadOperation } from '../operation';
import { fieldsToReturn, lookupOptions, readOptions, simplify, userId } from '../fields';

export const get: ReadOperation = {
	value: 'get',
	name: 'Get',
	action: 'Get user',
	description: 'Read one user by ID or email. Changes nothing.',
	method: 'GET',
	path: '/user/:userID',
	pathField: userId,
	returns: RecordOutput,
	fields: [userId, simplify, readOptions(fieldsToReturn, ...lookupOptions)],
};
