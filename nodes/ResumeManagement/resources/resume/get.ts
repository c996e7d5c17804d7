import type { Operation } from '../../request/operation';
import { record } from '../../request/shape';
import { readOptions, resumeId, simplify } from '../fields';

export const get: Operation = {
	value: 'get',
	name: 'Get',
	action: 'Get a resume',
	description: 'Read one resume by ID. Changes nothing.',
	method: 'GET',
	path: '/resume/:resumeID',
	fields: [...resumeId, simplify, readOptions()],
	read: (parameters) => ({
		path: { resumeID: parameters.id('resumeId') },
		query: parameters.query(),
	}),
	shape: record,
};
