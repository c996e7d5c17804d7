import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { processedData } from '../support/deduplication.mts';
import type { EngineRun } from '../support/engine.mts';
import { shared } from '../support/environment.mts';
import { customSend, planUpgrade } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

/**
 * Safeguards against an unintended purchase: Preview, Max Upgrades, and no upgrade twice in a run. How often each
 * upgrade is billed: billing.test.mts. That a key is sent once: proof.test.mts.
 */

const { credential, run, sandbox } = useSandbox();

const { pro, basic } = SANDBOX_PLANS;
const EMMA = 'emma.larsen@example.com';
const NOAH = 'noah.fischer@example.com';
const CONTINUES = { onError: 'continueErrorOutput' } as const;
const NOT_CLAIMED = 'Nothing was sent, because n8n could not store the Send Once Key';

const upgrade = (items: object[], parameters = {}, rest: Partial<EngineRun> = {}) =>
	run({ ...planUpgrade, ...parameters }, { items: items as never, node: CONTINUES, ...rest });
const sent = () =>
	sandbox().requests.map(({ body }) => (JSON.parse(body) as { email: string }).email);
const forEmma = { email: EMMA, planId: pro };
const forNoah = { email: NOAH, planId: pro };

describe('Preview', () => {
	const preview = (body: object) => {
		return { preview: true, method: 'POST', path: '/plan/upgrade', body };
	};

	test('shows the requests of the items that ask for it, and sends nothing for them', async () => {
		const items = [
			{ ...forEmma, email: ` ${EMMA} `, aiTokenId: 'ai_1', preview: true },
			{ ...forNoah, preview: true },
			{ ...forEmma, preview: false },
		];
		const all = await upgrade(items.slice(0, 2), { preview: true });
		expect(all.items).toEqual([preview({ ...forEmma, aiTokenId: 'ai_1' }), preview(forNoah)]);
		expect([all.pairs[0], sent()]).toEqual([[0, 1], []]);
		const some = await upgrade(items, { preview: '={{ $json.preview }}' });
		expect(some.items).toMatchObject([...all.items, { plan_id: pro }]);
		expect(sent()).toEqual([EMMA]);
	});

	test('claims no key, but fails if no key can be claimed', async () => {
		const keyed = { preview: true, sendOnceKey: 'payment-1' };
		expect((await upgrade([forEmma], keyed)).failures).toMatchObject([{ message: NOT_CLAIMED }]);
		processedData.clear();
		for (let times = 0; times < 2; times++) {
			expect((await upgrade([forEmma], keyed)).items).toEqual([preview(forEmma)]);
		}
		processedData.isThere = false;
	});

	test('fails for an item that could not be sent', async () => {
		const items = [{ ...forEmma, email: 'nobody' }, { ...forEmma, planId: ' ' }, forNoah, forNoah];
		const { pairs } = await upgrade(items, { preview: true });
		expect(pairs).toEqual([[2], [0, 1, 3]]);
	});
});

describe('the same upgrade in two items', () => {
	const same = [forEmma, { email: ` ${EMMA.toUpperCase()}`, planId: `${pro} `, aiTokenId: 'ai' }];
	const message = 'Item 0 is for the same upgrade, so this one was not sent [item 1]';

	test.each([{}, { byExecute: true }])('fails in the second, with %j', async (entry) => {
		const items = [...same, { email: EMMA, planId: basic }, forNoah];
		const { pairs, failures } = await upgrade(items, {}, entry);
		expect(pairs).toEqual([[0, 2, 3], [1]]);
		expect(failures).toMatchObject([{ message, httpStatus: null }]);
		expect(sent()).toEqual([EMMA, EMMA, NOAH]);
	});

	test('is another upgrade for another account', async () => {
		const own = { ...credential(), privateKey: '={{ $json.key }}' };
		const keys = [credential().privateKey, 'another-key'];
		const items = keys.map((key) => ({ ...forEmma, key }));
		const { failures } = await upgrade(items, {}, { credential: own });
		expect(failures).toMatchObject([{ code: 'plan-upgrade-3' }]);
		expect(sent()).toEqual([EMMA, EMMA]);
	});

	test('is another upgrade with another Send Once Key', async () => {
		const { failures } = await upgrade(same, { sendOnceKey: '={{ $itemIndex }}' });
		// Without a database, neither item is sent, but neither is a repeat.
		expect(failures).toMatchObject([{ message: NOT_CLAIMED }, { message: NOT_CLAIMED }]);
	});
});

describe('a Send Once Key', () => {
	beforeEach(() => {
		processedData.clear();
		// The clock runs ahead, so that nobody waits long for a key that is claimed.
		let now = Date.now();
		jest.spyOn(shared.Date, 'now').mockImplementation(() => (now += 5_000));
	});
	afterEach(() => {
		processedData.isThere = false;
		jest.restoreAllMocks();
	});
	const keyed = { sendOnceKey: '={{ $json.key ?? "payment-1" }}' };

	test('is not answered by the success of another operation', async () => {
		const custom = { ...customSend, path: 'plan/upgrade', specifyBody: 'json', ...keyed };
		const jsonBody = JSON.stringify({ planId: pro, email: EMMA });
		await run({ ...custom, jsonBody }, { node: { id: 'custom' } });
		const { failures } = await upgrade([forEmma], keyed);
		expect(failures).toMatchObject([{ id: 'key.claimed' }]);
		expect(sent()).toEqual([EMMA]);
	});

	test('whose outcome is unknown is not sent again', async () => {
		sandbox().faults.add({ path: '/plan/upgrade', answer: { status: 502 } });
		const { failures } = await upgrade([forEmma, forEmma], keyed);
		expect(failures).toMatchObject([{ id: 'service.unavailable' }, { id: 'key.claimed' }]);
		expect(sent()).toEqual([EMMA]);
	});

	test('is not sent if n8n stores all keys in one row', async () => {
		processedData.names = () => 'one row';
		const items = ['payment-1', 'payment-2'].map((key) => ({ ...forEmma, key }));
		const [first, second] = [await upgrade(items, keyed), await upgrade(items, keyed)];
		// Only the first item is sent, while the row is not there yet.
		const failures = [...first.failures, ...second.failures];
		expect(failures).toMatchObject(Array(3).fill({ id: 'key.notClaimed' }));
		expect(sent()).toEqual([EMMA]);
	});
});

const tooMany = Array.from({ length: 101 }, (_, index) => ({ email: `${index}@x`, planId: pro }));

test.each(['stopWorkflow', 'continueErrorOutput'] as const)(
	'a run with more items than Max Upgrades fails before the first is sent, under %s',
	async (onError) => {
		const { error, failures } = await upgrade(tooMany, {}, { node: { onError } });
		const message = 'The run has 101 items, and at most 100 may be upgraded';
		expect(error ?? failures[100]).toMatchObject({
			message: expect.stringContaining(message) as string,
			description: expect.stringContaining('raise Max Upgrades in Options') as string,
		});
		expect(sent()).toEqual([]);
	},
);

test('Max Upgrades can be raised', async () => {
	await upgrade(tooMany, { options: { maxUpgrades: 101 } });
	expect(sent()).toHaveLength(101);
});
