import type { ReadOperation } from '../operation';
import { fieldsToReturn, readOptions, resumeId, simplify } from '../fields';

export const get: ReadOperation = {
	value: 'get',
	name: 'Get',
	action: 'Get a resume',
	description: 'Read one resume by ID. Changes nothing.',
	method: 'GET',
	path: '/resume/:resumeID',
	returns: 'record',
	fields: [...resumeId, simplify, readOptions(fieldsToReturn)],
};
