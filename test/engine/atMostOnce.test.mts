import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import type { EngineRun } from '../support/engine.mts';
import { planUpgrade, userGet } from '../support/parameters.mts';
import { json } from '../support/rawServer.mts';
import { useRawService, useSandbox } from '../support/service.mts';

/** What an execution sends again. The promise as a whole: billing.test.mts. */

const { run, sandbox } = useSandbox();
let emails: string[];
beforeEach(() => {
	const { database } = sandbox();
	database.exec('DELETE FROM upgrades');
	const users = database.prepare('SELECT email FROM users').all();
	emails = users.map(({ email }) => String(email));
});

const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

const upgrade = (plans: string[], { parameters = planUpgrade, ...rest }: Partial<EngineRun> = {}) =>
	run(parameters, {
		items: plans.map((planId, index) => ({ email: emails[index]!, planId })),
		...rest,
	});

/** How often each e-mail was billed, and how often the service was asked to. */
const billed = () =>
	sandbox()
		.database.prepare(
			'SELECT email, count(*) AS times FROM upgrades GROUP BY email ORDER BY min(id)',
		)
		.all()
		.map(({ email, times }) => [email, times]);
const sent = () =>
	sandbox().requests.map(({ body }) => (JSON.parse(body) as { email: string }).email);

const { pro } = SANDBOX_PLANS;

test('Retry On Fail does not repeat an upgrade whose outcome is unknown', async () => {
	sandbox().faults.add({ email: emails[1]!, times: 1, drop: 'after' });
	const { error } = await upgrade([pro, pro, pro], { node: RETRY_ON_FAIL });
	expect(error?.message).toMatch(/^Outcome unknown: /);
	expect(error?.description).toContain('Already applied: 1 of 3 (item 0). Not sent: item 2.');
	expect(sent()).toEqual([emails[0], emails[1]]);
	expect(billed()).toEqual([
		[emails[0], 1],
		[emails[1], 1],
	]);
});

test('the same items in another execution are another purchase', async () => {
	await upgrade([pro]);
	await upgrade([pro]);
	expect(billed()).toEqual([[emails[0], 2]]);
});

test('a pause that the service asks for takes nothing from the time of the next attempt', async () => {
	const path = '/plan/upgrade';
	const tooMany = { status: 429, headers: { 'Retry-After': '2' } };
	sandbox().faults.add({ path, times: 1, answer: tooMany });
	sandbox().faults.add({ path, delayMs: 1_000 });
	const parameters = { ...planUpgrade, requestOptions: { timeout: 2_500 } };
	const { items } = await upgrade([pro], { parameters });
	expect(items).toMatchObject([{ plan_id: pro }]);
	expect(billed()).toEqual([[emails[0], 1]]);
});

test('cancelling the execution stops the upgrades that are queued', async () => {
	const controller = new AbortController();
	sandbox().faults.add({ email: emails[1]!, delayMs: 5_000 });
	const run = upgrade(Array<string>(10).fill(pro), { signal: controller.signal });
	while (sent().length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
	controller.abort();
	await run;
	expect(sent()).toEqual([emails[0], emails[1]]);
});

describe('reads', () => {
	let inFlight = 0;
	let most = 0;
	const full = Promise.withResolvers<void>();
	const { run: read, requests } = useRawService(({ path }, socket) => {
		most = Math.max(most, ++inFlight);
		if (most === 20) full.resolve();
		const id = Number(path.split('/').at(-1));
		const answer = () => {
			inFlight--;
			socket.end(json({ status: 'success', data: { id } }));
		};
		void full.promise.then(() => setTimeout(answer, id % 7));
	});

	test('end in order, with at most Max Parallel Requests at a time', async () => {
		const parameters = { ...userGet('={{ $json.id }}'), options: { maxParallelRequests: 20 } };
		const items = Array.from({ length: 500 }, (_, id) => ({ id }));
		expect((await read(parameters, { items })).items).toEqual(items);
		expect(requests).toHaveLength(500);
		expect(most).toBe(20);
	});
});
