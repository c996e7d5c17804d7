import type { INodeParameters } from 'n8n-workflow';
import {
	bodyField,
	byId,
	customSend,
	download,
	getToken,
	getUsers,
	upgrade,
	userGet,
} from '../support/parameters.mts';
import { useRawService } from '../support/service.mts';

/** A parameter is sent as the user meant it, or is an error that names the field, and nothing is sent. */

const SUCCESS = { status: 'success', data: { id: 1, plan_id: 'pro' } };
const { requests, run, sent } = useRawService(() => SUCCESS);

/** JavaScript has rounded this number before the node reads it. */
const ITEM = { lost: Number('9007199254740993') };
const lost = '={{ $json.lost }}';

const create = { resource: 'resume', operation: 'create', userId: byId('1') };
const json = (jsonBody: string): INodeParameters => ({ specifyBody: 'json', jsonBody });
const query = (...names: string[]): INodeParameters => ({
	...userGet('1'),
	options: { queryParameters: { parameter: names.map((name) => ({ name, value: 'x' })) } },
});
const listOf = (pagination: INodeParameters): INodeParameters => ({
	...getUsers,
	options: { pagination: { pagination } },
});
const byMethod = (method: string) => ({ ...customSend, method });
const WITH_BODY: INodeParameters[] = [customSend, byMethod('DELETE'), create, getToken];
const everyBody = (body: string) => WITH_BODY.map((one) => ({ ...one, ...json(body) }));
const keyed = (sendOnceKey: string) => ({ ...upgrade, sendOnceKey });
const aiTokenId = (id: string) => ({ ...upgrade, aiTokenId: id });
const field = (value: string) => ({ ...getToken, ...bodyField('v', value) });
const UNDECIDED = ['={{ $json.no }}', '={{ "false" }}', '={{ null }}', '={{ 0 }}', '={{ "" }}'];
const NO_METHODS = ['={{ "GET" }}', '={{ "post" }}', '={{ null }}', 'HEAD', 'CONNECT'];
const OWN_EMAIL = { ...getToken, email: 'a@example.com', ...bodyField('email', 'b@example.com') };

const FORGOTTEN = ' {{ $json.paymentId }}';
/** Data that hold an expression, such as what a forgotten one has written before. */
const BY_ITEM = '={{ "{" + "{ $json.id }" + "}" }}';

