import type { FastifyInstance } from 'fastify';

import { createUserToken } from '../auth.mts';
import { ServiceError } from '../errors.mts';
import { readBody, readSlice, success } from '../http.mts';
import type { Store, User } from '../store.mts';

/** Reading users and obtaining user tokens (specification §4.2). */
export function userRoutes(scope: FastifyInstance, store: Store): void {
	scope.get('/users', (request) => success(store.listUsers(readSlice(request))));

	scope.get<{ Params: { userID: string } }>('/user/:userID', (request) =>
		success(requireUser(store, request.params.userID)),
	);

	// Two addresses of the same capability (specification §4.2).
	for (const address of ['/user/token', '/connect']) {
		scope.post(address, { config: { errors: 'connect' } }, (request) => {
			const { email } = readBody(request);
			const user = typeof email === 'string' ? store.findUserByEmail(email) : undefined;
			if (user === undefined) {
				throw new ServiceError('connect-01', 'There is no user with this e-mail address.');
			}
			return { status: 'success', token: createUserToken(user, Math.floor(Date.now() / 1000)) };
		});
	}
}

/** @throws {ServiceError} there is no such user */
export function requireUser(store: Store, id: string): User {
	const user = store.findUser(id);
	if (user === undefined) {
		throw new ServiceError('sandbox-unknown-user', `There is no user ${id}.`);
	}
	return user;
}
