import type { Socket } from 'node:net';

import { runNode } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import {
	http,
	json,
	type RawRequest,
	type RawServer,
	startRawServer,
} from '../support/rawServer.mts';
import { testTls } from '../support/tls.mts';

/**
 * Every fault that a network has, against a read, a write and a download. Each row says how many
 * requests the service got, and what a user reads. `npm run test:faults` prints the table.
 */

const PRIVATE_KEY = 'private-key-of-the-fault-suite';
const WEBHOOK_SECRET = 'webhook-secret-of-the-fault-suite';

const SUBSCRIPTION = { status: 'active', plan_id: 'plan-pro', created: 1 };

const OPERATIONS = {
	read: {
		parameters: { resource: 'user', operation: 'get', userId: byId('1') },
		success: json({ status: 'success', data: { id: 1 } }),
	},
	write: {
		parameters: {
			resource: 'plan',
			operation: 'upgrade',
			email: 'nathan@example.com',
			planId: 'plan-pro',
		},
		success: json({ status: 'success', data: SUBSCRIPTION }),
	},
	download: {
		parameters: { resource: 'resume', operation: 'download', resumeId: byId('1') },
		success: http(200, { 'Content-Type': 'application/pdf' }, '%PDF-1.7 a file'),
	},
};
type Kind = keyof typeof OPERATIONS;
const KINDS = Object.keys(OPERATIONS) as Kind[];

/** Requests sent, and the message; or 'success'. */
type Expected = [requests: number, message: RegExp | 'success'];
type Outcomes = Record<Kind, Expected>;

interface Fault {
	/** To each request: a whole answer, or what is done with its socket. */
	answer?: string | ((socket: Socket, request: RawRequest, success: string) => void);
	baseUrl?(server: RawServer): string;
	tls?: boolean;
	/** Milliseconds; short where the fault is silence. */
	timeout?: number;
}

const all = (...expected: Expected): Outcomes => ({
	read: expected,
	write: expected,
	download: expected,
});
/** What a transient fault comes to: reads are repeated, and a write's outcome is unknown. */
const transient = (message: RegExp): Outcomes => ({
	...all(3, message),
	write: [1, new RegExp(`^Outcome unknown: ${message.source.replace('^', '')}`)],
});
/** What an answer comes to that the same request would get again. */
const final = (message: RegExp) => all(1, message);
/** An answer that says neither that it was done nor that it was refused. */
const odd = (message: RegExp): Outcomes => ({
	...transient(message),
	read: [1, message],
	download: [1, message],
});
const succeeds = all(1, 'success');

const LOST = /^The connection to the service was lost before the answer was complete/;
const TIMEOUT = /^No answer from the service in time/;
const UNREADABLE = /^The answer of the service could not be read/;
const NO_TLS = /^No secure connection to the service could be made/;
const EMPTY = /^The service sent an empty answer/;
const REDIRECTED = /^The service redirected the request/;
const TOO_MANY = /^The service received too many requests/;
const HTML = '<html><body>Something is wrong</body></html>';

/** The answer comes once, and then the success. */
const once =
	(answer: string | ((socket: Socket) => void)): Fault['answer'] =>
	(socket, { index }, success) => {
		if (index > 0) socket.end(success);
		else if (typeof answer === 'string') socket.end(answer);
		else answer(socket);
	};
/** The success with a change. */
const changed =
	(from: string | RegExp, to: string): Fault['answer'] =>
	(socket, _, success) =>
		socket.end(success.replace(from, to));
/** The success without its end. */
const half: Fault['answer'] = (socket, _, success) => socket.write(success.slice(0, -5));

