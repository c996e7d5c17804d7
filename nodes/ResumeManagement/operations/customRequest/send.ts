import type { IHttpRequestMethods } from 'n8n-workflow';

import { RecordOutput } from '../../responses/record';
import type { WriteOperation } from '../operation';
import { bodyInputs, customPath, options, queryParameters, sendOnceKey, simplify } from '../fields';

export const send: WriteOperation = {
	value: 'send',
	name: 'Send',
	action: 'Send custom request',
	description:
		'Send a POST, PUT, PATCH or DELETE request to a path of the service. This may change or delete data, or bill: each call is carried out, so call it once for each change.',
	method: 'POST',
	path: '/:path',
	pathField: customPath,
	write: true,
	returns: RecordOutput,
	fields: [
		{
			displayName:
				'This operation may change or delete data, or bill, and executing it again does so again unless Send Once Key is set. Retry On Fail does not repeat a request that was carried out or may have been.',
			name: 'writeNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'Method',
			name: 'method',
			type: 'options',
			options: ['DELETE', 'PATCH', 'POST', 'PUT'].map((name) => ({ name, value: name })),
			default: 'POST',
			description: 'The HTTP method, as your account manager named it',
		},
		customPath,
		...bodyInputs,
		sendOnceKey,
		simplify,
		options(queryParameters),
	],
	readInput: (parameters) => {
		const method = parameters.choice<IHttpRequestMethods>('method');
		const body = parameters.body();
		// A body has no meaning with DELETE, and some servers refuse one (RFC 9110, §9.3.5).
		const hasBody = method !== 'DELETE' || Object.keys(body).length > 0;
		return hasBody ? { method, body } : { method };
	},
};
