import type { Operation } from '../../run/call';
import { getToken } from './getToken';

/** The same capability as Get Token, at another address; the specification does not show its method (§4.2). */
export const connect: Operation = {
	...getToken,
	value: 'connect',
	name: 'Connect',
	action: 'Connect a user',
	description:
		'Obtain a token for one user with POST at /connect. The specification does not show the method. Each call issues a secret that acts for the user, so do not share it.',
	path: '/connect',
};
