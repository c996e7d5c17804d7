import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';

import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startSandbox } from '../../sandbox/server.mts';
import { callTool, type EngineRun, loadNodeType, runNode } from '../support/engine.mts';
import { http, type RawServer, startRawServer } from '../support/rawServer.mts';

/** Requests whose path, and whose method where they write, the user names. */

const PRIVATE_KEY = 'private-key-of-custom-requests';
const SUCCESS = '{"status":"success","data":{"id":7,"status":"active"},"token":"a.b"}';

let server: RawServer;
let answer: string;
beforeAll(async () => {
	server = await startRawServer((socket) => void socket.end(answer));
});
beforeEach(() => {
	server.requests.length = 0;
	answer = http(200, {}, SUCCESS);
});
afterAll(() => server.close());

const credential = () => ({
	baseUrl: `http://127.0.0.1:${server.port}/api/v1`,
	privateKey: PRIVATE_KEY,
});
const get: INodeParameters = { resource: 'customRequest', operation: 'get', path: 'connect' };
const send: INodeParameters = { ...get, operation: 'send' };
const run = (parameters: INodeParameters, rest: Partial<EngineRun> = {}) =>
	runNode({ parameters, credential: credential(), ...rest });
const sent = () => server.requests.map(({ method, path }) => `${method} ${path}`);

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
	'%s sends its query and its JSON body, with the key and the type',
	async (method) => {
		const { outputs } = await run({
			...send,
			method,
			path: '/user/a b/é',
			specifyBody: 'json',
			jsonBody: '{"a": [1]}',
			options: { queryParameters: { parameter: [{ name: 'x', value: 'y z' }] } },
		});
		expect(server.requests).toEqual([
			expect.objectContaining({
				method,
				path: '/api/v1/user/a%20b/%C3%A9?x=y%20z',
				body: '{"a":[1]}',
				headers: expect.objectContaining({
					authentication: `Bearer ${PRIVATE_KEY}`,
					'content-type': 'application/json',
				}) as unknown,
			}),
		]);
		expect(outputs[0]).toEqual([
			{ json: { id: 7, status: 'active', token: 'a.b' }, pairedItem: { item: 0 } },
		]);
	},
);

test('GET sends its query and no body', async () => {
	const options = { queryParameters: { parameter: [{ name: 'x', value: '1' }] } };
	const { outputs } = await run({ ...get, simplify: false, options });
	expect(server.requests).toEqual([
		expect.objectContaining({ method: 'GET', path: '/api/v1/connect?x=1', body: '' }),
	]);
	expect(outputs[0]![0]!.json).toEqual(JSON.parse(SUCCESS));
});

test('DELETE has a body only where one is given', async () => {
	await run({ ...send, method: 'DELETE' });
	await run({ ...send, method: 'POST' });
	expect(server.requests.map(({ body }) => body)).toEqual(['', '{}']);
});

test.each([[get], [send]])('an error with HTTP 200 is one', async (parameters) => {
	answer = http(200, {}, '{"status":"error","errorCode":"connect-01"}');
	const { error } = await run(parameters);
	expect(error?.message).toBe('The service answered: connect failed (connect-01)');
	expect(sent()).toHaveLength(1);
});

test.each(['={{ "GET" }}', '={{ "post" }}', '={{ null }}', 'HEAD', 'CONNECT'])(
	'the method %j is refused',
	async (method) => {
		const { error } = await run({ ...send, method });
		expect(error?.message).toBe("'Method' is not one of DELETE, PATCH, POST, PUT [item 0]");
		expect(error?.description).toContain('Nothing was sent');
		expect(sent()).toEqual([]);
	},
);

