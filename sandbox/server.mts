import type { AddressInfo } from 'node:net';
import type { DatabaseSync } from 'node:sqlite';

import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';

import { portTrouble } from '../host/ports.mts';
import { Trouble } from '../host/trouble.mts';
import { consoleRoutes } from './console/console.mts';
import { CONSOLE_PATH } from './console/views.mts';
import { openDatabase } from './database.mts';
import { createFaults, disturb, slowDown, type Fault, type Faults } from './faults.mts';
import {
	acceptAnyBody,
	answerError,
	answerUnknownAddress,
	authenticate,
	bodyText,
} from './http.mts';
import { controlRoutes } from './routes/controls.mts';
import { planRoutes } from './routes/plans.mts';
import { resumeRoutes } from './routes/resumes.mts';
import { userRoutes } from './routes/users.mts';
import { seed, SEED_USERS } from './seed.mts';
import { createStore, type Store } from './store.mts';
import type { Delivery } from './webhooks/log.mts';
import type { Webhook, WebhookRegistration } from './webhooks/registration.mts';
import { createWebhooks, type Webhooks } from './webhooks/webhooks.mts';

export type { Delivery, Fault, Webhook, WebhookRegistration };

export interface SandboxOptions {
	/** 0 for any free port; 8787 when missing. */
	port?: number;
	/** Path of the SQLite file; `:memory:` when missing. */
	file?: string;
	/** Fill the database anew. */
	reset?: boolean;
	/** How many users there are, 2.5 resumes each; a new database is filled with 60 when missing. */
	users?: number;
	/** Milliseconds that each answer of the partner API is held back; 0 when missing. */
	latency?: number;
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
	webhooks: Pick<Webhooks, 'register' | 'list' | 'remove' | 'saveSection' | 'deliveries' | 'idle'>;
	/** Cuts open connections, stops deliveries (pending ones stay in the file) and closes the database. */
	close(): Promise<void>;
}

export const DEFAULT_PORT = 8787;

/** Loopback only: the sandbox's keys are public. */
const HOST = '127.0.0.1';

/** The base address ends with the version segment (specification §4 and §9). */
const BASE_PATH = '/v1';

/**
 * Starts the partner service with seeded data.
 *
 * @throws {Trouble} the port is taken, the file cannot be used or has another number of users
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const {
		port = DEFAULT_PORT,
		file = ':memory:',
		reset = false,
		users,
		latency = 0,
		record = false,
		deliveryBackoffMs = 1_000,
	} = options;
	const { database, created } = openDatabase(file, reset);
	try {
		if (created) seed(database, users ?? SEED_USERS);
		const faults = createFaults();
		const requests: RecordedRequest[] = [];
		const store = createStore(database);
		const found = store.countUsers('');
		if (users !== undefined && found !== users) {
			throw new Trouble(
				`The data file ${file} has ${found} users. ` +
					`Start once with --reset to fill it with ${users}, or choose another file with --file.`,
			);
		}
		const webhooks = createWebhooks(database, store, deliveryBackoffMs);
		const app = createApp(store, webhooks, faults, latency, record ? requests : undefined);
		await listen(app, port);
		webhooks.start();
		const url = `http://${HOST}:${(app.server.address() as AddressInfo).port}`;
		return {
			baseUrl: url + BASE_PATH,
			url,
			database,
			requests,
			faults,
			webhooks,
			close: async () => {
				await Promise.all([app.close(), webhooks.close()]);
				database.close();
			},
		};
	} catch (error) {
		database.close();
		throw error;
	}
}

function createApp(
	store: Store,
	webhooks: Webhooks,
	faults: Faults,
	latency: number,
	requests?: RecordedRequest[],
): FastifyInstance {
	const app = fastify({
		exposeHeadRoutes: false,
		forceCloseConnections: true,
		frameworkErrors: answerError,
		routerOptions: { maxParamLength: 1_000 },
		ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
	});
	const record = async (request: FastifyRequest) => {
		requests?.push(toRecord(request));
	};
	acceptAnyBody(app);
	app.setErrorHandler(answerError);
	app.setNotFoundHandler({ preHandler: record }, answerUnknownAddress);

	app.register(
		async (scope) => {
			scope.addHook('preHandler', record);
			slowDown(scope, latency);
			disturb(scope, BASE_PATH, faults);
			scope.addHook('preHandler', authenticate);
			scope.setNotFoundHandler(answerUnknownAddress);
			userRoutes(scope, store);
			resumeRoutes(scope, store);
			planRoutes(scope, store);
		},
		{ prefix: BASE_PATH },
	);
	app.register(async (scope) => controlRoutes(scope, faults), { prefix: '/_sandbox' });
	app.register((scope) => consoleRoutes(scope, store, webhooks, BASE_PATH), {
		prefix: CONSOLE_PATH,
	});
	app.get('/', (_request, reply) => reply.redirect(CONSOLE_PATH));
	return app;
}

async function listen(app: FastifyInstance, port: number): Promise<void> {
	try {
		await app.listen({ host: HOST, port });
	} catch (error) {
		throw portTrouble(error, port, 'npm run sandbox -- --port');
	}
}

function toRecord(request: FastifyRequest): RecordedRequest {
	const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
	return {
		method: request.method,
		url: request.url,
		headers: Object.fromEntries(headers) as Record<string, string>,
		rawHeaders: request.raw.rawHeaders,
		body: bodyText(request),
	};
}
