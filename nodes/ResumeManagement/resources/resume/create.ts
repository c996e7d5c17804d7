import type { Operation } from '../../request/operation';
import { bodyFields, options, sendOnceKey, simplify, userId } from '../fields';
import { readUser, usersList } from '../userByEmail';

export const create: Operation = {
	value: 'create',
	name: 'Create',
	action: 'Create a resume',
	description: 'Create a resume for one user. Each call creates another resume.',
	method: 'POST',
	path: '/user/:userID/resume',
	write: true,
	answer: 'record',
	fields: [
		userId,
		...bodyFields,
		sendOnceKey,
		simplify,
		{ ...options(...usersList), displayOptions: { show: { '/userId.mode': ['email'] } } },
	],
	read: (parameters) => ({
		path: { userID: readUser(parameters) },
		body: parameters.body(),
		sendOnceKey: parameters.sendOnceKey(),
	}),
};
