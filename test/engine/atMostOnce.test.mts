import fc from 'fast-check';

import { type Sandbox, startSandbox } from '../../sandbox/server.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { type EngineRun, runNode } from '../support/engine.mts';
import { planUpgrade, userGet } from '../support/parameters.mts';
import { http, startRawServer } from '../support/rawServer.mts';

let sandbox: Sandbox;
let emails: string[];
beforeEach(async () => {
	sandbox = await startSandbox({ port: 0, record: true });
	emails = sandbox.database
		.prepare('SELECT email FROM users')
		.all()
		.map(({ email }) => String(email));
});
afterEach(() => sandbox.close());

const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

const upgrade = (plans: string[], rest: Partial<EngineRun> = {}) =>
	runNode({
		parameters: planUpgrade,
		credential: { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live },
		items: plans.map((planId, index) => ({ email: emails[index]!, planId })),
		...rest,
	});

/** How often each e-mail was billed, and how often the service was asked to. */
const billed = () =>
	sandbox.database
		.prepare('SELECT email, count(*) AS times FROM upgrades GROUP BY email ORDER BY min(id)')
		.all()
		.map(({ email, times }) => [email, times]);
const sent = () =>
	sandbox.requests.map(({ body }) => (JSON.parse(body) as { email: string }).email);

const { pro } = SANDBOX_PLANS;

test('Retry On Fail does not repeat an upgrade that has succeeded', async () => {
	sandbox.faults.add({
		email: emails[2]!,
		times: 1,
		answer: { status: 401, body: JSON.stringify({ status: 'error', errorCode: 'E' }) },
	});
	const { outputs, error } = await upgrade([pro, pro, pro, pro], { node: RETRY_ON_FAIL });
	expect(error).toBeUndefined();
	expect(outputs[0]!.map(({ json }) => json.plan_id)).toEqual([pro, pro, pro, pro]);
	expect(outputs[0]!.map(({ pairedItem }) => pairedItem)).toEqual(
		[0, 1, 2, 3].map((item) => ({ item })),
	);
	expect(sent()).toEqual([emails[0], emails[1], emails[2], emails[2], emails[3]]);
	expect(billed()).toEqual(emails.slice(0, 4).map((email) => [email, 1]));
});

test('Retry On Fail does not repeat an upgrade whose outcome is unknown', async () => {
	sandbox.faults.add({ email: emails[1]!, times: 1, drop: 'after' });
	const { error } = await upgrade([pro, pro, pro], { node: RETRY_ON_FAIL });
	expect(error?.message).toMatch(/^Outcome unknown: /);
	expect(error?.description).toContain('Already applied: 1 of 3 (item 0). Not sent: item 2.');
	expect(sent()).toEqual([emails[0], emails[1]]);
	expect(billed()).toEqual([
		[emails[0], 1],
		[emails[1], 1],
	]);
});

test('Retry On Fail under On Error = Continue repeats only what has failed', async () => {
	sandbox.faults.add({ email: emails[2]!, times: 1, drop: 'after' });
	const { outputs } = await upgrade(['unknown', pro, pro], {
		node: { ...RETRY_ON_FAIL, onError: 'continueErrorOutput' },
	});
	expect(outputs[0]).toHaveLength(1);
	expect(outputs[1]).toHaveLength(2);
	expect(sent()).toEqual([emails[0], emails[1], emails[2], emails[0], emails[0]]);
});

test('the same items in another execution are another purchase', async () => {
	await upgrade([pro]);
	await upgrade([pro]);
	expect(billed()).toEqual([[emails[0], 2]]);
});

test('a pause that the service asks for takes nothing from the time of the next attempt', async () => {
	const path = '/plan/upgrade';
	const tooMany = { status: 429, headers: { 'Retry-After': '2' } };
	sandbox.faults.add({ path, times: 1, answer: tooMany });
	sandbox.faults.add({ path, delayMs: 1_000 });
	const parameters = { ...planUpgrade, requestOptions: { timeout: 2_500 } };
	const { outputs, error } = await upgrade([pro], { parameters });
	expect(error).toBeUndefined();
	expect(outputs[0]![0]!.json.plan_id).toBe(pro);
	expect(billed()).toEqual([[emails[0], 1]]);
});

