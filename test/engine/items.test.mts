import type { INodeParameters } from 'n8n-workflow';
import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { offered } from '../support/operations.mts';
import { getUsers, planUpgrade, userGet } from '../support/parameters.mts';
import { json } from '../support/rawServer.mts';
import { useRawService, useSandbox } from '../support/service.mts';

/** The items of a response, each paired with the input item of its request. Lists: pages.test.mts. */

const limit = 10;
const items = Array.from({ length: 30 }, (_, id) => ({ id }));
const open: Array<() => void> = [];
let most = 0;
const { requests, run } = useRawService(({ path }, socket) => {
	const data = { id: Number(path.split('/').at(-1)) };
	const count = open.push(() => socket.end(json({ status: 'success', data })));
	most = Math.max(most, count);
	const isLast = requests.length === items.length;
	if (open.length < limit && !isLast) return;
	// Gives a request too many the time to come in. The newest gets its response first.
	setTimeout(() => {
		for (const respond of open.splice(isLast ? 0 : limit - 1).reverse()) respond();
	}, 20);
});

test('reads side by side end in order, with at most Max Parallel Requests at a time', async () => {
	const options = { maxParallelRequests: limit };
	const result = await run({ ...userGet('={{ $json.id }}'), options }, { items });
	expect(result.items).toEqual(items);
	expect(most).toBe(limit);
});

let response: unknown;
const service = useRawService(() => response);
const message = 'a text of the record';

test.each<object>([{ error: message }, { error: message, message, details: [] }])(
	'the record %j, which looks like a failed item, is an item',
	async (record) => {
		response = { data: [record] };
		const node = { onError: 'continueErrorOutput' } as const;
		const { items, failures } = await service.run(getUsers, { node });
		expect([items, failures]).toEqual([[{ value: record }], []]);
	},
);

const RECORD = {
	id: 7,
	error: 'none',
	'plan.code': 'p',
	'a.b': { c: 1, d: 2 },
	tags: [{ name: 'a' }],
	plan: { name: 'pro', price: 1, limits: { users: 3, seats: 4 } },
	...(JSON.parse('{ "__proto__": { "id": 1, "name": 2 } }') as object),
};
const success = (data: unknown) => ({ status: 'success', data });
const withFields = (fieldsToReturn: string, more: INodeParameters = {}) =>
	service.run({ ...userGet('1'), ...more, options: { fieldsToReturn } });

const ANN = { id: 7, name: 'Ann' };
test.each<[more: object, data: object, expected: object]>([
	[{ trace: 't' }, { id: 7 }, { trace: 't', id: 7 }],
	[{ status: 'active', id: 7 }, { n: 1 }, { status: 'active', id: 7, data: { n: 1 } }],
	[{ id: 'r-1', envelope: 'E' }, { id: 7 }, { id: 'r-1', envelope: 'E', data: { id: 7 } }],
	[{ id: 'r-1', trace: 't' }, { id: 7 }, { id: 7, trace: 't', envelope: { id: 'r-1' } }],
	[{ id: 7, name: null }, ANN, ANN],
	[{ token: 'abc' }, { token: null, constructor: null }, { token: 'abc', constructor: null }],
])('%j beside the data %j is not lost', async (more, data, expected) => {
	response = { status: 'success', ...more, data };
	expect((await service.run(userGet('1'))).items).toEqual([expected]);
});

test.each<[fields: string, expected: object]>([
	[' plan.name , id ', { id: 7, plan: { name: 'pro' } }],
	['plan.limits.users, plan.price', { plan: { price: 1, limits: { users: 3 } } }],
	['plan, plan.name, plan.code', { 'plan.code': 'p', plan: RECORD.plan }],
	['a.b.d', { 'a.b': { d: 2 } }],
	['__proto__.name', JSON.parse('{ "__proto__": { "name": 2 } }') as object],
	['tags, tags.name, id.deeper, plan.other, toString', { tags: RECORD.tags }],
	[' , ', RECORD],
	['error', { value: { error: 'none' } }],
	// As models, spreadsheets and JSON write lists.
	['"id", "tags"', { id: 7, tags: RECORD.tags }],
	['[\n  "id",\n  "tags"\n]', { id: 7, tags: RECORD.tags }],
	['“id”;`tags`', { id: 7, tags: RECORD.tags }],
	['id，tags', { id: 7, tags: RECORD.tags }],
	['tags[]', {}],
	['={{ ["id", "tags"] }}', { id: 7, tags: RECORD.tags }],
])('Fields to Return %j of a record', async (fields, expected) => {
	response = success(RECORD);
	expect((await withFields(fields)).items).toEqual([expected]);
});

