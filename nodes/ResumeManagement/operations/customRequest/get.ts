import { RecordOutput } from '../../responses/record';
import type { ReadOperation } from '../operation';
import { customPath, fieldsToReturn, readOptions, simplify } from '../fields';

export const get: ReadOperation = {
	value: 'get',
	name: 'Get',
	action: 'Get custom request',
	description: 'Read a path that no other operation covers, with GET. Changes nothing.',
	method: 'GET',
	path: '/:path',
	pathField: customPath,
	returns: RecordOutput,
	fields: [customPath, simplify, readOptions(fieldsToReturn)],
};
