import { STATUS_CODES } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A fault of the service, for requests that match both `path` and `email`. */
export interface Fault {
	/** Exact path below the base URL, e.g. `/plan/upgrade`, or a prefix that ends in `*`. The first slash may be missing. */
	path?: string;
	/** Only requests with this `email` in their JSON body. */
	email?: string;
	/** Number of requests. Without it, the fault stays until it is cleared. */
	times?: number;
	/** Milliseconds between the handling of the request and its response. */
	delayMs?: number;
	/** Cuts the connection before or after the request is handled. */
	drop?: 'before' | 'after';
	/** Sent in place of the service's response. The request is not handled. */
	response?: { status: number; headers?: Record<string, string>; body?: string };
}

/** The faults that the web page offers. */
export const COMMON_FAULTS: Fault[] = [
	{ drop: 'after' },
	{ drop: 'before' },
	{ delayMs: 5_000 },
	{ response: { status: 429, headers: { 'Retry-After': '2' } } },
	{ response: { status: 500 } },
	{ response: { status: 503 } },
	{ response: { status: 200, body: '{"status":"error","errorCode":"sandbox-fault"}' } },
];

/** Says what happens to a request. */
export function describeFault({ drop, delayMs, response }: Fault): string {
	const effects = [
		response &&
			`HTTP ${response.status} ${STATUS_CODES[response.status] ?? ''} ${response.body ?? ''}`.trim(),
		delayMs && `Response after ${delayMs / 1000} seconds`,
		drop === 'before' && 'Not carried out, and the connection is lost',
		drop === 'after' && 'Carried out, but the connection is lost',
	];
	return effects.filter(Boolean).join(', ');
}

const FAULT_SCHEMA = {
	type: 'object',
	additionalProperties: false,
	properties: {
		path: { type: 'string' },
		email: { type: 'string' },
		times: { type: 'integer', minimum: 1 },
		delayMs: { type: 'integer' },
		drop: { enum: ['before', 'after'] },
		response: { type: 'object', required: ['status'] },
	},
};

export type Faults = ReturnType<typeof createFaults>;

/** Keeps the faults that are set. If several match a request, the oldest is used. */
export function createFaults() {
	let faults: Array<Fault & { id: number }> = [];
	let lastId = 0;
	return {
		list: () => faults,
		add: (fault: Fault) => void faults.push({ ...fault, id: ++lastId }),
		remove: (id: number) => void (faults = faults.filter((fault) => fault.id !== id)),
		clear: () => void (faults = []),
		/** Returns the fault of a request, and counts the request. */
		take(path: string, body: unknown): Fault | undefined {
			const email = String((body as { email?: unknown } | undefined)?.email).toLowerCase();
			const isPath = (given: string) => {
				const wanted = /^[/*]/.test(given) ? given : `/${given}`;
				return wanted.endsWith('*') ? path.startsWith(wanted.slice(0, -1)) : path === wanted;
			};
			const found = faults.find(
				(fault) => isPath(fault.path ?? '*') && (fault.email?.toLowerCase() ?? email) === email,
			);
			if (found?.times !== undefined && --found.times === 0) {
				faults = faults.filter((fault) => fault !== found);
			}
			return found;
		},
	};
}

/** Applies the faults to the requests of a scope. */
export function applyFaults(scope: FastifyInstance, faults: Faults): void {
	const taken = new WeakMap<FastifyRequest, Fault>();
	scope.addHook('preValidation', async (request, reply) => {
		const path = request.url.split('?')[0]!.slice(scope.prefix.length);
		const fault = faults.take(path, request.body);
		if (fault === undefined) return;
		taken.set(request, fault);
		const { drop, response } = fault;
		if (drop === 'before') {
			request.raw.socket.destroy();
			return reply.hijack();
		}
		if (response === undefined) return;
		const { status, headers = {}, body = '' } = response;
		return reply.code(status).type('application/json').headers(headers).send(body);
	});
	scope.addHook('onSend', async (request) => {
		const { delayMs = 0, drop } = taken.get(request) ?? {};
		// A delay does not keep the process of a closed sandbox running.
		if (delayMs > 0) await wait(delayMs, undefined, { ref: false });
		if (drop === 'after') request.raw.socket.destroy();
	});
}

/** Sets and clears faults over HTTP. */
export function faultRoutes(scope: FastifyInstance, faults: Faults): void {
	scope.post<{ Body: Fault }>('/faults', { schema: { body: FAULT_SCHEMA } }, ({ body }, reply) => {
		faults.add(body);
		return reply.send({ status: 'success' });
	});
	scope.delete('/faults', (_request, reply) => {
		faults.clear();
		return reply.send({ status: 'success' });
	});
}
