import type { FastifyRequest } from 'fastify';

import { PageError } from './problem.mts';

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * A hook that keeps other web sites away from the console: their forms, and their names that were
 * made to point at this machine (DNS rebinding).
 *
 * @throws {PageError} 403 for a request of either kind
 */
export async function refuseOtherSites(request: FastifyRequest): Promise<void> {
	const host = request.headers.host ?? '';
	if (!LOOPBACK.test(URL.parse(`http://${host}`)?.hostname ?? '')) {
		throw new PageError(
			403,
			'The console answers only to names of this machine. Open it as http://127.0.0.1 or http://localhost with its port.',
		);
	}
	if (request.method !== 'GET' && !isOwnForm(request, host)) {
		throw new PageError(
			403,
			'This form was sent by another web site, so nothing was changed. Open the console itself and send the form there.',
		);
	}
}

/** Programs that are no browsers send neither header; nobody can make them send a form unasked. */
function isOwnForm({ headers }: FastifyRequest, host: string): boolean {
	const site = headers['sec-fetch-site'];
	if (site !== undefined) return site === 'same-origin' || site === 'none';
	return headers.origin === undefined || URL.parse(headers.origin)?.host === host;
}
