import type { Socket } from 'node:net';

import { runNode } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import { http, type RawRequest, type RawServer, startRawServer } from '../support/rawServer.mts';
import { testTls } from '../support/tls.mts';

/**
 * Every fault that a network has, against a read, a write and a download. Each row says how many
 * requests the service got, and what a user reads. `npm run test:faults` prints the table.
 */

const PRIVATE_KEY = 'private-key-of-the-fault-suite';
const WEBHOOK_SECRET = 'webhook-secret-of-the-fault-suite';

const SUBSCRIPTION = { status: 'active', plan_id: 'plan-pro', created: 1 };
const json = (body: unknown, headers = {}) =>
	http(200, { 'Content-Type': 'application/json', ...headers }, JSON.stringify(body));

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

interface Fault {
	name: string;
	/** Answers one request. By default what is named by `first` comes once, and then the success. */
	answer?(socket: Socket, request: RawRequest, success: string): void;
	baseUrl?(server: RawServer): string;
	tls?: boolean;
	/** Milliseconds; short where the fault is silence. */
	timeout?: number;
	expected: Record<Kind, Expected>;
}

/** What a transient fault comes to: reads are repeated, and a write's outcome is unknown. */
const transient = (message: RegExp): Record<Kind, Expected> => ({
	read: [3, message],
	write: [1, new RegExp(`^Outcome unknown: ${message.source.replace('^', '')}`)],
	download: [3, message],
});
/** What an answer comes to that the same request would get again. */
const final = (message: RegExp): Record<Kind, Expected> => ({
	read: [1, message],
	write: [1, message],
	download: [1, message],
});
/** An answer that says neither that it was done nor that it was refused. */
const odd = (message: RegExp): Record<Kind, Expected> => ({
	...transient(message),
	read: [1, message],
	download: [1, message],
});
const succeeds: Record<Kind, Expected> = {
	read: [1, 'success'],
	write: [1, 'success'],
	download: [1, 'success'],
};

const LOST = /^The connection to the service was lost before the answer was complete/;
const TIMEOUT = /^No answer from the service in time/;
const UNREADABLE = /^The answer of the service could not be read/;
const HTML = '<html><body>Something is wrong</body></html>';

