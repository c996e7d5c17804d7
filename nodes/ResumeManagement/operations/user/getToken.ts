import type { IDataObject } from 'n8n-workflow';

import { Failure } from '../../../shared/failure';
import { isObject } from '../../../shared/json';
import { RecordOutput } from '../../responses/record';
import type { WriteOperation } from '../operation';
import { bodyInputs, simplify } from '../fields';

export const getToken: WriteOperation = {
	value: 'getToken',
	name: 'Get Token',
	action: 'Get user token',
	description:
		'Obtain a token for one user, at /user/token. Each call issues a secret that acts for the user, so do not share it.',
	method: 'POST',
	path: '/user/token',
	write: true,
	returns: RecordOutput,
	fields: [
		{
			displayName: 'Email',
			name: 'email',
			type: 'string',
			default: '',
			placeholder: 'e.g. nathan@example.com',
			description: 'The email address of the user, sent as the field email. Left out when empty.',
		},
		...bodyInputs,
		simplify,
	],
	readInput: (parameters) => {
		const email = parameters.email('email', { optional: true });
		const body = parameters.body(email ? { email } : {});
		if (Object.keys(body).length === 0) {
			throw new Failure('parameter.noUser', {}, { details: 'Nothing was sent for this item.' });
		}
		return { body };
	},
	whyUnconfirmed: (response) => {
		const token = tokenIn(response);
		const isText = typeof token === 'string' && token.trim() !== '';
		return isText ? undefined : 'it has no token';
	},
};

/**
 * Returns the property `token` of a response (§2), or what other services have in its place:
 * `data`, or the `token` in it.
 */
function tokenIn({ token, data }: IDataObject): unknown {
	return token ?? (isObject(data) ? data.token : data);
}
