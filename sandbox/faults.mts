import type { OutgoingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { bodyText } from './http.mts';

/** A disturbance of the service, for requests that match all of `method`, `path` and `email`. */
export interface Fault {
	method?: string;
	/** Exact path under the base address, e.g. `/plan/upgrade`, or a prefix ending in `*`. */
	path?: string;
	/** Only plan upgrades of this e-mail address. */
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
export const FAULT_SCHEMA = {
	type: 'object',
	additionalProperties: false,
	anyOf: [{ required: ['delayMs'] }, { required: ['drop'] }, { required: ['answer'] }],
	properties: {
		method: { type: 'string', minLength: 1 },
		path: { type: 'string', pattern: '^(/|\\*$)' },
		email: { type: 'string', minLength: 1 },
		times: { type: 'integer', minimum: 1 },
		delayMs: { type: 'integer', minimum: 0, maximum: 600_000 },
		drop: { enum: ['before', 'after', 'midBody'] },
		answer: {
			type: 'object',
			additionalProperties: false,
			required: ['status'],
			properties: {
				status: { type: 'integer', minimum: 200, maximum: 599 },
				headers: { type: 'object', additionalProperties: { type: 'string' } },
				body: { type: 'string' },
			},
		},
	},
};

/** What of a request decides whether a fault meets it. */
export interface FaultTarget {
	method: string;
	/** Path under the base address, without the query. */
	path: string;
	/** The e-mail address of a plan upgrade. */
	email?: string;
}

export type Faults = ReturnType<typeof createFaults>;

/** The faults in force; of several that match, the one that was added first is used. */
export function createFaults() {
	let active: Array<{ fault: Fault; left: number }> = [];
	return {
		add(fault: Fault): void {
			active.push({ fault, left: fault.times ?? Infinity });
		},

		clear(): void {
			active = [];
		},

		/** @returns the fault for this request, counted as used once more */
		take(target: FaultTarget): Fault | undefined {
			const entry = active.find(({ fault }) => matches(fault, target));
			if (entry === undefined) return undefined;
			entry.left--;
			if (entry.left === 0) active = active.filter((other) => other !== entry);
			return entry.fault;
		},
	};
}

/**
 * Lets faults meet the requests of a scope.
 *
 * @param basePath path of the base address, e.g. `/v1`
 */
export function disturb(scope: FastifyInstance, basePath: string, faults: Faults): void {
	const taken = new WeakMap<FastifyRequest, Fault>();
	const pause = pauses(scope);
	const hold = async (fault: Fault) => await pause(fault.delayMs ?? 0);

	scope.addHook('preHandler', async (request, reply) => {
		const fault = faults.take(targetOf(request, basePath));
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
		const fault = taken.get(request);
		if (fault === undefined) return done();
		void hold(fault).then(() => {
			if (fault.drop === undefined) return done();
			// Without done(), the framework leaves the rest of the answer to us.
			if (fault.drop === 'after') request.raw.socket.destroy();
			else cutAnswer(request, reply, payload);
		});
	});
}

/** Holds each answer of a scope back for so many milliseconds. */
export function slowDown(scope: FastifyInstance, milliseconds: number): void {
	if (milliseconds === 0) return;
	const pause = pauses(scope);
	scope.addHook('preHandler', async () => await pause(milliseconds));
}

/** Waits for so many milliseconds; closing the sandbox ends the wait early. */
function pauses(scope: FastifyInstance) {
	const closing = new AbortController();
	scope.addHook('preClose', async () => closing.abort());
	return async (milliseconds: number) => {
		await wait(milliseconds, undefined, { signal: closing.signal }).catch(() => {});
	};
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

function matches(fault: Fault, target: FaultTarget): boolean {
	const { method = target.method, path = target.path, email } = fault;
	return (
		method.toUpperCase() === target.method &&
		(path.endsWith('*') ? target.path.startsWith(path.slice(0, -1)) : target.path === path) &&
		(email === undefined || email.toLowerCase() === target.email?.toLowerCase())
	);
}

function targetOf(request: FastifyRequest, basePath: string): FaultTarget {
	const path = request.url.split('?')[0]?.slice(basePath.length) ?? '';
	const isPlanUpgrade = request.routeOptions.config.errors === 'planUpgrade';
	return {
		method: request.method,
		path,
		email: isPlanUpgrade ? emailIn(bodyText(request)) : undefined,
	};
}

/** The body may be malformed: the fault is looked up before the service judges it. */
function emailIn(body: string): string | undefined {
	try {
		const { email } = JSON.parse(body) as { email?: unknown };
		return typeof email === 'string' ? email : undefined;
	} catch {
		return undefined;
	}
}
