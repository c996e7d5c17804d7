import type { WriteOperation } from '../operation';
import { getToken } from './getToken';

/** The same as Get Token, at another address; the specification does not show its method (§4.2). */
export const connect: WriteOperation = {
	...getToken,
	value: 'connect',
	name: 'Connect',
	action: 'Connect user (token)',
	description:
		'At /connect, obtain a token for one user, if your account manager names this address in place of Get Token. Sent with POST, as the specification shows no method. Each call issues a secret that acts for the user, so do not share it.',
	path: '/connect',
};
