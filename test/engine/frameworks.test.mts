import type { INodeParameters } from 'n8n-workflow';
import { processedData } from '../support/deduplication.mts';
import { byEmail, byId } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';
import { createTrigger } from '../support/trigger.mts';

/**
 * Answers as web frameworks, clouds and gateways write them where the specification shows nothing: what
 * is not sure is an error, in the service's words.
 */

let answer: string;
const { credential, requests, run } = useRawService(() => answer);
const answers = (status: number, body: unknown, headers: Record<string, string> = {}) =>
	(answer = http(status, headers, JSON.stringify(body)));

const users = [
	{ id: 1, email: 'nathan@example.com' },
	{ id: 2, email: 'ada@example.com' },
];
const getAll: INodeParameters = { resource: 'user', operation: 'getAll', returnAll: true };
const upgrade: INodeParameters = {
	resource: 'plan',
	operation: 'upgrade',
	email: 'nathan@example.com',
	planId: 'plan-pro',
};
const title = { field: [{ name: 'title', value: 'Engineer' }] };

describe('a list that is only a part', () => {
	test.each<[by: string, body: object, headers?: Record<string, string>, status?: number]>([
		['a Link header', { users }, { Link: '<https://a.example/users?page=2>; rel="next"' }],
		['a count in a header', { users }, { 'X-Total-Count': '250' }],
		['a range', { users }, { 'Content-Range': 'items 0-1/250' }],
		['HTTP 206', { users }, {}, 206],
		['a number of pages', { users, page: 1, totalPages: 3 }],
		['the last page', { users, meta: { current_page: 1, last_page: 2 } }],
		['not being the last', { users, last: false }],
		['the number of elements', { users, totalElements: 3 }],
		['a link of OData', { users, '@odata.nextLink': 'https://a.example/users?$skip=2' }],
		['a count in the metadata', { users, metadata: { total: 3 } }],
		['being cut', { users, isTruncated: true }],
	])('says so by %s', async (_, body, ...[headers, status = 200]) => {
		answers(status, body, headers);
		const { error } = await run(getAll);
		expect(error?.message).toBe('The list is not complete');
		requests.length = 0;
		const create = { resource: 'resume', operation: 'create', bodyFields: title };
		const { error: notFound } = await run({ ...create, userId: byEmail('nathan@example.com') });
		expect(notFound?.message).toMatch(/^The list of users could not be read/);
		expect(requests.map(({ method }) => method)).toEqual(['GET']);
	});
});

test.each([
	{ data: { 1: users[0], 3: users[1] }, links: [{ url: null, label: 'Next' }] },
	{ users: null, errors: [] },
	{ data: { users: { 1: users[0] }, roles: ['admin'] } },
	{ data: { 0: users[0], 2: users[1] }, warnings: ['deprecated'] },
])('no other array is taken for a list that is none: %j', async (body) => {
	answers(200, body);
	expect((await run(getAll)).error?.message).toBe('The answer holds no list');
});

test('more records than n8n can hold are an error', async () => {
	answers(200, Array<number>(200_001).fill(0));
	expect((await run(getAll)).error?.message).toMatch(/^The answer holds 200001 records/);
});

test('names that are one but for their spelling take no longer than others', async () => {
	const name = (index: number) =>
		[...'abcdefghijklmnopqrst']
			.map((letter, bit) => letter + (index & (1 << bit) ? '_' : ''))
			.join('');
	const record = Object.fromEntries(
		Array.from({ length: 100_000 }, (_, index) => [name(index), index]),
	);
	answers(200, { users: [{ id: 1, email: 'a@example.com', ...record }] });
	const read = { resource: 'user', operation: 'get', userId: byEmail('nobody@example.com') };
	expect((await run(read)).error?.message).toBe('No user has this e-mail address');
});

describe('a payment that failed', () => {
	test.each([
		[401, { status: 'ERROR', errorCode: 'plan-upgrade-1' }],
		[402, { errorCode: 'plan-upgrade-1' }],
		[429, { status: 'failure', errorCode: 'PLAN-UPGRADE-1' }],
	])('waits for a person, however it is spelled: HTTP %d, %j', async (status, body) => {
		answers(status, body);
		const { outputs } = await run(upgrade, {
			node: {
				retryOnFail: true,
				maxTries: 3,
				waitBetweenTries: 1,
				onError: 'continueRegularOutput',
			},
		});
		expect(outputs[0]![0]!.json.error).toMatchObject({
			id: 'service.paymentFailed',
			outcome: 'held',
		});
		expect(requests).toHaveLength(1);
	});
});

