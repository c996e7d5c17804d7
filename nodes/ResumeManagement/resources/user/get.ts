import type { Operation } from '../../request/operation';
import { record } from '../../request/shape';
import { readOptions, simplify, userId } from '../fields';

export const get: Operation = {
	value: 'get',
	name: 'Get',
	action: 'Get a user',
	description: 'Read one user by ID. Changes nothing.',
	method: 'GET',
	path: '/user/:userID',
	fields: [userId, simplify, readOptions()],
	read: (parameters) => ({
		path: { userID: parameters.id('userId') },
		query: parameters.query(),
	}),
	shape: record,
};
