import type { FastifyError, FastifyInstance } from 'fastify';

import { FAULT_SCHEMA, type Fault, type Faults } from '../faults.mts';

/** Switches of the sandbox itself, beside the partner API, for a sandbox in another process. */
export function controlRoutes(scope: FastifyInstance, faults: Faults): void {
	scope.removeAllContentTypeParsers();
	scope.addContentTypeParser(
		'application/json',
		{ parseAs: 'string' },
		scope.getDefaultJsonParser('error', 'error'),
	);

	scope.post<{ Body: Fault }>('/faults', { schema: { body: FAULT_SCHEMA } }, (request) => {
		faults.add(request.body);
		return { status: 'success' };
	});

	scope.delete('/faults', () => {
		faults.clear();
		return { status: 'success' };
	});

	scope.setErrorHandler<FastifyError>((error, _request, reply) => {
		reply.code(error.statusCode ?? 500).send({
			status: 'error',
			errorCode: 'sandbox-invalid-fault',
			errorMessage: `The fault cannot be used: ${error.message}.`,
		});
	});
}
