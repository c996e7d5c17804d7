import type { Socket } from 'node:net';
import { download, upgrade, userGet } from '../support/parameters.mts';
import { http, json, startRawServer } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';
import { PAUSE, useTimers } from '../support/timers.mts';

/** The faults of a network, for a read, a write and a download: how many requests are sent, and the error's message. */

const FILE = http(200, { 'Content-Type': 'application/pdf' }, '%PDF-1.7 a file');
const OPERATIONS = {
	read: { parameters: userGet('1'), success: json({ status: 'success', data: { id: 1 } }) },
	write: { parameters: upgrade, success: json({ status: 'success', data: { plan_id: 'pro' } }) },
	download: { parameters: download, success: FILE },
};
type Kind = keyof typeof OPERATIONS;

/** The number of requests, and the start of the message; or 'success'. */
type Expected = [requests: number, message: string];
type Outcomes = Record<Kind, Expected>;

type Respond = (success: string, socket: Socket, index: number) => string | undefined | void;

const all = (...one: Expected): Outcomes => ({ read: one, write: one, download: one });
const unknown = (message: string): Expected => [1, `Outcome unknown: ${message}`];
/** After a transient fault, reads are repeated, and a write's outcome is unknown. */
const transient = (message: string) => ({ ...all(3, message), write: unknown(message) });
/** After any other response that is no refusal, nothing is repeated, and a write's outcome is unknown. */
const odd = (message: string) => ({ ...all(1, message), write: unknown(message) });

const LOST = 'The connection to the service was lost before the response was complete';
const TIMEOUT = 'No response from the service in time';
const GARBLED = 'The response from the service could not be read';
const NO_TLS = 'No secure connection to the service could be made';
const TOO_MANY = 'The service received too many requests';
const AWAY = 'The service is not available';
const STRIPE = 'The service reported: stripe error';

const always = (response: string) => () => response;
const reset: Respond = (_, socket) => void socket.resetAndDestroy();
const once =
	(respond: Respond): Respond =>
	(success, socket, index) =>
		index > 0 ? success : respond(success, socket, index);
const changed =
	(from: string | RegExp, to: string): Respond =>
	(success) =>
		success.replace(from, to);
const { expire } = useTimers();
/** Waits until the client has given up: its time limits expire again and again. */
const waits = (socket: Socket) => {
	const timer = setInterval(expire, 5);
	socket.on('close', () => clearInterval(timer));
};
const stalls: Respond = (success, socket) => {
	socket.write(success.slice(0, -5));
	waits(socket);
};
const drips: Respond = (success, socket) => {
	let sent = 0;
	const timer = setInterval(() => {
		socket.write(success[sent++]!);
		// All of it would come later.
		if (sent === 20) expire();
	}, 2);
	socket.on('close', () => clearInterval(timer));
};
const later = (seconds: string) => always(http(429, { 'Retry-After': seconds }));
/** The clock of this service is years ahead. */
const timeOf = (seconds: string) => `Tue, 01 Jan 2041 00:00:${seconds} GMT`;
const DATES = { Date: timeOf('00'), 'Retry-After': timeOf(PAUSE) };

