import { RecordOutput } from '../../responses/record';
import type { WriteOperation } from '../operation';
import { bodyInputs, options, sendOnceKey, simplify, userId, lookupOptions } from '../fields';

export const create: WriteOperation = {
	value: 'create',
	name: 'Create',
	action: 'Create resume',
	description: 'Create a resume for one user. Each call creates another resume.',
	method: 'POST',
	path: '/user/:userID/resume',
	pathField: userId,
	write: true,
	returns: RecordOutput,
	fields: [userId, ...bodyInputs, sendOnceKey, simplify, options(...lookupOptions)],
	readInput: (parameters) => ({ body: parameters.body() }),
};
