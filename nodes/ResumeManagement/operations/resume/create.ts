import type { WriteOperation } from '../operation';
import { bodyInputs, options, sendOnceKey, simplify, userId, lookupOptions } from '../fields';

export const create: WriteOperation = {
	value: 'create',
	name: 'Create',
	action: 'Create a resume',
	description: 'Create a resume for one user. Each call creates another resume.',
	method: 'POST',
	path: '/user/:userID/resume',
	write: true,
	fields: [userId, ...bodyInputs, sendOnceKey, simplify, options(...lookupOptions)],
	requestParts: (parameters) => ({ body: parameters.body() }),
};