test('Fields to Return leaves plain values whole, and begins at the envelope with Simplify off', async () => {
	response = success([1, 'x', [7], { error: 'none', message: 'm' }]);
	const { items } = await withFields('message', getUsers);
	expect(items).toEqual([{ value: 1 }, { value: 'x' }, { value: [7] }, { message: 'm' }]);
	response = success(RECORD);
	const whole = await withFields('status, data.id', { simplify: false });
	expect(whole.items).toEqual([{ status: 'success', data: { id: 7 } }]);
});

test('each operation that returns records and only reads has Fields to Return', async () => {
	const operations = offered();
	const having = operations.filter((one) => JSON.stringify(one.fields).includes('fieldsToReturn'));
	expect(having).toEqual(
		operations.filter((one) => !one.write && one.returns.name !== 'FileOutput'),
	);
	for (const { parameters } of having) {
		response = success(parameters.operation === 'getAll' ? [RECORD] : RECORD);
		expect((await withFields('id', { ...parameters, userId: '1' })).items).toEqual([{ id: 7 }]);
	}
});

describe('upgrades', () => {
	const { run, sandbox, sent } = useSandbox();
	const { pro } = SANDBOX_PLANS;
	const items = (...plans: string[]) => {
		const users = sandbox().database.prepare('SELECT email FROM users').all();
		return plans.map((planId, index) => ({ email: users[index]!.email as string, planId }));
	};

	test('return the subscription, with times in seconds or as ISO 8601', async () => {
		const [unix] = (await run(planUpgrade, { items: items(pro) })).items;
		const time = expect.any(Number) as number;
		const times = { created: time, current_period_start: time, current_period_end: time };
		const { email } = items(pro)[0]!;
		expect(unix).toEqual({ email, billed: true, ...times, status: 'active', plan_id: pro });
		const iso = { ...planUpgrade, options: { timestamps: 'iso' } };
		const [converted] = (await run(iso, { items: items(pro) })).items;
		const isoTime = expect.stringMatching(/^2\d{3}-\d\d-\d\dT.*Z$/) as string;
		expect(converted).toMatchObject({ created: isoTime, current_period_end: isoTime });
	});

	test('stop before the first one if an item is not valid', async () => {
		const { error } = await run(planUpgrade, { items: items(pro, '') });
		expect(sent()).toEqual([]);
		expect(error?.message).toBe("'Plan ID' is empty [item 1]");
		expect(error?.description).toContain('No item was applied. Not sent: item 0.');
	});

	test('stop at one that may have billed, and the error speaks of the other items only', async () => {
		sandbox().faults.add({ path: '/plan/upgrade', response: { status: 500 } });
		const { error } = await run(planUpgrade, { items: items(pro, pro) });
		expect(error?.message).toMatch(/^Outcome unknown: /);
		expect(error?.description).toContain('No other item was applied. Not sent: item 1.');
	});

	test('stop at the first failure, and the error shows which items were applied', async () => {
		const { error } = await run(planUpgrade, { items: items(pro, pro, 'unknown', pro, pro) });
		expect(sent()).toHaveLength(3);
		expect(error?.message).toBe('The service reported: wrong plan ID (plan-upgrade-2)');
		expect(error?.description).toContain(
			'Already applied: 2 of 5 (items 0 to 1). Not sent: items 3 to 4. A new execution sends the applied items again, unless Send Once Key is set.',
		);
	});
});
