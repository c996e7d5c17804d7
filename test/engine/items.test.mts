import { type Sandbox, startSandbox } from '../../sandbox/server.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { runNode } from '../support/engine.mts';
import { byId, planUpgrade, userGet } from '../support/parameters.mts';
import { http, startRawServer } from '../support/rawServer.mts';

let sandbox: Sandbox;
let users: Array<{ id: string; email: string }>;
beforeEach(async () => {
	sandbox = await startSandbox({ port: 0, record: true });
	users = sandbox.database
		.prepare('SELECT id, email FROM users')
		.all()
		.map(({ id, email }) => ({ id: String(id), email: String(email) }));
});
afterEach(() => sandbox.close());

const run = (parameters: object, rest = {}) =>
	runNode({
		parameters: parameters as never,
		credential: { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live },
		...rest,
	});

const billed = () =>
	sandbox.database
		.prepare('SELECT email FROM upgrades ORDER BY id')
		.all()
		.map(({ email }) => email);

describe('lists', () => {
	test('Return All gives one item an element', async () => {
		const { outputs } = await run({ resource: 'user', operation: 'getAll', returnAll: true });
		expect(outputs[0]!.map(({ json }) => String(json.id))).toEqual(users.map(({ id }) => id));
	});

	test('Limit cuts the list', async () => {
		const { outputs } = await run({ resource: 'user', operation: 'getAll', limit: 3 });
		expect(outputs[0]).toHaveLength(3);
	});

	test('each element is paired with the item that asked for it', async () => {
		const { outputs } = await run(
			{ resource: 'resume', operation: 'getAll', userId: byId('={{ $json.id }}'), returnAll: true },
			{ items: users.slice(0, 5) },
		);
		const counts = sandbox.database.prepare(
			'SELECT count(*) AS count FROM resumes WHERE user_id = ?',
		);
		const expected = users
			.slice(0, 5)
			.flatMap(({ id }, item) => Array(Number(counts.get(id)!.count)).fill({ item }) as object[]);
		expect(outputs[0]!.map(({ pairedItem }) => pairedItem)).toEqual(expected);
	});

	test.each([
		['the body itself', [{ id: 1 }], ''],
		['data', { status: 'success', data: [{ id: 1 }], other: [] }, ''],
		['the one array', { status: 'success', users: [{ id: 1 }], count: 1 }, ''],
		['the one array in data', { status: 'success', data: { users: [{ id: 1 }], page: 1 } }, ''],
		['Items Path', { data: { users: [{ id: 1 }], admins: [] } }, 'data.users'],
	])('the list is found in %s', async (_, body, itemsPath) => {
		sandbox.faults.add({ path: '/users', answer: { status: 200, body: JSON.stringify(body) } });
		const { outputs } = await run({
			resource: 'user',
			operation: 'getAll',
			options: { itemsPath },
		});
		expect(outputs[0]!.map(({ json }) => json)).toEqual([{ id: 1 }]);
	});

	test.each([
		['no list', { status: 'success', data: { id: 1 } }, '', 'The answer holds no list'],
		['two lists', { users: [], admins: [] }, '', 'The answer holds more than one list'],
		['a wrong path', { users: [] }, 'data.users', "The answer has no list at 'data.users'"],
	])('%s is a clear error', async (_, body, itemsPath, message) => {
		sandbox.faults.add({ path: '/users', answer: { status: 200, body: JSON.stringify(body) } });
		const { error } = await run({ resource: 'user', operation: 'getAll', options: { itemsPath } });
		expect(error?.message).toBe(message);
		expect(error?.description).toContain('Items Path');
	});
});

test('Simplify gives the record, and without it the envelope', async () => {
	const simple = await run(userGet(users[0]!.id));
	expect(simple.outputs[0]![0]!.json).toMatchObject({ email: users[0]!.email });
	const whole = await run({ ...userGet(users[0]!.id), simplify: false });
	expect(whole.outputs[0]![0]!.json).toEqual({
		status: 'success',
		data: simple.outputs[0]![0]!.json,
	});
});

