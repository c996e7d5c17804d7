import type { ReadOperation } from '../operation';
import { fieldsToReturn, readOptions, resumePicker, simplify } from '../fields';

export const getScore: ReadOperation = {
	value: 'getScore',
	name: 'Get Score',
	action: 'Get the score of a resume',
	description: 'Read the score of one resume. Changes nothing.',
	method: 'GET',
	path: '/resume/:resumeID/score',
	returns: 'record',
	fields: [...resumePicker, simplify, readOptions(fieldsToReturn)],
};
