import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byId, planUpgrade, userGet } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

/** What becomes of an answer: items, each paired with the one that asked for it. */

const { run, sandbox, sent } = useSandbox();
const read = (sql: string) =>
	sandbox().database.prepare(sql).all() as Array<{ [name: string]: string }>;

test('each element of a list is paired with the item that asked for it', async () => {
	const users = read('SELECT id FROM users LIMIT 5');
	const { pairs } = await run(
		{ resource: 'resume', operation: 'getAll', userId: byId('={{ $json.id }}'), returnAll: true },
		{ items: users },
	);
	const resumes = read('SELECT user_id FROM resumes ORDER BY user_id, id');
	const numbers = resumes.map(({ user_id: owner }) => users.findIndex(({ id }) => id === owner));
	expect(pairs).toEqual([numbers.filter((number) => number >= 0)]);
});

const one = [{ id: 1 }];
const another = [{ id: 'another' }];
const list = (itemsPath = '') => ({
	resource: 'user',
	operation: 'getAll',
	options: { itemsPath },
});
const answer = (body: object) =>
	sandbox().faults.add({ path: '/users', answer: { status: 200, body: JSON.stringify(body) } });

test.each<[where: string, body: object, itemsPath?: string]>([
	['the body itself', one],
	['data', { status: 'success', data: one, other: [] }],
	['the one array', { status: 'success', people: one, count: 1 }],
	['the one array in data', { status: 'success', data: { people: one, page: 1 } }],
	['what is called users', { users: one, data: { notices: another } }],
	['what is called users in data', { warnings: another, data: { users: one, facets: another } }],
	['users, in other letters', { Users: one, admins: another }],
	['users, where only one is a list', { users: { total: 1 }, data: { users: one } }],
	['users, where both are the same', { users: one, data: { users: one } }],
	['Items Path', { data: { users: one, admins: [] } }, 'data.users'],
])('a list is found in %s', async (_, body, ...[itemsPath]) => {
	answer(body);
	expect((await run(list(itemsPath))).items).toEqual(one);
});

const several = 'The answer holds more than one list';
test.each<[what: string, body: object, message: string, itemsPath?: string]>([
	['no list', { status: 'success', data: { id: 1 } }, 'The answer holds no list'],
	['two lists', { people: [], admins: [] }, several],
	['an empty list and another in data', { data: { items: [], facets: another } }, several],
	['a list and another in data', { people: one, data: { admins: another } }, several],
	['two lists of users', { users: one, data: { users: another } }, several],
	['data and users', { data: one, users: another }, several],
	['a wrong path', { users: [] }, "The answer has no list at 'data.users'", 'data.users'],
])('%s is a clear error', async (_, body, message, ...[itemsPath]) => {
	answer(body);
	const { error } = await run(list(itemsPath));
	expect(error?.message).toBe(message);
	expect(error?.description).toContain('Items Path');
});

test('a list of resumes is found by its own name', async () => {
	const body = JSON.stringify({ resumes: one, user: another });
	sandbox().faults.add({ path: '/user/1/resumes', answer: { status: 200, body } });
	const { items } = await run({ resource: 'resume', operation: 'getAll', userId: byId('1') });
	expect(items).toEqual(one);
});

test('Simplify gives the record, and without it the envelope', async () => {
	const simple = await run(userGet('user-001'));
	expect(simple.items).toMatchObject([{ email: 'emma.larsen@example.com' }]);
	const whole = await run({ ...userGet('user-001'), simplify: false });
	expect(whole.items).toEqual([{ status: 'success', data: simple.items[0] }]);
});

test('a download ends in the binary field that is named', async () => {
	const parameters = { resumeId: byId('resume-001'), binaryPropertyName: 'cv' };
	const { outputs } = await run({ resource: 'resume', operation: 'download', ...parameters });
	const { cv } = outputs[0]![0]!.binary!;
	expect(Buffer.from(cv!.data, 'base64').subarray(0, 5).toString()).toBe('%PDF-');
	expect(cv).toMatchObject({ mimeType: 'application/pdf' });
});

describe('upgrades', () => {
	const { pro } = SANDBOX_PLANS;
	const upgrades = (...plans: string[]) =>
		read('SELECT email FROM users').flatMap(({ email }, index) => {
			const planId = plans[index];
			return planId === undefined ? [] : [{ email, planId }];
		});

	test('return the subscription, with times in seconds or as ISO 8601', async () => {
		const items = upgrades(pro);
		const unix = await run(planUpgrade, { items });
		expect(unix.items).toEqual([
			{
				created: expect.any(Number) as number,
				current_period_start: expect.any(Number) as number,
				current_period_end: expect.any(Number) as number,
				status: 'active',
				plan_id: pro,
			},
		]);
		const iso = await run({ ...planUpgrade, options: { timestamps: 'iso' } }, { items });
		expect(iso.items[0]!.created).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
	});

	test('stop at the first failure, and the error says what was applied', async () => {
		const { error } = await run(planUpgrade, { items: upgrades(pro, pro, 'unknown', pro, pro) });
		expect(sent()).toHaveLength(3);
		expect(error?.message).toBe('The service answered: wrong plan ID (plan-upgrade-2)');
		expect(error?.description).toContain(
			'Already applied: 2 of 5 (items 0 to 1). Not sent: items 3 to 4.',
		);
	});
});