const faults: Array<[name: string, expected: Outcomes, fault: Fault]> = [
	[
		'connection refused',
		all(0, /^Could not connect to the service$/),
		{ baseUrl: () => 'http://127.0.0.1:1/v1' },
	],
	[
		'DNS failure',
		all(0, /^The host name of the service is not known/),
		{ baseUrl: () => 'https://no-such-host.invalid/v1' },
	],
	[
		'TLS with a wrong certificate',
		all(0, NO_TLS),
		{ tls: true, baseUrl: ({ port }) => `https://127.0.0.1:${port}/v1` },
	],
	[
		'TLS to a plain port',
		all(0, NO_TLS),
		{ baseUrl: ({ port }) => `https://127.0.0.1:${port}/v1` },
	],
	[
		'reset before the answer',
		transient(LOST),
		{ answer: (socket) => void socket.resetAndDestroy() },
	],
	['closed before the answer', transient(LOST), { answer: (socket) => void socket.end() }],
	[
		'reset once, then well',
		{ ...all(2, 'success'), write: [1, /^Outcome unknown: /] },
		{ answer: once((socket) => void socket.resetAndDestroy()) },
	],
	[
		'reset after the answer',
		succeeds,
		{ answer: (socket, _, success) => void socket.write(success, () => socket.end()) },
	],
	[
		'half a body',
		transient(LOST),
		{ answer: (socket, _, success) => void socket.end(success.slice(0, -5)) },
	],
	['a body that stalls', transient(TIMEOUT), { timeout: 300, answer: half }],
	['silence', transient(TIMEOUT), { timeout: 300, answer: () => {} }],
	[
		'an answer that drips, slower than the timeout',
		transient(TIMEOUT),
		{ timeout: 400, answer: (socket, _, success) => drip(socket, success, 40) },
	],
	[
		'a Content-Length that is too long',
		transient(LOST),
		{ answer: changed(/Content-Length: \d+/, 'Content-Length: 9999') },
	],
	[
		'a Content-Length that is too short',
		odd(/^The answer is not JSON/),
		{ answer: changed(/Content-Length: \d+/, 'Content-Length: 4') },
	],
	[
		'invalid gzip',
		transient(UNREADABLE),
		{ answer: changed('Connection', 'Content-Encoding: gzip\r\nConnection') },
	],
	['bytes that are not HTTP', transient(UNREADABLE), { answer: 'SSH-2.0-OpenSSH_9.2\r\n' }],
	[
		'huge headers',
		transient(UNREADABLE),
		{ answer: http(200, { 'X-Huge': 'x'.repeat(200_000) }, '{}') },
	],
	['103, then 200', succeeds, { answer: changed(/^/, 'HTTP/1.1 103 Early Hints\r\n\r\n') }],
	['204', odd(EMPTY), { answer: 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n' }],
	['an empty 200', odd(EMPTY), { answer: http(200, { 'Content-Type': 'application/json' }) }],
	[
		'HTML with 200',
		odd(/^A web page was received in place of JSON/),
		{ answer: http(200, { 'Content-Type': 'text/html' }, HTML) },
	],
	[
		'200 with an error',
		final(/^The service answered: E-1/),
		{ answer: json({ status: 'error', errorCode: 'E-1' }) },
	],
	[
		'302 to another host',
		{ ...odd(REDIRECTED), download: [3, /^Could not connect to the file's host/] },
		{ answer: http(302, { Location: 'http://127.0.0.1:1/elsewhere' }) },
	],
	['304', odd(REDIRECTED), { answer: 'HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n' }],
	[
		'401 without an envelope',
		final(/^The service did not accept the private key/),
		{ answer: http(401, {}) },
	],
	['404', final(/^The service has nothing at this address/), { answer: http(404, {}) }],
	['429', all(3, TOO_MANY), { answer: http(429, {}) }],
	[
		'429 with Retry-After in seconds, then well',
		all(2, 'success'),
		{ answer: once(http(429, { 'Retry-After': '1' })) },
	],
	[
		'429 with Retry-After as a date, of a clock that is years off, then well',
		all(2, 'success'),
		{
			answer: once(
				http(429, {
					Date: 'Tue, 01 Jan 2041 00:00:00 GMT',
					'Retry-After': 'Tue, 01 Jan 2041 00:00:01 GMT',
				}),
			),
		},
	],
	[
		'429 with Retry-After beyond all timeouts',
		final(TOO_MANY),
		{ answer: http(429, { 'Retry-After': '86400' }) },
	],
	['500', transient(/^The service had an internal error/), { answer: http(500, {}) }],
	[
		'502 with HTML',
		transient(/^The service is not available/),
		{ answer: http(502, { 'Content-Type': 'text/html' }, HTML) },
	],
	[
		'503 once, then well',
		{ ...all(2, 'success'), write: [1, /^Outcome unknown: The service is not available/] },
		{ answer: once(http(503, {})) },
	],
];

function drip(socket: Socket, text: string, pause: number): void {
	let sent = 0;
	const timer = setInterval(() => {
		if (socket.destroyed || sent >= text.length) return clearInterval(timer);
		socket.write(text[sent++]!);
	}, pause);
}

const table: string[][] = [['fault', 'operation', 'requests', 'outcome', 'message']];

beforeAll(() => {
	// Pauses between attempts are drawn between none and a bound.
	jest.spyOn(Math, 'random').mockReturnValue(0);
});

afterAll(() => {
	const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
	const lines = table.map((row) =>
		row.map((cell, index) => cell.padEnd(widths[index]!)).join('  '),
	);
	process.stdout.write(`\n${lines.join('\n')}\n\n`);
});

const rows = faults.flatMap(([name, expected, fault]) =>
	KINDS.map((kind) => ({ name, kind, expected: expected[kind], fault })),
);

test.each(rows)('$name: $kind', async ({ name, kind, expected, fault }) => {
	const { parameters, success } = OPERATIONS[kind];
	const { answer = () => {} } = fault;
	const server = await startRawServer(
		(socket, request) => {
			if (typeof answer === 'string') socket.end(answer);
			else answer(socket, request, success);
		},
		fault.tls ? testTls : undefined,
	);
	const result = await runNode({
		parameters: { ...parameters, requestOptions: { timeout: fault.timeout ?? 5_000 } },
		credential: {
			baseUrl: fault.baseUrl?.(server) ?? `http://127.0.0.1:${server.port}/v1`,
			privateKey: PRIVATE_KEY,
			webhookSecret: WEBHOOK_SECRET,
		},
	});
	await server.close();
	const [requests, outcome] = expected;
	const message = result.error?.message ?? '';
	const known = message.startsWith('Outcome unknown') ? 'unknown' : message ? 'failed' : 'success';
	table.push([name, kind, String(server.requests.length), known, message]);
	expect({ requests: server.requests.length, message }).toEqual({
		requests,
		message: outcome === 'success' ? '' : (expect.stringMatching(outcome) as string),
	});
	const seen = JSON.stringify(result.run) + JSON.stringify(result.error ?? '') + result.log;
	for (const secret of [PRIVATE_KEY, WEBHOOK_SECRET]) expect(seen).not.toContain(secret);
});
