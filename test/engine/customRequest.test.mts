import type { INodeParameters } from 'n8n-workflow';

import { offered } from '../support/operations.mts';
import { useRawService } from '../support/service.mts';

/**
 * Requests whose path, and whose method where they write, the user names. Which paths are refused:
 * test/unit/paths.test.mts. That none is carried out twice: billing.test.mts.
 */

const SUCCESS = { status: 'success', data: { id: 7, status: 'active' }, token: 'a.b' };
const { requests, run, sent } = useRawService(() => SUCCESS);

const get: INodeParameters = { resource: 'customRequest', operation: 'get', path: 'connect' };
const send: INodeParameters = { ...get, operation: 'send' };
test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
	'%s sends its query and its JSON body, with the key and the type',
	async (method) => {
		const { items } = await run({
			...send,
			method,
			path: '/user/a b/é',
			specifyBody: 'json',
			jsonBody: '{"a": [1]}',
			options: { queryParameters: { parameter: [{ name: 'x', value: 'y z' }] } },
		});
		expect(requests).toMatchObject([
			{
				method,
				path: '/v1/user/a%20b/%C3%A9?x=y%20z',
				body: '{"a":[1]}',
				headers: { authentication: 'Bearer the-key', 'content-type': 'application/json' },
			},
		]);
		expect(items).toEqual([{ id: 7, status: 'active', token: 'a.b' }]);
	},
);

test('GET sends its query and no body', async () => {
	const options = { queryParameters: { parameter: [{ name: 'x', value: '1' }] } };
	const { items } = await run({ ...get, simplify: false, options });
	expect(requests).toMatchObject([{ method: 'GET', path: '/v1/connect?x=1', body: '' }]);
	expect(items).toEqual([SUCCESS]);
});

test('DELETE has a body only where one is given', async () => {
	await run({ ...send, method: 'DELETE' });
	await run({ ...send, method: 'POST' });
	expect(requests.map(({ body }) => body)).toEqual(['', '{}']);
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

test.each([
	[' /connect ', '/connect'],
	['/user/1/', '/user/1/'],
	['users:search;v=1,2', '/users:search;v=1,2'],
	['a%2Fb/100%25', '/a%2Fb/100%25'],
	['．．/{x}|"<>^`', '/%EF%BC%8E%EF%BC%8E/%7Bx%7D%7C%22%3C%3E%5E%60'],
])('the path %j arrives as %j', async (path, expected) => {
	await run({ ...get, path });
	await run({ ...send, path });
	expect(sent()).toEqual([`GET /v1${expected}`, `POST /v1${expected}`]);
});

test('a path that leads elsewhere is refused, and nothing is sent', async () => {
	const items = [{ path: 'item' }, { path: 'a/..' }];
	for (const parameters of [get, send]) {
		requests.length = 0;
		const { error } = await run({ ...parameters, path: '={{ $json.path }}' }, { items });
		expect(error?.message).toBe("'Path' is not a path below the Base URL [item 1]");
		expect(error?.description).toContain('Nothing was sent');
		// Of writes, none is sent before all are known to be valid.
		expect(sent()).toEqual(parameters === get ? ['GET /v1/item'] : []);
	}
});

test('a request that writes is called dangerous, in the panel and to an agent', async () => {
	const { description, notices } = (await offered()).find(({ path, write }) => {
		return path === '/:path' && write;
	})!;
	for (const text of [description, ...notices]) {
		expect(text).toMatch(/may change or delete data, or bill/);
	}
	expect(notices).toHaveLength(1);
});

test("n8n's Custom API Call points here", async () => {
	const { error } = await run({ resource: 'user', operation: '__CUSTOM_API_CALL__' });
	expect(error?.message).toBe('This node has no such operation');
	expect(error?.description).toContain('choose the resource Custom Request');
	expect(sent()).toEqual([]);
});
