import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { byId, customSend, download, getToken, upgrade, userGet } from '../support/parameters.mts';
import { http, json } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** Errors of items whose response is no success. The meaning of each response: test/unit/judge.test.mts. */

const KEY = 'private-key-of-responses';
let response: string | ((socket: Socket) => void);
const { requests, run } = useRawService(({ path }, socket) => {
	if (path.endsWith('/good')) return { status: 'success', data: { id: 'good' } };
	return typeof response === 'string' ? response : response(socket);
}, KEY);

// n8n replaces a message that has the code of a network error.
const ERROR = { status: 'error', errorCode: 'user-9', errorMessage: `ECONNREFUSED ${KEY}` };
test.each([
	[200, ERROR, 'service.error', 'The service reported: E-CONNREFUSED [hidden] (user-9)', 'user-9'],
	[404, { d: KEY }, 'service.notFound', 'The service has nothing at this address (HTTP 404)', null],
])('HTTP %d with %j is an error of its item', async (httpStatus, body, id, message, code) => {
	response = json(body, httpStatus);
	const items = ['good', 'bad', 'good'].map((id) => ({ id }));
	const parameters = userGet('={{ $json.id }}');

	const continued = await run(parameters, { items, node: { onError: 'continueErrorOutput' } });
	expect(continued.pairs).toEqual([[0, 2], [1]]);
	const excerpt = code
		? 'and the credential, against this message'
		: 'The response began: {"d":"[hidden]"}';
	const description = expect.stringContaining(excerpt) as string;
	const error = { message, code, httpStatus, description, id };
	expect(continued.outputs[1]![0]!.json).toEqual({ id: 'bad', error });

	const stopped = await run(parameters, { items });
	expect(stopped.error).toMatchObject({ message, description, httpCode: String(httpStatus) });
});

const SUCCESS = { status: 'success', token: 'a-token', data: { plan_id: 'pro' } };
const NOT_CONFIRMED = 'The service did not confirm the request: ';
const UNCONFIRMED: Array<[status: number, change: object, message: string]> = [
	// A proxy may respond with this by itself.
	[201, {}, 'Expected HTTP 200, got 201'],
	[203, {}, 'Expected HTTP 200, got 203'],
	[200, { data: { plan_id: 'pro', errorCode: 'E1' } }, `${NOT_CONFIRMED}its data reports an error`],
	[200, { data: { status: 'error' } }, `${NOT_CONFIRMED}its data reports an error`],
	// Services that use Stripe answer so when a payment fails (mozilla/fxa, pull request 4069).
	[200, { data: { error: { code: 'no' } } }, `${NOT_CONFIRMED}its data reports an error`],
	[200, { data: { errors: ['declined'] } }, `${NOT_CONFIRMED}its data reports an error`],
	[200, { data: { error_code: 'E1' } }, `${NOT_CONFIRMED}its data reports an error: "E1"`],
	[200, { errorMessage: 'declined' }, `${NOT_CONFIRMED}it reports an error, too`],
	[200, { status: 'pending' }, `${NOT_CONFIRMED}its status is "pending"`],
	[200, { status: undefined }, `${NOT_CONFIRMED}it has no status`],
	// As Stripe, RFC 9457 and GraphQL report an error.
	[
		200,
		{ status: undefined, error: 'no funds' },
		`${NOT_CONFIRMED}it has no status, and an error: "no funds"`,
	],
];
const CREATE = { resource: 'resume', operation: 'create', userId: byId('1') };
const CONNECT = { ...getToken, operation: 'connect' };

const BASIC = { data: { plan_id: 'basic' } };
test.each<[string, object, own: object, message: string]>([
	['Upgrade to another plan', upgrade, BASIC, 'its subscription is not of the requested'],
	['Upgrade without a plan', upgrade, { data: [] }, 'it has no subscription'],
	['Get Token', getToken, { token: ' ' }, 'it has no token'],
	['Connect', CONNECT, { token: undefined }, 'it has no token'],
	['Create', CREATE, { status: 'created' }, 'its status is "created"'],
	['Send', customSend, { status: 'created' }, 'its status is "created"'],
])('%s has an unknown outcome without HTTP 200 and a success', async (...given) => {
	const [, parameters, own, reason] = given;
	const all = [...UNCONFIRMED, [200, own, NOT_CONFIRMED + reason] as const];
	for (const [status, change, message] of all) {
		response = json({ ...SUCCESS, ...change }, status);
		const { error, log } = await run(parameters as typeof upgrade);
		expect(error?.message).toContain(`Outcome unknown: ${message}`);
		expect(error?.description).toContain('before you send it again');
		// The response may hold a token.
		expect(JSON.stringify(error) + log).not.toContain('a-token');
	}
	expect(requests).toHaveLength(all.length);
});

const FAULT = { fault: { faultstring: 'Invalid ApiKey', detail: { errorcode: 'v2' } } };
const NO_TEXT = { 'Content-Type': 'application/pdf; charset=binary' };
test.each<[what: string, response: string, outcome: string, id: string]>([
	['an envelope of a gateway', json(FAULT, 401), 'refused', 'service.keyRefused'],
	['a body that is no text', http(404, NO_TEXT, '%PDF'), 'refused', 'service.notFound'],
	['a body that is no text', http(500, NO_TEXT, '%PDF'), 'unknown', 'service.internalError'],
	['a token', json(SUCCESS, 403), 'unknown', 'service.keyRefused'],
	['a token', json({ token: SUCCESS.token }, 429), 'refused', 'service.tooManyRequests'],
	['a token', http(500, {}, 'access_token=a-token'), 'unknown', 'service.internalError'],
	// What follows the first 64 KB is not read. It may be the status "success".
	['70 KB', json({ a: 'x'.repeat(7e4), ...SUCCESS }, 404), 'unknown', 'service.notFound'],
])('an HTTP error with %s leaves the outcome of its status', async (_, given, outcome, id) => {
	response = given;
	const { failures, log } = await run(getToken, { node: { onError: 'continueErrorOutput' } });
	expect(failures).toMatchObject([{ outcome, id }]);
	expect(JSON.stringify(failures) + log).not.toContain('a-token');
});

test('a response of more than 16 MB, unpacked, is an error', async () => {
	response = (socket) => {
		socket.write('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n');
		socket.end(gzipSync(Buffer.alloc(17 * 1024 * 1024, ' ')));
	};
	const { error } = await run({ ...userGet('1'), options: { retries: 0 } });
	expect(error?.message).toBe('The response is longer than 16 MB');
});

test('a text instead of a file has one time limit, even if it drips', async () => {
	response = (socket) => {
		socket.write(http(200, { 'Content-Type': 'application/json', 'Content-Length': '3000' }, '{'));
		socket.write(' '.repeat(2_000));
		const timer = setInterval(() => socket.write(' '), 50);
		socket.on('close', () => clearInterval(timer));
	};
	const { error } = await run({ ...download, requestOptions: { timeout: 300 } });
	expect(error?.message).toBe('No response from the service in time');
});
