import type { INodeParameters } from 'n8n-workflow';

import { planUpgrade, userGet } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** Numbers keep their digits on every way in, and are not sent on once they have lost them. */

let answer: string;
let contentType: string;
const service = useRawService((_, socket) => {
	const headers = { 'Content-Type': contentType, 'Content-Length': `${answer.length}` };
	socket.end(http(200, headers, answer), 'latin1');
});
const { requests } = service;
beforeEach(() => void (contentType = 'application/json'));

const run = (parameters: INodeParameters, items: object[] = [{}]) =>
	service.run(parameters, { items: items as never, node: { onError: 'continueErrorOutput' } });

const getUsers: INodeParameters = { resource: 'user', operation: 'getAll', returnAll: true };

test.each([
	['9007199254740993', '9007199254740993'],
	['-9007199254740993', '-9007199254740993'],
	['12345678901234567890', '12345678901234567890'],
	['0.12345678901234567890', '0.12345678901234567890'],
	['1e400', '1e400'],
	['9007199254740992', '9007199254740992'],
	['9007199254740991', 9007199254740991],
	['1.50', 1.5],
	['1e2', 100],
	['0.30000000000000004', 0.30000000000000004],
	['1795262400', 1795262400],
	['-0.0', -0],
])('%s in an answer is %j in the item', async (written, read) => {
	answer = `{"status":"success","data":{"id":${written},"text":"\\"${written}"}}`;
	expect((await run(userGet('1'))).items).toEqual([{ id: read, text: `"${written}` }]);
});

test('two users whose IDs differ in the last digit stay two, and each is sent as it is', async () => {
	answer = '{"status":"success","data":[{"id":9007199254740993},{"id":9007199254740992}]}';
	const { items } = await run(getUsers);
	expect(items.map(({ id }) => id)).toEqual(['9007199254740993', '9007199254740992']);

	answer = '{"status":"success","token":"a-user-token"}';
	const field = { name: 'userId', value: '={{ $json.id }}' };
	const token = { resource: 'user', operation: 'getToken', bodyFields: { field: [field] } };
	await run(token, items);
	expect(requests.slice(1).map(({ body }) => body)).toEqual([
		'{"userId":"9007199254740993"}',
		'{"userId":"9007199254740992"}',
	]);
});

test('a cursor keeps its digits', async () => {
	answer = '{"status":"success","data":{"users":[{"id":1}],"next":12345678901234567891}}';
	const pagination = { mode: 'cursor', parameterName: 'after', cursorPath: 'data.next' };
	await run({ ...getUsers, options: { pagination: { pagination } } });
	expect(requests[1]!.path).toContain('after=12345678901234567891');
});

/** What JavaScript has rounded before this node sees it. */
const LOST = 9007199254740993; // eslint-disable-line no-loss-of-precision

const id = '={{ $json.id }}';
const getToken = { resource: 'user', operation: 'getToken' };
const upgrade = { ...planUpgrade, email: 'a@example.com', planId: 'pro' };
test.each<[string, INodeParameters]>([
	['Body Fields: id', { ...getToken, bodyFields: { field: [{ name: 'id', value: id }] } }],
	['JSON Body', { ...getToken, specifyBody: 'json', jsonBody: '={{ ({ id: $json.id }) }}' }],
	['User', userGet(id)],
	['Plan ID', { ...upgrade, planId: id }],
	['Send Once Key', { ...upgrade, sendOnceKey: id }],
])('a number that was rounded is not sent as %s', async (field, parameters) => {
	const { failures } = await run(parameters, [{ id: LOST }]);
	const message = `'${field}' holds a number whose digits were lost [item 0]`;
	expect(failures).toMatchObject([{ id: 'parameter.digitsLost', message }]);
	expect(requests).toEqual([]);
});

test('an answer is read in its character set, or else is an error', async () => {
	contentType = 'application/json; charset=iso-8859-1';
	answer = '{"status":"success","data":{"name":"m\xfcller"}}';
	expect((await run(userGet('1'))).items).toEqual([{ name: 'müller' }]);
	contentType = 'application/json';
	expect((await run(userGet('1'))).failures).toMatchObject([{ id: 'answer.characters' }]);
});