describe('a request that writes', () => {
	const items = [0, 1, 2].map((n) => ({ n }));
	const numbered = { ...send, path: '=/item/{{ $json.n }}' };

	test('is sent one at a time, in item order, and not again after it has succeeded', async () => {
		let working = 0;
		let most = 0;
		const times = new Map<string, number>();
		const slow = await startRawServer((socket, { path }) => {
			most = Math.max(most, ++working);
			times.set(path, (times.get(path) ?? 0) + 1);
			const refuses = path.endsWith('/1') && times.get(path) === 1;
			setTimeout(() => {
				working--;
				socket.end(refuses ? http(400, {}) : http(200, {}, SUCCESS));
			}, 20);
		});
		const { error } = await run(numbered, {
			items,
			credential: { ...credential(), baseUrl: `http://127.0.0.1:${slow.port}/v1` },
			node: { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 },
		});
		await slow.close();
		expect(error).toBeUndefined();
		expect(most).toBe(1);
		expect(slow.requests.map(({ path }) => path)).toEqual([0, 1, 1, 2].map((n) => `/v1/item/${n}`));
	});

	test('is not sent again when its outcome is unknown, nor are those behind it', async () => {
		answer = http(500, {});
		const { error } = await run(numbered, {
			items,
			node: { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 },
		});
		expect(error?.message).toMatch(/^Outcome unknown: The service had an internal error/);
		expect(error?.description).toContain('No item was applied. Not sent: items 1 to 2.');
		expect(sent()).toEqual(['POST /api/v1/item/0']);
	});

	test('is not sent where another item is invalid and a failure stops the node', async () => {
		const { error } = await run(
			{ ...numbered, path: '={{ $json.n === 2 ? ".." : "item" }}' },
			{ items },
		);
		expect(error?.message).toBe("'Path' is not a path below the Base URL [item 2]");
		expect(sent()).toEqual([]);
	});

	test('is not sent for a key that can not be claimed', async () => {
		const { error } = await run({ ...send, sendOnceKey: 'payment' });
		expect(error?.message).toBe('The key could not be claimed, so nothing was sent');
		expect(sent()).toEqual([]);
	});

	test('is called dangerous, in the panel and to an agent', async () => {
		const { properties } = (await loadNodeType('resumeManagement')).description;
		const shown = (name: string) =>
			properties.filter(({ displayOptions: { show } = {}, ...property }) => {
				const isSend =
					show?.resource?.includes('customRequest') && show.operation?.includes('send');
				return isSend && property.name === name;
			});
		expect(shown('toolDescription')[0]!.default).toMatch(/may change or delete data, or bill/);
		expect(shown('writeNotice')[0]!.displayName).toMatch(/may change or delete data, or bill/);
	});

	test('tells an agent what is wrong with its path', async () => {
		const [told] = await callTool({
			parameters: { ...send, path: "={{ $fromAI('path') }}", toolDescription: 'A tool' },
			credential: credential(),
			items: [{ path: '../users' }],
		});
		expect(told!.answer).toContain("'Path' is not a path below the Base URL");
		expect(sent()).toEqual([]);
	});
});

test('a GET that fails for a moment is repeated', async () => {
	answer = http(503, {});
	await run(get);
	expect(sent()).toHaveLength(3);
});

