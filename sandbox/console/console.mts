import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import formbody from '@fastify/formbody';
import type { FastifyInstance } from 'fastify';

import type { Store } from '../store.mts';
import type { Webhooks } from '../webhooks/webhooks.mts';
import { dataPages } from './dataPages.mts';
import { refuseOtherSites } from './guard.mts';
import { sendProblem, sendUnknownPage } from './problem.mts';
import { webhookPages } from './webhookPages.mts';

const require = createRequire(import.meta.url);

/** Room for a section as large as the API takes, with every byte percent-encoded. */
const FORM_LIMIT_IN_BYTES = 4 * 1024 * 1024;

const HEADERS = {
	'cache-control': 'no-cache',
	'content-security-policy':
		"default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'",
	// A stricter policy would hide the origin of the console's own forms.
	'referrer-policy': 'same-origin',
	'x-content-type-options': 'nosniff',
};

/**
 * The web pages of the sandbox: plain forms, no script.
 *
 * @param basePath path of the partner API, e.g. `/v1`
 */
export async function consoleRoutes(
	scope: FastifyInstance,
	store: Store,
	webhooks: Webhooks,
	basePath: string,
): Promise<void> {
	scope.removeAllContentTypeParsers();
	await scope.register(formbody, { bodyLimit: FORM_LIMIT_IN_BYTES });
	scope.addHook('onRequest', refuseOtherSites);
	scope.addHook('onSend', async (_request, reply) => {
		reply.headers(HEADERS);
	});
	scope.setErrorHandler(sendProblem);
	scope.setNotFoundHandler(sendUnknownPage);

	for (const [name, path] of [
		['pico', require.resolve('@picocss/pico/css/pico.classless.blue.min.css')],
		['console', join(import.meta.dirname, 'console.css')],
	] as const) {
		const stylesheet = readFileSync(path);
		scope.get(`/${name}.css`, (_request, reply) => reply.type('text/css').send(stylesheet));
	}

	dataPages(scope, store, webhooks, basePath);
	webhookPages(scope, webhooks);
}
