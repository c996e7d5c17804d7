import type { INodeParameters } from 'n8n-workflow';

import { runNode } from '../support/engine.mts';
import { http, type RawServer, startRawServer } from '../support/rawServer.mts';

/** What a write sends says what its user meant, or is an error that names the field, and nothing is sent. */

let server: RawServer;
beforeAll(async () => {
	const success = http(200, {}, '{"status":"success","data":{"id":1}}');
	server = await startRawServer((socket) => void socket.end(success));
});
beforeEach(() => void (server.requests.length = 0));
afterAll(() => server.close());

const OPERATIONS: INodeParameters[] = [
	{ resource: 'customRequest', operation: 'send', path: 'x' },
	{ resource: 'customRequest', operation: 'send', path: 'x', method: 'DELETE' },
	{ resource: 'resume', operation: 'create', userId: { __rl: true, mode: 'id', value: '1' } },
	{ resource: 'user', operation: 'getToken' },
];

async function send(more: INodeParameters, operation = OPERATIONS[0]!) {
	const { outputs } = await runNode({
		parameters: { ...operation, ...more },
		credential: { baseUrl: `http://127.0.0.1:${server.port}/v1`, privateKey: 'private-key' },
		node: { onError: 'continueRegularOutput' },
	});
	const { error } = outputs[0]![0]!.json as { error?: { message: string } };
	return { error: error?.message, sent: server.requests.map(({ path, body }) => ({ path, body })) };
}

const json = (jsonBody: string): INodeParameters => ({ specifyBody: 'json', jsonBody });
const field = (value: string): INodeParameters => ({
	bodyFields: { field: [{ name: 'v', value }] },
});

test.each([
	['={{ new Date(0) }}', 'is not a JSON object'],
	['={{ $now }}', 'is not a JSON object'],
	['={{ new Date(NaN) }}', 'is not a JSON object'],
	['={{ new Map([["a", 1]]) }}', 'is not a JSON object'],
	['={{ new String("{}") }}', 'is not a JSON object'],
	['={{ [] }}', 'is not a JSON object'],
	['{"a": 1', 'is not a JSON object'],
	['={{ ({ a: NaN }) }}', 'holds a value that JSON has no form for'],
	['={{ ({ a: [1, { b: () => 1 }] }) }}', 'holds a value that JSON has no form for'],
	['={{ ({ a: new Date(NaN) }) }}', 'holds a value that JSON has no form for'],
	['={{ ({ a: [undefined] }) }}', 'holds a value that JSON has no form for'],
	['{"id": 12345678901234567890}', 'holds a number with too many digits'],
	['{"id": [1, -9007199254740993]}', 'holds a number with too many digits'],
	['{"x": 1e999}', 'holds a number with too many digits'],
])('JSON Body %s is refused', async (body, problem) => {
	for (const operation of OPERATIONS) {
		const { error, sent } = await send(json(body), operation);
		expect(error).toBe(`'JSON Body' ${problem} [item 0]`);
		expect(sent).toEqual([]);
	}
});

test.each([
	['{"id": "12345678901234567890 1e999", "n": -9007199254740991.0}', undefined],
	['{"text": "a \\" 12345678901234567890"}', undefined],
	[
		'={{ ({ a: [1.5, null, true, { b: "c" }], d: undefined }) }}',
		'{"a":[1.5,null,true,{"b":"c"}]}',
	],
	['={{ ({ a: new Date(0) }) }}', '{"a":"1970-01-01T00:00:00.000Z"}'],
])('JSON Body %s is sent', async (body, wanted = JSON.stringify(JSON.parse(body))) => {
	const { error, sent } = await send(json(body));
	expect(error).toBeUndefined();
	expect(sent).toEqual([{ path: '/v1/x', body: wanted }]);
});

test.each([
	'={{ NaN }}',
	'={{ 1 / 0 }}',
	'={{ new Date(NaN) }}',
	'={{ new Map([["a", 1]]) }}',
	'={{ Symbol("x") }}',
	'={{ /x/ }}',
])('Body Fields with %s are refused', async (value) => {
	const { error, sent } = await send(field(value));
	expect(error).toBe("'Body Fields' holds a value that JSON has no form for [item 0]");
	expect(sent).toEqual([]);
});

test.each(['={{ "JSON" }}', '={{ null }}'])('Specify Body %s is refused', async (specifyBody) => {
	const { error, sent } = await send({ ...json('{"a": 1}'), specifyBody });
	expect(error).toBe("'Specify Body' is not one of fields, json [item 0]");
	expect(sent).toEqual([]);
});

test.each([
	['constructor', 'x'],
	['prototype', 'x'],
	['__proto__', 'x'],
	['a', '\ud800'],
	['\udc00', 'x'],
])('the query parameter %j = %j is refused', async (name, value) => {
	const options = { queryParameters: { parameter: [{ name, value }] } };
	const { error, sent } = await send({ options });
	expect(error).toBe(`'Query Parameters' has an entry '${name}' that can't be sent [item 0]`);
	expect(sent).toEqual([]);
});