test.each([
	'={{ $itemIndex % 2 ? "key-b" : "key-a" }}',
	'={{ $input.all()[$itemIndex]?.json.key ?? "key-a" }}',
])('each item has the credential that its fields give for it: %s', async (privateKey) => {
	const keys: unknown[] = [];
	const server = await startRawServer((socket, { headers }) => {
		keys.push(headers.authentication);
		socket.end(http(200, {}, '{"status":"success","data":{"plan_id":"pro"}}'));
	});
	const baseUrl = `http://127.0.0.1:${server.port}/v1`;
	const items = [{ email: 'a@x' }, { email: 'b@x', key: 'key-b' }, { email: 'c@x' }];
	for (const parameters of [planUpgrade, userGet('1')]) {
		await runNode({
			parameters: { ...parameters, email: '={{ $json.email }}', planId: 'pro' },
			credential: { baseUrl, privateKey },
			items,
		});
		expect(keys.splice(0).sort()).toEqual(
			['key-a', 'key-a', 'key-b'].map((key) => `Bearer ${key}`),
		);
	}
	await server.close();
});

test('the credential is read once for each item', async () => {
	const { credentialReads } = await run(userGet('={{ $json.id }}'), { items: users });
	expect(credentialReads).toBe(users.length);
});

test('outputs keep the order of the items, however long each takes', async () => {
	sandbox.faults.add({ path: `/user/${users[0]!.id}`, delayMs: 150 });
	const { outputs } = await run(userGet('={{ $json.id }}'), { items: users });
	expect(outputs[0]!.map(({ json }) => String(json.id))).toEqual(users.map(({ id }) => id));
});

test('a download ends in one binary field with its name and type', async () => {
	const { id } = sandbox.database.prepare('SELECT id FROM resumes LIMIT 1').get()!;
	const { outputs } = await run({
		resource: 'resume',
		operation: 'download',
		resumeId: byId(String(id)),
		binaryPropertyName: 'cv',
	});
	const { cv } = outputs[0]![0]!.binary!;
	expect(Buffer.from(cv!.data, 'base64').subarray(0, 5).toString()).toBe('%PDF-');
	expect(cv).toMatchObject({ mimeType: 'application/pdf' });
});

describe('upgrades', () => {
	const upgrades = (...plans: string[]) =>
		plans.map((planId, index) => ({ email: users[index]!.email, planId }));

	test('return the subscription, with times in seconds or as ISO 8601', async () => {
		const [item] = upgrades(SANDBOX_PLANS.pro);
		const unix = await run(planUpgrade, { items: [item] });
		expect(unix.outputs[0]![0]!.json).toEqual({
			created: expect.any(Number) as number,
			current_period_start: expect.any(Number) as number,
			current_period_end: expect.any(Number) as number,
			status: 'active',
			plan_id: SANDBOX_PLANS.pro,
		});
		const iso = await run({ ...planUpgrade, options: { timestamps: 'iso' } }, { items: [item] });
		expect(iso.outputs[0]![0]!.json.created).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
	});

	test('are sent one at a time, in item order', async () => {
		sandbox.faults.add({ path: '/plan/upgrade', email: users[0]!.email, delayMs: 100 });
		await run(planUpgrade, { items: upgrades(...Array<string>(5).fill(SANDBOX_PLANS.pro)) });
		expect(billed()).toEqual(users.slice(0, 5).map(({ email }) => email));
	});

	test('stop at the first failure, and the error says what was applied', async () => {
		const { pro } = SANDBOX_PLANS;
		const { error } = await run(planUpgrade, { items: upgrades(pro, pro, 'unknown', pro, pro) });
		expect(billed()).toEqual(users.slice(0, 2).map(({ email }) => email));
		expect(sandbox.requests).toHaveLength(3);
		expect(error?.message).toBe('The service answered: wrong plan ID (plan-upgrade-2)');
		expect(error?.description).toContain(
			'Already applied: 2 of 5 (items 0 to 1). Not sent: items 3 to 4.',
		);
	});

	test('that fail leave the others untouched under On Error = Continue', async () => {
		const { pro } = SANDBOX_PLANS;
		const { outputs } = await run(planUpgrade, {
			items: upgrades(pro, 'unknown', pro),
			node: { onError: 'continueErrorOutput' },
		});
		expect(billed()).toEqual([users[0]!.email, users[2]!.email]);
		expect(outputs.map((items) => items.map(({ pairedItem }) => pairedItem))).toEqual([
			[{ item: 0 }, { item: 2 }],
			[{ item: 1 }],
		]);
	});
});
