import type { ReadOperation } from '../operation';
import { fieldsToReturn, readOptions, resumePicker, simplify } from '../fields';

export const get: ReadOperation = {
	value: 'get',
	name: 'Get',
	action: 'Get a resume',
	description: 'Read one resume by ID. Changes nothing.',
	method: 'GET',
	path: '/resume/:resumeID',
	returns: 'record',
	fields: [...resumePicker, simplify, readOptions(fieldsToReturn)],
};
