import type { OutgoingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** A disturbance of the service, for requests that match all of `method`, `path` and `email`. */
export interface Fault {
	method?: string;
	/** Exact path under the base address, e.g. `/plan/upgrade`, or a prefix ending in `*`. */
	path?: string;
	/** Only requests whose JSON body has this `email`. */
	email?: string;
	/** How many requests it meets; until it is cleared when missing. */
	times?: number;
	/** Milliseconds between the handling of the request and its answer or drop. */
	delayMs?: number;
	/**
	 * Cuts the connection: before the request is handled, after it (a write has happened) without
	 * an answer, or in the middle of the answer's body.
	 */
	drop?: 'before' | 'after' | 'midBody';
	/** Answered in place of the service's answer; the request is not handled. */
	answer?: { status: number; headers?: Record<string, string>; body?: string };
}

/** The shape of a fault that comes over HTTP. */
const FAULT_SCHEMA = {
	type: 'object',
	additionalProperties: false,
	anyOf: [{ required: ['delayMs'] }, { required: ['drop'] }, { required: ['answer'] }],
	properties: {
		method: { type: 'string' },
		path: { type: 'string' },
		email: { type: 'string' },
		times: { type: 'integer', minimum: 1 },
		delayMs: { type: 'integer', minimum: 0 },
		drop: { enum: ['before', 'after', 'midBody'] },
		answer: {
			type: 'object',
			required: ['status'],
			properties: { status: { type: 'integer', minimum: 200, maximum: 599 } },
		},
	},
};

/** The faults in force; of several that match, the one that was added first is used. */
export class Faults {
	#active: Fault[] = [];

	add(fault: Fault): void {
		this.#active.push({ ...fault });
	}

	clear(): void {
		this.#active = [];
	}

	/** @returns the fault for a request to a path under the base address, counted as used once more */
	take(method: string, path: string, body: unknown): Fault | undefined {
		const email = String((body as { email?: unknown } | undefined)?.email);
		const isPath = (wanted: string) =>
			wanted.endsWith('*') ? path.startsWith(wanted.slice(0, -1)) : path === wanted;
		const found = this.#active.find(
			(fault) =>
				(fault.method ?? method).toUpperCase() === method &&
				isPath(fault.path ?? '*') &&
				(fault.email ?? email).toLowerCase() === email.toLowerCase(),
		);
		if (found?.times !== undefined && --found.times === 0) {
			this.#active = this.#active.filter((fault) => fault !== found);
		}
		return found;
	}
}

/** Lets faults meet the requests of a scope. */
export function disturb(scope: FastifyInstance, faults: Faults): void {
	const taken = new WeakMap<FastifyRequest, Fault>();
	const closing = new AbortController();
	scope.addHook('preClose', async () => closing.abort());
	const hold = async ({ delayMs }: Fault) => {
		if (delayMs) await wait(delayMs, undefined, { signal: closing.signal }).catch(() => {});
	};

	scope.addHook('preValidation', async (request, reply) => {
		const path = request.url.split('?')[0]!.slice(scope.prefix.length);
		const fault = faults.take(request.method, path, request.body);
		if (fault === undefined) return;
		if (fault.drop === 'before') {
			await hold(fault);
			request.raw.socket.destroy();
			return reply.hijack();
		}
		taken.set(request, fault);
		if (fault.answer !== undefined) {
			const { status, headers = {}, body = '' } = fault.answer;
			return reply.code(status).type('application/json').headers(headers).send(body);
		}
	});

	scope.addHook('onSend', (request, reply, payload, done) => {
		const fault = taken.get(request) ?? {};
		void hold(fault).then(() => {
			if (fault.drop === undefined) return done();
			// Without done(), the framework leaves the rest of the answer to us.
			if (fault.drop === 'after') request.raw.socket.destroy();
			else cutAnswer(request, reply, payload);
		});
	});
}

/** Sends the answer's head and the first half of its body. */
function cutAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
	const body = Buffer.isBuffer(payload) ? payload : Buffer.from(String(payload ?? ''));
	reply.header('content-length', body.length);
	reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
	reply.raw.write(body.subarray(0, Math.floor(body.length / 2)), () =>
		request.raw.socket.destroy(),
	);
}

/** Sets and clears faults over HTTP, for a sandbox in another process. */
export function faultRoutes(scope: FastifyInstance, faults: Faults): void {
	const schema = { body: FAULT_SCHEMA };
	const success = { status: 'success' };
	scope.post<{ Body: Fault }>('/faults', { schema }, ({ body }) => (faults.add(body), success));
	scope.delete('/faults', () => (faults.clear(), success));
}
