import type { Operation } from '../operation';
import { bodyFields, options, sendOnceKey, simplify, userId, usersList } from '../fields';

export const create: Operation = {
	value: 'create',
	name: 'Create',
	action: 'Create a resume',
	description: 'Create a resume for one user. Each call creates another resume.',
	method: 'POST',
	path: '/user/:userID/resume',
	write: true,
	returns: 'record',
	fields: [userId, ...bodyFields, sendOnceKey, simplify, options(...usersList)],
	read: (parameters) => ({ body: parameters.body() }),
};