test.each([
	[422, { message: 'The plan id field is required.' }],
	[400, { title: 'Bad Request', detail: 'No such plan' }],
	[401, { error: 'Unauthenticated.' }],
])("the service's words are told without an envelope, too: HTTP %d, %j", async (status, body) => {
	answers(status, body);
	const { error } = await run({ resource: 'user', operation: 'get', userId: byId('1') });
	expect(error?.description).toContain(`It answered: ${JSON.stringify(body)}`);
});

test.each([
	['another person', { email: 'ada@example.com' }],
	['an error code', { errorCode: 'plan-upgrade-1' }],
])('a subscription with %s confirms no upgrade', async (_, more) => {
	answers(200, { status: 'success', data: { plan_id: upgrade.planId, ...more } });
	expect((await run(upgrade)).error?.message).toMatch(/^Outcome unknown: /);
});

test.each(['={{ {} }}', '={"id": {{ $json.id }}}', '={{ JSON.stringify({ id: $json.id }) }}'])(
	'a number that was rounded before is not sent in the JSON %s',
	async (jsonBody) => {
		answers(200, { status: 'success' });
		const parameters = { resource: 'customRequest', operation: 'send', path: 'notes' };
		const items = [{ id: Number('1234567890123456789') }];
		const { error } = await run({ ...parameters, specifyBody: 'json', jsonBody }, { items });
		const isRounded = jsonBody.includes('$json');
		expect(error?.message).toBe(
			isRounded ? "'JSON Body' holds a number whose digits were lost [item 0]" : undefined,
		);
		expect(requests).toHaveLength(isRounded ? 0 : 1);
	},
);

test('an Email of Get Token that comes to nothing is an error', async () => {
	const token = { resource: 'user', operation: 'getToken', email: '={{ $json.email }}' };
	expect((await run(token)).error?.message).toBe("'Email' is not an e-mail address [item 0]");
	expect(requests).toEqual([]);
});

test('a body field can not replace the Email of Get Token', async () => {
	const other = { field: [{ name: 'email', value: 'ada@example.com' }] };
	const { error } = await run({
		resource: 'user',
		operation: 'getToken',
		email: 'nathan@example.com',
		bodyFields: other,
	});
	expect(error?.message).toBe("'Body Fields' has two entries named 'email' [item 0]");
	expect(requests).toEqual([]);
});

test('an ID in which a secret was hidden is none', async () => {
	answers(200, { users: [{ id: 'acme-resumes-key-1', email: 'nathan@example.com' }] });
	const { error } = await run(
		{ resource: 'user', operation: 'get', userId: byEmail('nathan@example.com') },
		{ credential: { ...credential(), privateKey: 'acme-resumes-key' } },
	);
	expect(error?.message).toBe('The user with this e-mail address has no ID in the list');
});

test('a key that this run has claimed is not sent again by the option', async () => {
	processedData.isThere = true;
	answers(502, {});
	const key = { sendOnceKey: 'payment-1', options: { sendUnsettledKeysAgain: true } };
	const other = { ...upgrade, ...key, options: { ...key.options, allowRepeatedUpgrades: true } };
	const { outputs } = await run(other, {
		items: [{}, {}],
		node: { id: 'upgrade', onError: 'continueRegularOutput' },
	});
	processedData.isThere = false;
	expect(outputs[0]!.map(({ json }) => (json.error as { id: string }).id)).toEqual([
		'service.unavailable',
		'key.unsettled',
	]);
	expect(requests).toHaveLength(1);
}, 60_000);

describe('base64 that is broken into lines', () => {
	const key = 'eyJhbGciOiJIUzI1NiJ9-a-key-that-is-as-long-as-a-token-of-json-web-tokens';
	const lines = Buffer.from(`Bearer ${key}`).toString('base64').replace(/.{60}/g, '$&\n');
	const part = Buffer.from(key).toString('base64').slice(20, 50);

	test('is hidden in the error of an answer that confirms nothing', async () => {
		answers(200, { debug: lines });
		const { error } = await run(upgrade, {
			credential: { ...credential(), privateKey: key },
		});
		expect(error?.description).toContain('[hidden]');
	});

	test("is hidden in the trigger's items", async () => {
		const parameters = { verification: 'header', headerName: 'X-Webhook-Secret' };
		const trigger = await createTrigger(parameters, {
			...credential(),
			privateKey: key,
			webhookSecret: 'webhook-secret',
		});
		const { items } = await trigger.receive({
			body: Buffer.from(JSON.stringify({ event: 'Resume Section Saved', debug: lines })),
			headers: { 'x-webhook-secret': 'webhook-secret' },
		});
		expect(items).toMatchObject([{ secretsHidden: true }]);
		expect(JSON.stringify(items)).not.toContain(part);
	});
});
