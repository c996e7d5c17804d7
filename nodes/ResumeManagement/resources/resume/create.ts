import type { Operation } from '../../request/operation';
import { record } from '../../request/shape';
import { bodyFields, simplify, userId } from '../fields';

export const create: Operation = {
	value: 'create',
	name: 'Create',
	action: 'Create a resume',
	description: 'Create a resume for one user. Each call creates another resume.',
	method: 'POST',
	path: '/user/:userID/resume',
	write: true,
	fields: [userId, ...bodyFields, simplify],
	read: (parameters) => ({
		path: { userID: parameters.id('userId') },
		body: parameters.body(),
	}),
	shape: record,
};
