import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { getUsers, planUpgrade, userGet } from '../support/parameters.mts';
import { json } from '../support/rawServer.mts';
import { useRawService, useSandbox } from '../support/service.mts';

/** What becomes of an answer: items, each paired with the one that asked for it. Of lists: pages.test.mts. */

const { run, sandbox, sent } = useSandbox();

describe('reads side by side', () => {
	let inFlight = 0;
	let most = 0;
	const { run: read } = useRawService(({ path }, socket) => {
		most = Math.max(most, ++inFlight);
		const id = Number(path.split('/').at(-1));
		const answer = () => {
			inFlight--;
			socket.end(json({ status: 'success', data: { id } }));
		};
		// Longer for the first ones, and long enough for another request to come in.
		setTimeout(answer, 200 - id * 5);
	});

	test('end in order, with at most Max Parallel Requests at a time', async () => {
		const parameters = { ...userGet('={{ $json.id }}'), options: { maxParallelRequests: 10 } };
		const items = Array.from({ length: 30 }, (_, id) => ({ id }));
		expect((await read(parameters, { items })).items).toEqual(items);
		expect(most).toBe(10);
	});
});

describe('a record that looks like a failed item', () => {
	const message = 'a word of the record';
	let record: object;
	const { run: read } = useRawService(() => ({ data: [record] }));

	test.each<object>([
		{ error: message },
		{ error: message, message, details: [] },
		{ $error: { message }, $json: {}, id: 1 },
		{ $error: null, $json: null },
	])('%j is an item like any other', async (given) => {
		record = given;
		const { items, failures } = await read(getUsers, { node: { onError: 'continueErrorOutput' } });
		expect([items, failures]).toEqual([[{ value: record }], []]);
	});
});

describe('upgrades', () => {
	const { pro } = SANDBOX_PLANS;
	const items = (...plans: string[]) => {
		const users = sandbox().database.prepare('SELECT email FROM users').all();
		return plans.map((planId, index) => ({ email: users[index]!.email as string, planId }));
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