/** What is left of the PDF has no signature. */
const CUT_SHORT = {
	...odd('The response is not JSON'),
	download: [1, 'The response from the service is not a file'],
} as Outcomes;
const NOT_FOLLOWED = odd('The service redirected the request');
const ELSEWHERE: Outcomes = { ...NOT_FOLLOWED, download: [3, "Could not connect to the file's"] };
const UNEXPECTED = odd('Expected HTTP 200, got 204');
const inGzip = changed('Connection', 'Content-Encoding: gzip\r\nConnection');
const noContent = always('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
const elsewhere = always(http(302, { Location: 'http://127.0.0.1:1/elsewhere' }));
const unavailable = always(http(503, {}));
const onHold = always(json({ status: 'error', errorCode: 'plan-upgrade-1' }, 429));

const faults: Array<[name: string, Outcomes, Respond]> = [
	['reset before the response', transient(LOST), reset],
	['open after the response', all(1, 'success'), (success, socket) => void socket.write(success)],
	['half a body', transient(LOST), (success) => success.slice(0, -5)],
	['a body that stalls', transient(TIMEOUT), stalls],
	['silence', transient(TIMEOUT), (_, socket) => waits(socket)],
	['a response that drips, slower than the timeout', transient(TIMEOUT), drips],
	['a Content-Length that is too short', CUT_SHORT, changed(/Length: \d+/, 'Length: 4')],
	['an unknown character set', all(1, 'success'), changed('/json', '/json; charset=klingon')],
	['invalid gzip', transient(GARBLED), inGzip],
	['bytes that are not HTTP', transient(GARBLED), always('SSH-2.0-OpenSSH_9.2\r\n')],
	['103, then 200', all(1, 'success'), changed(/^/, 'HTTP/1.1 103 Early Hints\r\n\r\n')],
	['204', UNEXPECTED, noContent],
	['302 to another host', ELSEWHERE, elsewhere],
	['404', all(1, 'The service has nothing at this address'), always(http(404, {}))],
	['499', odd('The service is not available'), always(http(499, {}))],
	['429', all(3, TOO_MANY), always(http(429, {}))],
	['429 that puts a write on hold', { ...all(3, STRIPE), write: [1, STRIPE] }, onHold],
	['429 with Retry-After, then a success', all(2, 'success'), once(later(PAUSE))],
	['429 with a date, then a success', all(2, 'success'), once(always(http(429, DATES)))],
	['429 with Retry-After beyond all timeouts', all(1, TOO_MANY), later('86400')],
	['500', transient('The service had an internal error'), always(http(500, {}))],
	['504', transient(AWAY), always(http(504, {}))],
	['503, then a success', { ...all(2, 'success'), write: unknown(AWAY) }, once(unavailable)],
];

let respond: Respond;
let success: string;
const PRIVATE_KEY = 'private-key-of-the-fault-suite';
const service = useRawService(
	({ index }, socket) => respond(success, socket, index) ?? undefined,
	PRIVATE_KEY,
);

// Pauses between attempts are drawn between none and a bound.
beforeAll(() => void jest.spyOn(Math, 'random').mockReturnValue(0));

async function run(kind: Kind, baseUrl = service.credential().baseUrl) {
	const { parameters } = OPERATIONS[kind];
	const credential = { ...service.credential(), baseUrl, webhookSecret: 'webhook-secret' };
	const result = await service.run(parameters, { credential });
	const seen = JSON.stringify(result.run) + JSON.stringify(result.error ?? '') + result.log;
	expect(seen).not.toMatch(`${PRIVATE_KEY}|webhook-secret`);
	return result.error?.message ?? 'success';
}

const KINDS = Object.keys(OPERATIONS) as Kind[];
const rows = faults.flatMap(([name, outcomes, fault]) =>
	KINDS.map((kind) => ({ name, kind, expected: outcomes[kind], fault })),
);

test.each(rows)('$name: $kind', async ({ kind, expected, fault }) => {
	respond = fault;
	({ success } = OPERATIONS[kind]);
	const message = await run(kind);
	expect([service.requests.length, message.slice(0, expected[1].length)]).toEqual(expected);
});

test.each<[fault: string, message: string, baseUrl: string]>([
	['connection refused', 'Could not connect to the service', 'http://127.0.0.1:1'],
	['DNS failure', 'The host name of the service is not known', 'https://no-such-host.invalid'],
	['TLS with a wrong certificate', NO_TLS, 'tls'],
	['TLS to a plain port', NO_TLS, 'plain'],
])('%s, before anything is sent', async (_, message, baseUrl) => {
	const secure = await startRawServer(() => {}, { tls: true });
	const plain = new URL(service.credential().baseUrl).port;
	const port = { tls: secure.port, plain }[baseUrl];
	for (const kind of KINDS) {
		const url = port ? `https://127.0.0.1:${port}` : baseUrl;
		// Node.js does not tell at which point TLS failed.
		const isUnknown = kind === 'write' && baseUrl === 'plain';
		expect(await run(kind, `${url}/v1`)).toBe(`${isUnknown ? 'Outcome unknown: ' : ''}${message}`);
	}
	await secure.close();
	expect([...secure.requests, ...service.requests]).toEqual([]);
});
