import type { Operation } from '../operation';
import { customPath, fieldsToReturn, readOptions, simplify } from '../fields';

export const get: Operation = {
	value: 'get',
	name: 'Get',
	action: 'Get with a custom request',
	description:
		'Read from a path of the service that no other operation has, with GET. Changes nothing.',
	method: 'GET',
	path: '/:path',
	returns: 'record',
	fields: [customPath, simplify, readOptions(fieldsToReturn)],
};