test('cancelling the execution stops the upgrades that are queued', async () => {
	const controller = new AbortController();
	sandbox.faults.add({ email: emails[1]!, delayMs: 5_000 });
	const run = upgrade(Array<string>(10).fill(pro), { signal: controller.signal });
	while (sent().length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
	controller.abort();
	await run;
	expect(sent()).toEqual([emails[0], emails[1]]);
});

const FAULTS = ['dropBefore', 'dropAfter', 'error', 'html500', '429'];

/** Milliseconds; a loopback answer that takes longer would look like a stalled one. */
const STALL_TIMEOUT = 2_000;

test('100 upgrades under faults of every kind: none is sent after it was settled', async () => {
	jest.spyOn(Math, 'random').mockReturnValue(0);
	const runs = fc.asyncProperty(
		fc.array(
			fc.oneof(
				{ weight: 7, arbitrary: fc.constant('none') },
				{ weight: 3, arbitrary: fc.constantFrom(...FAULTS) },
			),
			{ minLength: 100, maxLength: 100 },
		),
		// One a run, as each takes the whole timeout.
		fc.nat(99),
		fc.constantFrom('stopWorkflow', 'continueErrorOutput', 'continueRegularOutput'),
		async (faults, stalled, onError) => {
			faults[stalled] = 'stall';
			/** What each item's requests came to, as the service sees it. */
			const fates = new Map<number, string[]>();
			const server = await startRawServer((socket, { body }) => {
				const item = Number(/item-(\d+)@/.exec(body)![1]);
				const fate = fates.get(item) ?? [];
				fates.set(item, fate);
				// A fault comes up once: what is sent again after it succeeds.
				const fault = fate.length === 0 ? faults[item]! : 'none';
				const settle = (outcome: string) => fate.push(outcome);
				const success = JSON.stringify({ status: 'success', data: { plan_id: pro } });
				const answer = (status: number, text: string) => void socket.end(http(status, {}, text));
				if (fault === 'none') {
					settle('done');
					answer(200, success);
				} else if (fault === 'error') {
					settle('failed');
					answer(401, '{"status":"error","errorCode":"plan-upgrade-1"}');
				} else if (fault === '429') {
					settle('failed');
					answer(429, '');
				} else {
					settle('unknown');
					if (fault === 'html500') answer(500, '<html>');
					else if (fault === 'dropAfter') {
						socket.write(http(200, {}, success).slice(0, -1), () => socket.destroy());
					} else if (fault === 'dropBefore') socket.resetAndDestroy();
				}
			});
			const { outputs, error } = await runNode({
				parameters: { ...planUpgrade, requestOptions: { timeout: STALL_TIMEOUT } },
				credential: { baseUrl: `http://127.0.0.1:${server.port}/v1`, privateKey: 'key' },
				items: faults.map((_, item) => ({ email: `item-${item}@example.com`, planId: pro })),
				node: { ...RETRY_ON_FAIL, onError: onError as never },
			});
			await server.close();

			for (const fate of fates.values()) {
				// Only a definite failure may come before another request.
				expect(fate.slice(0, -1).every((outcome) => outcome === 'failed')).toBe(true);
			}
			if (onError === 'stopWorkflow') {
				if (!error) expect(outputs[0]).toHaveLength(100);
				return;
			}
			const items = outputs.flat();
			const outcomeOf = ({ json }: (typeof items)[number]) => {
				const { message } = (json.error ?? {}) as { message?: string };
				if (!message) return 'done';
				return message.startsWith('Outcome unknown') ? 'unknown' : 'failed';
			};
			const outcomes = new Map(
				items.map((item) => [(item.pairedItem as { item: number }).item, outcomeOf(item)]),
			);
			expect(outcomes.size).toBe(100);
			expect(items).toHaveLength(100);
			for (const [item, outcome] of outcomes) expect(outcome).toBe(fates.get(item)!.at(-1));
		},
	);
	await fc.assert(runs, { numRuns: 20, seed: 20 });
}, 120_000);

test('5,000 reads end in order, with at most Max Parallel Requests at a time', async () => {
	let inFlight = 0;
	let most = 0;
	let release = () => {};
	const full = new Promise<void>((resolve) => (release = resolve));
	const server = await startRawServer((socket, { path }) => {
		most = Math.max(most, ++inFlight);
		if (most === 20) release();
		const id = Number(path.split('/').at(-1));
		const body = JSON.stringify({ status: 'success', data: { id } });
		const answer = () => {
			inFlight--;
			socket.end(http(200, {}, body));
		};
		void full.then(() => setTimeout(answer, id % 7));
	});
	const { outputs } = await runNode({
		parameters: { ...userGet('={{ $json.id }}'), options: { maxParallelRequests: 20 } },
		credential: { baseUrl: `http://127.0.0.1:${server.port}/v1`, privateKey: 'key' },
		items: Array.from({ length: 5_000 }, (_, id) => ({ id })),
	});
	await server.close();
	expect(outputs[0]!.map(({ json }) => json.id)).toEqual([...Array(5_000).keys()]);
	expect(server.requests).toHaveLength(5_000);
	expect(most).toBe(20);
}, 60_000);
