import { RecordOutput } from '../../responses/record';
import type { ReadOperation } from '../operation';
import { fieldsToReturn, readOptions, resumeId, resumePicker, simplify } from '../fields';

export const get: ReadOperation = {
	value: 'get',
	name: 'Get',
	action: 'Get resume',
	description: 'Read one resume by ID. Changes nothing.',
	method: 'GET',
	path: '/resume/:resumeID',
	pathField: resumeId,
	returns: RecordOutput,
	fields: [...resumePicker, simplify, readOptions(fieldsToReturn)],
};
