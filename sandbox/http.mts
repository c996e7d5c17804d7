import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { identifyCaller } from './auth.mts';
import { planUpgradeErrors, ServiceError } from './errors.mts';
import type { Slice } from './store.mts';

declare module 'fastify' {
	interface FastifyContextConfig {
		/**
		 * How a route answers errors, where it departs from HTTP 200 with the bare code
		 * (specification §7.1 rule 1): plan upgrade with HTTP 401 (rule 3), the connect operation
		 * with the code in a sentence (§2 rule 5).
		 */
		errors?: 'planUpgrade' | 'connect';
	}
}

/** The envelope of a success (specification §2). */
export function success<Data>(data: Data): { status: 'success'; data: Data } {
	return { status: 'success', data };
}

/**
 * Reads bodies as text, whatever their type, so that every request can be looked at as it came
 * and a malformed body is answered by the service and not by the framework.
 */
export function acceptAnyBody(app: FastifyInstance): void {
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
}

/** The body as it came; empty when the request has none. */
export function bodyText(request: FastifyRequest): string {
	return typeof request.body === 'string' ? request.body : '';
}

/** @throws {ServiceError} the body is not a JSON object */
export function readBody(request: FastifyRequest): Record<string, unknown> {
	let body: unknown;
	try {
		body = JSON.parse(bodyText(request));
	} catch {
		throw new ServiceError('sandbox-malformed-body', 'The body is not valid JSON.');
	}
	if (typeof body !== 'object' || body === null || Array.isArray(body)) {
		throw new ServiceError('sandbox-malformed-body', 'The body must be a JSON object.');
	}
	return body as Record<string, unknown>;
}

/**
 * Reads `limit`, `offset` and `search` from the query; without them the list is whole.
 *
 * @throws {ServiceError} a number is none
 */
export function readSlice(request: FastifyRequest): Slice {
	const query = request.query as Record<string, string | string[] | undefined>;
	const number = (name: string) => {
		const value = query[name];
		if (value === undefined) return undefined;
		if (typeof value === 'string' && /^\d{1,9}$/.test(value)) return Number(value);
		throw new ServiceError('sandbox-query', `The query parameter ${name} must be a number.`);
	};
	return {
		offset: number('offset') ?? 0,
		limit: number('limit'),
		search: query.search?.toString(),
	};
}

/**
 * A hook that lets only requests with both required headers and a known private key pass
 * (specification §4 and §5).
 *
 * @throws {ServiceError} what is missing; on plan upgrade the errors of §7.2
 */
export async function authenticate(request: FastifyRequest): Promise<void> {
	if (request.is404) return;
	if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
		throw new ServiceError(
			'sandbox-content-type',
			'The header "Content-type: application/json" is required on every request.',
		);
	}
	const isPlanUpgrade = request.routeOptions.config.errors === 'planUpgrade';
	switch (identifyCaller(request.headers.authentication?.toString())) {
		case 'live':
			return;
		case 'unarranged':
			if (isPlanUpgrade) throw planUpgradeErrors.unauthorizedToken();
			return;
		case 'userToken':
			if (isPlanUpgrade) throw planUpgradeErrors.tokenType();
			throw new ServiceError('sandbox-token-type', 'A user token is not a private API key.');
		case 'unknown':
			if (isPlanUpgrade) throw planUpgradeErrors.unauthorizedToken();
			throw new ServiceError(
				'sandbox-unauthorized',
				'The header "Authentication: Bearer <PRIVATE_API_KEY>" with a known key is required.',
			);
	}
}

/** Answers what a route throws: a service error in the route's manner, anything else as HTTP 500. */
export function answerError(
	error: FastifyError | ServiceError,
	request: FastifyRequest,
	reply: FastifyReply,
): void {
	if (!(error instanceof ServiceError) && (error.statusCode ?? 500) >= 500) {
		console.error(error);
		reply.code(500).send(envelope('sandbox-server-failure', 'internal server error'));
		return;
	}
	// What the framework refuses (a body that is too large, say) is a bad request.
	const code = error instanceof ServiceError ? error.code : 'sandbox-bad-request';
	const { errors } = request.routeOptions.config;
	reply
		.code(errors === 'planUpgrade' ? 401 : 200)
		.send(
			errors === 'connect'
				? { status: 'error', errorCode: `error code: ${code}, please contact administrator` }
				: envelope(code, error.message),
		);
}

/** Answers an address that is none of the service's. */
export function answerUnknownAddress(request: FastifyRequest, reply: FastifyReply): void {
	const address = `${request.method} ${request.url.split('?')[0]}`;
	reply.code(404).send(envelope('sandbox-unknown-address', `There is no operation ${address}.`));
}

function envelope(errorCode: string, errorMessage: string) {
	return { status: 'error', errorCode, errorMessage };
}