const faults: Fault[] = [
	{
		name: 'connection refused',
		baseUrl: () => 'http://127.0.0.1:1/v1',
		expected: {
			read: [0, /^Could not connect to the service$/],
			write: [0, /^Could not connect to the service$/],
			download: [0, /^Could not connect to the service$/],
		},
	},
	{
		name: 'DNS failure',
		baseUrl: () => 'https://no-such-host.invalid/v1',
		expected: {
			read: [0, /^The host name of the service is not known/],
			write: [0, /^The host name of the service is not known/],
			download: [0, /^The host name of the service is not known/],
		},
	},
	{
		name: 'TLS with a wrong certificate',
		tls: true,
		baseUrl: ({ port }) => `https://127.0.0.1:${port}/v1`,
		expected: {
			read: [0, /^No secure connection to the service could be made/],
			write: [0, /^No secure connection to the service could be made/],
			download: [0, /^No secure connection to the service could be made/],
		},
	},
	{
		name: 'TLS to a plain port',
		baseUrl: ({ port }) => `https://127.0.0.1:${port}/v1`,
		expected: {
			read: [0, /^No secure connection to the service could be made/],
			write: [0, /^No secure connection to the service could be made/],
			download: [0, /^No secure connection to the service could be made/],
		},
	},
	{
		name: 'reset before the answer',
		answer: (socket) => socket.resetAndDestroy(),
		expected: transient(LOST),
	},
	{
		name: 'closed before the answer',
		answer: (socket) => void socket.end(),
		expected: transient(LOST),
	},
	{
		name: 'reset once, then well',
		answer: (socket, { index }, success) =>
			index === 0 ? socket.resetAndDestroy() : socket.end(success),
		expected: {
			read: [2, 'success'],
			write: [1, /^Outcome unknown: /],
			download: [2, 'success'],
		},
	},
	{
		name: 'reset after the answer',
		answer: (socket, _, success) => socket.write(success, () => socket.end()),
		expected: succeeds,
	},
	{
		name: 'half a body',
		answer: (socket, _, success) => socket.write(success.slice(0, -5), () => socket.end()),
		expected: transient(LOST),
	},
	{
		name: 'a body that stalls',
		timeout: 300,
		answer: (socket, _, success) => socket.write(success.slice(0, -5)),
		expected: transient(TIMEOUT),
	},
	{
		name: 'silence',
		timeout: 300,
		answer: () => {},
		expected: transient(TIMEOUT),
	},
	{
		name: 'an answer that drips, slower than the timeout',
		timeout: 400,
		answer: (socket, _, success) => drip(socket, success, 40),
		expected: { ...transient(TIMEOUT), download: [3, TIMEOUT] },
	},
	{
		name: 'a Content-Length that is too long',
		answer: (socket, _, success) =>
			socket.write(success.replace(/Content-Length: \d+/, 'Content-Length: 9999'), () =>
				socket.end(),
			),
		expected: transient(LOST),
	},
	{
		name: 'a Content-Length that is too short',
		answer: (socket, _, success) =>
			socket.end(success.replace(/Content-Length: \d+/, 'Content-Length: 4')),
		expected: { ...odd(/^The answer is not JSON/), download: [1, 'success'] },
	},
	{
		name: 'invalid gzip',
		answer: (socket, _, success) =>
			socket.end(success.replace('Connection', 'Content-Encoding: gzip\r\nConnection')),
		expected: transient(UNREADABLE),
	},
	{
		name: 'bytes that are not HTTP',
		answer: (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
		expected: transient(UNREADABLE),
	},
	{
		name: 'huge headers',
		answer: (socket) => socket.end(http(200, { 'X-Huge': 'x'.repeat(200_000) }, '{}')),
		expected: transient(UNREADABLE),
	},
	{
		name: '103, then 200',
		answer: (socket, _, success) => socket.end(`HTTP/1.1 103 Early Hints\r\n\r\n${success}`),
		expected: succeeds,
	},
	{
		name: '204',
		answer: (socket) => socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n'),
		expected: odd(/^The service sent an empty answer/),
	},
	{
		name: 'an empty 200',
		answer: (socket) => socket.end(http(200, { 'Content-Type': 'application/json' })),
		expected: odd(/^The service sent an empty answer/),
	},
	{
		name: 'HTML with 200',
		answer: (socket) => socket.end(http(200, { 'Content-Type': 'text/html' }, HTML)),
		expected: odd(/^A web page was received in place of JSON/),
	},
	{
		name: '200 with an error',
		answer: (socket) => socket.end(json({ status: 'error', errorCode: 'E-1' })),
		expected: final(/^The service answered: E-1/),
	},
	{
		name: '302 to another host',
		answer: (socket) => socket.end(http(302, { Location: 'http://127.0.0.1:1/elsewhere' })),
		expected: {
			...odd(/^The service redirected the request, which was not followed/),
			download: [3, /^Could not connect to the file's host/],
		},
	},
	{
		name: '304',
		answer: (socket) => socket.end('HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n'),
		expected: odd(/^The service redirected the request/),
	},
	{
		name: '401 without an envelope',
		answer: (socket) => socket.end(http(401, {})),
		expected: final(/^The service did not accept the private key/),
	},
	{
		name: '404',
		answer: (socket) => socket.end(http(404, {})),
		expected: final(/^The service has nothing at this address/),
	},
	{
		name: '429',
		answer: (socket) => socket.end(http(429, {})),
		expected: {
			read: [3, /^The service received too many requests/],
			write: [3, /^The service received too many requests/],
			download: [3, /^The service received too many requests/],
		},
	},
	{
		name: '429 with Retry-After in seconds, then well',
		answer: (socket, { index }, success) =>
			socket.end(index === 0 ? http(429, { 'Retry-After': '1' }) : success),
		expected: { read: [2, 'success'], write: [2, 'success'], download: [2, 'success'] },
	},
	{
		name: '429 with Retry-After as a date, of a clock that is years off, then well',
		answer: (socket, { index }, success) =>
			socket.end(
				index === 0
					? http(429, {
							Date: 'Tue, 01 Jan 2041 00:00:00 GMT',
							'Retry-After': 'Tue, 01 Jan 2041 00:00:01 GMT',
						})
					: success,
			),
		expected: { read: [2, 'success'], write: [2, 'success'], download: [2, 'success'] },
	},
	{
		name: '429 with Retry-After beyond all timeouts',
		answer: (socket) => socket.end(http(429, { 'Retry-After': '86400' })),
		expected: final(/^The service received too many requests/),
	},
	{
		name: '500',
		answer: (socket) => socket.end(http(500, {})),
		expected: transient(/^The service had an internal error/),
	},
	{
		name: '502 with HTML',
		answer: (socket) => socket.end(http(502, { 'Content-Type': 'text/html' }, HTML)),
		expected: transient(/^The service is not available/),
	},
	{
		name: '503 once, then well',
		answer: (socket, { index }, success) => socket.end(index === 0 ? http(503, {}) : success),
		expected: {
			read: [2, 'success'],
			write: [1, /^Outcome unknown: The service is not available/],
			download: [2, 'success'],
		},
	},
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

const rows = faults.flatMap((fault) => KINDS.map((kind) => ({ fault, kind, name: fault.name })));

test.each(rows)('$name: $kind', async ({ fault, kind }) => {
	const { parameters, success } = OPERATIONS[kind];
	const server = await startRawServer(
		(socket, request) => fault.answer?.(socket, request, success),
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
	const [requests, outcome] = fault.expected[kind];
	const message = result.error?.message ?? '';
	const known = message.startsWith('Outcome unknown') ? 'unknown' : message ? 'failed' : 'success';
	table.push([fault.name, kind, String(server.requests.length), known, message]);

	expect({ requests: server.requests.length, message }).toEqual({
		requests,
		message: outcome === 'success' ? '' : (expect.stringMatching(outcome) as string),
	});
	const seen = JSON.stringify(result.run) + JSON.stringify(result.error ?? '') + result.log;
	for (const secret of [PRIVATE_KEY, WEBHOOK_SECRET]) expect(seen).not.toContain(secret);
});
