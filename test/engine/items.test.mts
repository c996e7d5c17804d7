import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byId, download, planUpgrade, userGet } from '../support/parameters.mts';
import { json } from '../support/rawServer.mts';
import { useRawService, useSandbox } from '../support/service.mts';

/** What becomes of an answer: items, each paired with the one that asked for it. Of lists: pages.test.mts. */

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

describe('reads side by side', () => {
	let inFlight = 0;
	let most = 0;
	const full = Promise.withResolvers<void>();
	const { run: read } = useRawService(({ path }, socket) => {
		most = Math.max(most, ++inFlight);
		// Long enough for another request to come in, if the node does not wait.
		if (inFlight === 20) setTimeout(full.resolve, 50);
		const id = Number(path.split('/').at(-1));
		const answer = () => {
			inFlight--;
			socket.end(json({ status: 'success', data: { id } }));
		};
		void full.promise.then(() => setTimeout(answer, id % 7));
	});

	test('end in order, with at most Max Parallel Requests at a time', async () => {
		const parameters = { ...userGet('={{ $json.id }}'), options: { maxParallelRequests: 20 } };
		const items = Array.from({ length: 200 }, (_, id) => ({ id }));
		expect((await read(parameters, { items })).items).toEqual(items);
		expect(most).toBe(20);
	});
});

test('Simplify gives the record, and without it the envelope', async () => {
	const simple = await run(userGet('user-001'));
	expect(simple.items).toMatchObject([{ email: 'emma.larsen@example.com' }]);
	const whole = await run({ ...userGet('user-001'), simplify: false });
	expect(whole.items).toEqual([{ status: 'success', data: simple.items[0] }]);
});

test('a download ends in the binary field that is named', async () => {
	const parameters = { ...download, resumeId: byId('resume-001'), binaryPropertyName: 'cv' };
	const { cv } = (await run(parameters)).outputs[0]![0]!.binary!;
	expect(Buffer.from(cv!.data, 'base64').subarray(0, 5).toString()).toBe('%PDF-');
	expect(cv).toMatchObject({ mimeType: 'application/pdf' });
});

describe('upgrades', () => {
	const { pro } = SANDBOX_PLANS;
	const items = (...plans: string[]) => {
		const users = read('SELECT email FROM users');
		return plans.map((planId, index) => ({ email: users[index]!.email!, planId }));
	};

	test('return the subscription, with times in seconds or as ISO 8601', async () => {
		const unix = await run(planUpgrade, { items: items(pro) });
		const time = expect.any(Number) as number;
		const times = { created: time, current_period_start: time, current_period_end: time };
		expect(unix.items).toEqual([{ ...times, status: 'active', plan_id: pro }]);
		const options = { timestamps: 'iso' };
		const iso = await run({ ...planUpgrade, options }, { items: items(pro) });
		expect(iso.items[0]!.created).toMatch(/^2\d{3}-\d\d-\d\dT.*Z$/);
	});

	test('stop at the first failure, and the error says what was applied', async () => {
		const { error } = await run(planUpgrade, { items: items(pro, pro, 'unknown', pro, pro) });
		expect(sent()).toHaveLength(3);
		expect(error?.message).toBe('The service answered: wrong plan ID (plan-upgrade-2)');
		expect(error?.description).toContain(
			'Already applied: 2 of 5 (items 0 to 1). Not sent: items 3 to 4.',
		);
	});
});