describe('a path', () => {
	test.each([
		['connect', '/connect'],
		['/connect', '/connect'],
		[' /connect ', '/connect'],
		['/user/1/', '/user/1/'],
		['user/a@b.example', '/user/a@b.example'],
		['users:search;v=1,2', '/users:search;v=1,2'],
		['a%20b/%C3%A9', '/a%20b/%C3%A9'],
		['a/...', '/a/...'],
		['a%2Fb', '/a%2Fb'],
		['100%25', '/100%25'],
		['．．/users', '/%EF%BC%8E%EF%BC%8E/users'],
		['{x}|"<>^`', '/%7Bx%7D%7C%22%3C%3E%5E%60'],
	])('%j is sent as %j', async (path, expected) => {
		const { error } = await run({ ...get, path });
		expect(error).toBeUndefined();
		expect(sent()).toEqual([`GET /api/v1${expected}`]);
	});

	test.each([
		...['//host', '///host', '/', '//', 'a//b', 'a//', 'http://host/v1', 'https:/host//x'],
		...['..', '.', '../users', 'a/../../b', 'a/.', '%2e%2e/users', '%2E', '.%2e', 'a/%2e%2E/b'],
		...[
			'..%2fusers',
			'a%2f..%2fb',
			'..%5cusers',
			'%252e%252e/a',
			'a%25252fb',
			'..\\users',
			'\\\\host',
			'a\\b',
		],
		...['a?b=1', 'a#b', '?', '#', 'a\tb', 'a\nb', 'a\r\nX-Other: 1', 'a%00', 'a%0d%0ab', 'a\u0000'],
		...['%', 'a%zz', '%c0%ae%c0%ae/a', '\ud800'],
		// Some servers drop what follows a semicolon in a part of a path.
		...['..;/users', '..%3b/users', '%2e%2e;x=1/users', 'a/..;/..;/b', '..%20/users'],
	])('%j is refused', async (path) => {
		for (const operation of ['get', 'send']) {
			const { error } = await run({ ...get, operation, path });
			expect(error?.message).toBe("'Path' is not a path below the Base URL [item 0]");
			expect(error?.description).toContain('Nothing was sent');
		}
		expect(sent()).toEqual([]);
	});

	const piece = fc.oneof(
		fc.constantFrom(
			...['/', '//', '.', '..', '...', '%2e', '%2E', '%2f', '%5c', '%25', '%', '%00', '%c0%ae'],
			...['\\', '?', '#', '@', ':', ';', '&', '=', '\t', '\n', '\r', ' ', '\u0000', '\u00a0'],
			...[
				'http:',
				'https://',
				'host',
				'evil.example',
				'127.0.0.1',
				'v1',
				'user',
				'[::1]',
				'~',
				'*',
			],
			...[
				'\u2024',
				'\uff0e',
				'\u3002',
				'\uff0f',
				'\u2215',
				'\u202e',
				'\ufeff',
				'\ud800',
				'😀',
				'é',
			],
		),
		fc.string({ unit: 'binary', maxLength: 3 }),
	);

	test('ends below the base path or is refused before anything is sent', async () => {
		let ended = 0;
		const property = fc.asyncProperty(
			fc.array(piece, { minLength: 1, maxLength: 8 }),
			fc.boolean(),
			async (pieces, writes) => {
				const before = server.requests.length;
				const { outputs } = await run(
					{ ...(writes ? send : get), path: '={{ $json.path }}', options: { retries: 0 } },
					{ items: [{ path: pieces.join('') }], node: { onError: 'continueRegularOutput' } },
				);
				const { error } = outputs[0]![0]!.json as { error?: { message: string } };
				const requests = server.requests.slice(before);
				if (error) {
					expect(error.message).toMatch(/^'Path' is (empty|not a path below the Base URL)/);
					expect(requests).toEqual([]);
					return;
				}
				ended++;
				expect(requests).toHaveLength(1);
				const [{ path, headers }] = requests as [(typeof requests)[0]];
				expect(headers.host).toBe(`127.0.0.1:${server.port}`);
				expect(path).toMatch(/^\/api\/v1\/[!-~]+$/);
				expect(path).not.toMatch(/[?#\\]/);
				expect(new URL(path, 'http://service').pathname).toBe(path);
				// Also where a server decodes it before it resolves it, and takes a backslash for a slash.
				const decoded = decodeURIComponent(path);
				expect(decoded.split(/[/\\]/)).not.toContain('..');
				expect(new URL(decoded, 'http://service').pathname).toMatch(/^\/api\/v1\//);
			},
		);
		await fc.assert(property, { numRuns: 500 });
		expect(ended).toBeGreaterThan(25);
	}, 120_000);
});

test('reaches what the service has and no operation does', async () => {
	const sandbox = await startSandbox({ port: 0, record: true });
	try {
		const { outputs } = await runNode({
			parameters: {
				...send,
				path: '/connect',
				bodyFields: { field: [{ name: 'email', value: 'emma.larsen@example.com' }] },
			},
			credential: { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live },
		});
		expect(outputs[0]![0]!.json).toEqual({ token: expect.any(String) as string });
	} finally {
		await sandbox.close();
	}
});

test("n8n's Custom API Call points here", async () => {
	const { error } = await run({ resource: 'user', operation: '__CUSTOM_API_CALL__' });
	expect(error?.message).toBe('This node has no such operation');
	expect(error?.description).toContain('choose the resource Custom Request');
	expect(sent()).toEqual([]);
});