const REFUSED: Record<string, INodeParameters[]> = {
	"'User' is empty": ['={{ "" }}', ' '].map(userGet),
	"'User' is not an ID": ['.', '..'].map(userGet),
	"'User' holds a number that JavaScript rounds": [userGet(lost)],
	"'Resume' is empty": [{ ...download, resumeId: byId('={{ "" }}') }],
	"'Put Output File in Field' is empty": [{ ...download, binaryPropertyName: '={{ " " }}' }],
	"'User' has an expression that n8n did not evaluate": [userGet(FORGOTTEN), userGet(BY_ITEM)],
	"'Email' has an expression that n8n did not evaluate": [{ ...upgrade, email: FORGOTTEN }],
	"'Plan ID' has an expression that n8n did not evaluate": [{ ...upgrade, planId: FORGOTTEN }],
	"'AI Token ID' has an expression that n8n did not evaluate": [aiTokenId(FORGOTTEN)],
	"'Send Once Key' has an expression that n8n did not evaluate": [keyed(FORGOTTEN)],
	"'Email' is not an email address": [
		...['nathan', 'a@b@c'].map((email) => ({ ...upgrade, email })),
	],
	"'Email' is empty": [
		{ ...upgrade, email: '  ' },
		{ ...getToken, email: '={{ $json.missing }}' },
	],
	"'Parameter Name' is empty": [listOf({})],
	"'Cursor Path' is empty": [listOf({ parameterName: 'after', mode: 'cursor' })],
	"'Plan ID' is empty": [{ ...upgrade, planId: ' ' }],
	"'Plan ID' holds a number that JavaScript rounds": [{ ...upgrade, planId: lost }],
	"'Send Once Key' holds a number that JavaScript rounds": [keyed(lost)],
	"'Send Once Key' is empty": ['={{ $json.no }}', '={{ "" }}'].map(keyed),
	"'Preview' is neither true nor false": UNDECIDED.map((preview) => ({ ...upgrade, preview })),
	"'Max Pages' is not a whole number": [listOf({ parameterName: 'p', maxPages: '={{ "many" }}' })],
	"'Retries' is not a whole number": [{ ...userGet('1'), options: { retries: '={{ "x" }}' } }],
	"'User' must be text or a number": ['={{ NaN }}', '={{ 1 / 0 }}', '={{ ["1"] }}'].map(userGet),
	"'Query Parameters' has an entry without a name": ['', '\u200b', '={{ $json.no }}'].map((name) =>
		query(name),
	),
	"'Query Parameters' has an invisible character (U+200B) after 'pa'": [query('pa\u200bge')],
	"'Body Fields' has an invisible character (U+200B) after 'ti'": [
		{ ...create, ...bodyField('ti\u200btle', 'x') },
	],
	"'Query Parameters' has two entries named 'a'": [query('a', 'b', ' a ')],
	"'Body Fields' has an entry without a name": [{ ...create, ...bodyField(' ', 'x') }],
	"'Body Fields' has two entries named 'email'": [OWN_EMAIL],
	"'Body Fields: v' holds a number that JavaScript rounds": [field(lost)],
	// prettier-ignore
	"'Body Fields: v' holds a value that JSON can't express": [
		'={{ NaN }}', '={{ 1 / 0 }}', '={{ new Date(NaN) }}', '={{ new Map([["a", 1]]) }}',
		'={{ Symbol("x") }}', '={{ /x/ }}',
	].map(field),
	"'Specify Body' is not one of fields, json": ['={{ "JSON" }}', '={{ null }}'].map(
		(specifyBody) => ({ ...customSend, ...json('{"a": 1}'), specifyBody }),
	),
	// prettier-ignore
	"'JSON Body' is not a JSON object": [
		'={{ new Date(0) }}', '={{ $now }}', '={{ [] }}', '={{ ({ toJSON: () => "text" }) }}',
		'[]', '7',
	].flatMap(everyBody),
	"'JSON Body' has two entries named 'email'": [{ ...OWN_EMAIL, ...json('{"email": "b"}') }],
	// prettier-ignore
	"'JSON Body' holds a value that JSON can't express": [
		'={{ new Map([["a", 1]]) }}', '={{ ({ a: NaN }) }}', '={{ ({ a: [1, { b: () => 1 }] }) }}',
		'={{ ({ a: new Date(NaN) }) }}', '={{ ({ a: [undefined] }) }}', '={{ ({ a: 10n }) }}', '{"a": 1e999}',
	].flatMap(everyBody),
	// prettier-ignore
	"'JSON Body' holds a number that JavaScript rounds": [
		'={{ ({ id: 12345678901234567890 }) }}', '={{ ({ id: [1, -9007199254740993] }) }}',
		'={{ ({ id: $json.lost }) }}', '={"id": {{ $json.lost * 1000 }}}',
		'={{ JSON.stringify({ id: $json.lost * 1000 }) }}', '{"id": 12345678901234567890}',
		'{"id": [1, -9007199254740993]}', '{"a": 1e20}',
	].flatMap(everyBody),
	"'Method' is not one of DELETE, PATCH, POST, PUT": NO_METHODS.map(byMethod),
	"'Path' is not a path below the 'Base URL'": [
		{ ...customSend, path: 'a/..' },
		{ ...customSend, method: 'DELETE', path: '=user/{{ $json.nothing }}' },
		{ resource: 'customRequest', operation: 'get', path: 'a/..' },
	],
};

test.each(Object.entries(REFUSED))('%s', async (message, all) => {
	for (const parameters of all) {
		const { error } = await run(parameters, { items: [ITEM] });
		expect([parameters, error?.message]).toEqual([parameters, `${message} [item 0]`]);
		expect(error?.description).toContain('Nothing was sent');
	}
	expect(sent()).toEqual([]);
});

test.each([
	['{"id": "12345678901234567890 1e999", "n": -9007199254740991}', undefined],
	['{"a": 1.50, "b": 1e3, "c": 0.30000000000000004}', undefined],
	['{"text": "a \\" 12345678901234567890"}', undefined],
	['={{ ({ a: [1.5, null, { b: "c" }], d: undefined }) }}', '{"a":[1.5,null,{"b":"c"}]}'],
	['={{ ({ a: new Date(0) }) }}', '{"a":"1970-01-01T00:00:00.000Z"}'],
	['={{ {} }}', '{}'],
	['{"email": "a@example.com"}', undefined],
])('JSON Body %s is sent', async (body, wanted = JSON.stringify(JSON.parse(body))) => {
	const { error } = await run({ ...customSend, ...json(body) });
	expect(error).toBeUndefined();
	expect(requests).toMatchObject([{ path: '/v1/x', body: wanted }]);
});

test('an item whose field n8n can not evaluate fails, and the others are sent', async () => {
	const inItself = '={{ $json.id ?? ((list) => { list[0] = list; return list; })([]) }}';
	const { failures, pairs } = await run(userGet(inItself), {
		items: [{ id: 'a' }, {}, { id: 'b' }],
		node: { onError: 'continueErrorOutput' },
	});
	const message = "'User' could not be evaluated";
	expect(failures).toMatchObject([{ id: 'parameter.notEvaluated', message }]);
	expect(pairs).toEqual([[0, 2], [1]]);
	expect(sent().sort()).toEqual(['GET /v1/user/a', 'GET /v1/user/b']);
});
