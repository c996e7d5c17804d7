import type { AddressInfo } from 'node:net';

import fastify, { type FastifyInstance } from 'fastify';

import { portTrouble } from '../host/ports.mts';
import { apiRoutes, BASE_PATH, failure } from './api.mts';
import { CONSOLE_PATH, consoleRoutes, PAGES, problemPage } from './console/console.mts';
import { openDatabase } from './database.mts';
import { applyFaults, createFaults, faultRoutes } from './faults.mts';
import type { Mail, MailServer } from './mails.mts';
import { seed, SEED_USERS } from './seed.mts';
import { Store } from './store.mts';
import { createWebhooks } from './webhooks/webhooks.mts';

export type { WebhookRegistration } from './webhooks/signature.mts';

export interface SandboxOptions {
	/** 0 for any free port; 8787 by default. */
	port?: number;
	/** Port of an SMTP server, or 0 for any free one. Without it, the sandbox takes no emails. */
	mailPort?: number;
	/** Path of the SQLite file; `:memory:` by default. */
	file?: string;
	/** Fills the database again. */
	reset?: boolean;
	/** Number of users in a new database, with 2.5 resumes each; 60 by default. */
	users?: number;
	/** Adds every request to `requests`. */
	record?: boolean;
	/** Milliseconds; {@link DELIVERY_BACKOFF_MS} by default. */
	deliveryBackoffMs?: number;
}

/** A request as it arrived. */
export interface RecordedRequest {
	method: string;
	/** Path with query, e.g. `/v1/users?limit=1`. */
	url: string;
	/** By lower-case name. */
	headers: Record<string, string>;
	/** Names and values in turn, in the sender's order and spelling. */
	rawHeaders: string[];
	/** Empty for a request without a body. */
	body: string;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

export const DEFAULT_PORT = 8787;

/** Returns the port for emails: the one after the sandbox's, or any free one. */
export const mailPortOf = (port: number) => (port === 0 ? 0 : port + 1);

/** Milliseconds between the first attempt of a delivery and the second. */
export const DELIVERY_BACKOFF_MS = 1_000;

/** Emails that the page shows. */
const KEPT_MAILS = 100;

/** Loopback only, because the sandbox's keys are public. */
const HOST = '127.0.0.1';

/**
 * Starts the partner service.
 *
 * @throws {Trouble} if the port or the file can't be used
 */
export async function startSandbox(options: SandboxOptions = {}) {
	const {
		port = DEFAULT_PORT,
		mailPort,
		file = ':memory:',
		record,
		deliveryBackoffMs = DELIVERY_BACKOFF_MS,
	} = options;
	const { database, created } = openDatabase(file, options.reset);
	if (created) seed(database, options.users ?? SEED_USERS);
	const store = new Store(database);
	const faults = createFaults();
	const webhooks = createWebhooks(database, store, deliveryBackoffMs);
	const mails: Mail[] = [];
	const requests: RecordedRequest[] = [];
	const app = fastify({
		exposeHeadRoutes: false,
		forceCloseConnections: true,
		routerOptions: { maxParamLength: 1_000 },
		ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
	});
	// The hook parses the body, so that the service, not Fastify, responds to malformed JSON.
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
	app.addHook('preValidation', async (request) => {
		const { method, url, raw, body } = request;
		const isForm = url.startsWith(CONSOLE_PATH);
		if (record && !isForm && !url.startsWith('/_sandbox')) {
			const headers = request.headers as Record<string, string>;
			const { rawHeaders } = raw;
			requests.push({ method, url, headers, rawHeaders, body: String(body ?? '') });
		}
		if (!isForm) request.body = parseJson(String(body));
	});
	app.setNotFoundHandler(({ method, url, headers }, reply) => {
		reply.code(404);
		const address = url.split('?')[0]!;
		if (headers.accept?.includes('text/html')) {
			return problemPage(reply, `The sandbox has no page ${address}.`);
		}
		const sentence = `There is no operation ${method} ${address}.`;
		return reply.send(failure('sandbox-unknown-address', sentence));
	});
	for (const [path, name] of [['', 'users'], ...PAGES.map((name) => [name, name])]) {
		app.get(`/${path}`, (_request, reply) => reply.redirect(`${CONSOLE_PATH}/${name}`));
	}
	const api = async (scope: FastifyInstance) => {
		applyFaults(scope, faults);
		apiRoutes(scope, store);
	};
	app.register(api, { prefix: BASE_PATH });
	app.register(async (scope) => faultRoutes(scope, faults), { prefix: '/_sandbox' });
	const pages = async (scope: FastifyInstance) =>
		consoleRoutes(scope, store, webhooks, faults, mails);
	app.register(pages, { prefix: CONSOLE_PATH });

	await app.listen({ host: HOST, port }).catch((error: unknown) => {
		database.close();
		throw portTrouble(error, port, 'npm run sandbox -- --port');
	});
	const url = `http://${HOST}:${(app.server.address() as AddressInfo).port}`;
	let mailServer: MailServer | undefined;
	/** Cuts open connections, stops deliveries and closes the database. */
	const close = async () => {
		await Promise.all([app.close(), webhooks.close(), mailServer?.close()]);
		database.close();
	};
	if (mailPort !== undefined) {
		// Loading it takes a fifth of a second, which most tests need not spend.
		const { startMailServer } = await import('./mails.mts');
		const keep = (mail: Mail) => {
			mails.unshift(mail);
			mails.splice(KEPT_MAILS);
		};
		mailServer = await startMailServer(HOST, mailPort, keep).catch(async (error: unknown) => {
			await close();
			throw portTrouble(error, mailPort, 'npm run sandbox -- --port');
		});
	}
	return {
		baseUrl: url + BASE_PATH,
		url,
		mailPort: mailServer?.port,
		database,
		requests,
		faults,
		webhooks,
		mails,
		close,
	};
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
