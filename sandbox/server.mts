import type { AddressInfo } from 'node:net';
import type { DatabaseSync } from 'node:sqlite';

import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';

import { portTrouble } from '../host/ports.mts';
import { answerError, answerUnknownAddress, apiRoutes, BASE_PATH } from './api.mts';
import { CONSOLE_PATH, consoleRoutes } from './console/console.mts';
import { openDatabase } from './database.mts';
import { disturb, faultRoutes, Faults, type Fault } from './faults.mts';
import { seed, SEED_USERS } from './seed.mts';
import { Store } from './store.mts';
import type { WebhookRegistration } from './webhooks/signature.mts';
import { Webhooks, type Delivery, type Webhook } from './webhooks/webhooks.mts';

export type { Delivery, Fault, Webhook, WebhookRegistration };

export interface SandboxOptions {
	/** 0 for any free port; 8787 when missing. */
	port?: number;
	/** Path of the SQLite file; `:memory:` when missing. */
	file?: string;
	/** Fill the database anew. */
	reset?: boolean;
	/** How many users a new database is filled with, 2.5 resumes each; 60 when missing. */
	users?: number;
	/** Keep every request in `requests`. */
	record?: boolean;
	/** Milliseconds between the first attempt of a delivery and the second; 1000 when missing. */
	deliveryBackoffMs?: number;
}

/** A request as it came over the wire. */
export interface RecordedRequest {
	method: string;
	/** Path with query, e.g. `/v1/users?limit=1`. */
	url: string;
	/** By lower-case name. */
	headers: Record<string, string>;
	/** Names and values in turn, in the sender's order and spelling. */
	rawHeaders: string[];
	/** Empty when the request had none. */
	body: string;
}

export interface Sandbox {
	/** What a credential takes as base URL, e.g. `http://127.0.0.1:8787/v1`. */
	baseUrl: string;
	/** E.g. `http://127.0.0.1:8787`; a browser that opens it sees the console. */
	url: string;
	database: DatabaseSync;
	/** All requests so far, oldest first; empty without the option `record`. */
	requests: RecordedRequest[];
	faults: Pick<Faults, 'add' | 'clear'>;
	/** Who is told of events; the console's page of the same name does the same. */
	webhooks: Webhooks;
	/** Cuts open connections, stops deliveries and closes the database. */
	close(): Promise<void>;
}

export const DEFAULT_PORT = 8787;

/** Loopback only: the sandbox's keys are public. */
const HOST = '127.0.0.1';

/**
 * Starts the partner service with seeded data.
 *
 * @throws {Trouble} the port is taken, or the file cannot be used
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const { port = DEFAULT_PORT, file = ':memory:', reset = false, users = SEED_USERS } = options;
	const { database, created } = openDatabase(file, reset);
	try {
		if (created) seed(database, users);
		const store = new Store(database);
		const faults = new Faults();
		const webhooks = new Webhooks(database, store, options.deliveryBackoffMs ?? 1_000);
		const requests: RecordedRequest[] = [];
		const app = createApp(store, webhooks, faults, options, requests);
		await app.listen({ host: HOST, port }).catch((error: unknown) => {
			throw portTrouble(error, port, 'npm run sandbox -- --port');
		});
		const url = `http://${HOST}:${(app.server.address() as AddressInfo).port}`;
		const close = async () => {
			await Promise.all([app.close(), webhooks.close()]);
			database.close();
		};
		return { baseUrl: url + BASE_PATH, url, database, requests, faults, webhooks, close };
	} catch (error) {
		database.close();
		throw error;
	}
}

function createApp(
	store: Store,
	webhooks: Webhooks,
	faults: Faults,
	{ record = false }: SandboxOptions,
	requests: RecordedRequest[],
) {
	const app = fastify({
		exposeHeadRoutes: false,
		forceCloseConnections: true,
		frameworkErrors: answerError,
		routerOptions: { maxParamLength: 1_000 },
		ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
	});
	const bodies = new WeakMap<FastifyRequest, string>();
	// Whatever its type, so that a malformed body is answered by the service and not by the framework.
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
		bodies.set(request, String(body));
		done(null, parseJson(String(body)));
	});
	app.addHook('preValidation', async (request) => {
		const isOwn = request.url.startsWith('/_sandbox') || request.url.startsWith(CONSOLE_PATH);
		if (!record || isOwn) return;
		const { method, url, raw } = request;
		const headers = request.headers as Record<string, string>;
		const body = bodies.get(request) ?? '';
		requests.push({ method, url, headers, rawHeaders: raw.rawHeaders, body });
	});
	app.setNotFoundHandler(answerUnknownAddress);
	app.get('/', (_request, reply) => reply.redirect(`${CONSOLE_PATH}/users`));
	const api = async (scope: FastifyInstance) => {
		disturb(scope, faults);
		apiRoutes(scope, store);
	};
	app.register(api, { prefix: BASE_PATH });
	app.register(async (scope) => faultRoutes(scope, faults), { prefix: '/_sandbox' });
	const pages = async (scope: FastifyInstance) => await consoleRoutes(scope, store, webhooks);
	app.register(pages, { prefix: CONSOLE_PATH });
	return app;
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
