import { RecordOutput } from '../../responses/record';
import type { ReadOperation } from '../operation';
import { fieldsToReturn, readOptions, resumeId, resumePicker, simplify } from '../fields';

export const getScore: ReadOperation = {
	value: 'getScore',
	name: 'Get Score',
	action: 'Get resume score',
	description: 'Read the score of one resume. Changes nothing.',
	method: 'GET',
	path: '/resume/:resumeID/score',
	pathField: resumeId,
	returns: RecordOutput,
	fields: [...resumePicker, simplify, readOptions(fieldsToReturn)],
};
