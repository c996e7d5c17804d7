import type { INodeParameters } from 'n8n-workflow';

import { byId } from '../support/parameters.mts';
import { useRawService } from '../support/service.mts';

/** What a write sends says what its user meant, or is an error that names the field, and nothing is sent. */

const { requests, run } = useRawService(() => ({ status: 'success', data: { id: 1 } }));

const OPERATIONS: INodeParameters[] = [
	{ resource: 'customRequest', operation: 'send', path: 'x' },
	{ resource: 'customRequest', operation: 'send', path: 'x', method: 'DELETE' },
	{ resource: 'resume', operation: 'create', userId: byId('1') },
	{ resource: 'user', operation: 'getToken' },
];

async function send(more: INodeParameters, operation = OPERATIONS[0]!) {
	const { error } = await run({ ...operation, ...more });
	return { error: error?.message, sent: requests.map(({ path, body }) => ({ path, body })) };
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
	['={{ ({ a: NaN }) }}', "holds a value that JSON can't express"],
	['={{ ({ a: [1, { b: () => 1 }] }) }}', "holds a value that JSON can't express"],
	['={{ ({ a: new Date(NaN) }) }}', "holds a value that JSON can't express"],
	['={{ ({ a: [undefined] }) }}', "holds a value that JSON can't express"],
	['={{ ({ id: 12345678901234567890 }) }}', 'holds a number whose digits were lost'],
	['={{ ({ id: [1, -9007199254740993] }) }}', 'holds a number whose digits were lost'],
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
	['{"id": 12345678901234567890}', '{"id":"12345678901234567890"}'],
	['{"id": [1, -9007199254740993, 1e999]}', '{"id":[1,"-9007199254740993","1e999"]}'],
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
	expect(error).toBe("'Body Fields: v' holds a value that JSON can't express [item 0]");
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
