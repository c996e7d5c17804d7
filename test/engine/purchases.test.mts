import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { processedData } from '../support/deduplication.mts';
import type { EngineRun } from '../support/engine.mts';
import { customSend, planUpgrade } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

/**
 * What keeps a person from buying what was not meant: a preview, and no upgrade twice in a run. How often
 * each is billed, whatever happens: billing.test.mts.
 */

const { credential, run, sandbox } = useSandbox();

const { pro, basic } = SANDBOX_PLANS;
const EMMA = 'emma.larsen@example.com';
const NOAH = 'noah.fischer@example.com';

const GOES_ON = { onError: 'continueErrorOutput' } as const;

const upgrade = (items: object[], { parameters = {}, ...rest }: Partial<EngineRun> = {}) =>
	run({ ...planUpgrade, ...parameters }, { items: items as never, ...rest });
const sent = () =>
	sandbox().requests.map(({ body }) => (JSON.parse(body) as { email: string }).email);

describe('Preview', () => {
	const parameters = { preview: true };
	const shown = (email: string, more = {}) => ({
		...{ preview: true, method: 'POST', path: '/plan/upgrade' },
		body: { planId: pro, email, ...more },
	});

	test('shows what would be sent, and sends nothing', async () => {
		const items = [
			{ email: ` ${EMMA} `, planId: pro, aiTokenId: 'ai_1' },
			{ email: NOAH, planId: pro },
		];
		const told = await upgrade(items, { parameters });
		expect(told.items).toEqual([shown(EMMA, { aiTokenId: 'ai_1' }), shown(NOAH)]);
		expect(told.pairs).toEqual([[0, 1]]);
		expect(sent()).toEqual([]);
	});

	test('is for the items that ask for it', async () => {
		const given = [true, false].map((isPreview) => ({ email: EMMA, planId: pro, isPreview }));
		const byItem = { preview: '={{ $json.isPreview }}' };
		const { items } = await upgrade(given, { parameters: byItem });
		expect(items).toMatchObject([{ preview: true }, { plan_id: pro }]);
		expect(sent()).toEqual([EMMA]);
	});

	test('claims no key, but fails where none could be claimed', async () => {
		const keyed = { ...parameters, sendOnceKey: 'payment-1' };
		const preview = async () =>
			await upgrade([{ email: EMMA, planId: pro }], { parameters: keyed });
		expect((await preview()).error?.message).toBe(
			'The key could not be claimed, so nothing was sent',
		);
		processedData.clear();
		for (let times = 0; times < 2; times++) expect((await preview()).items).toEqual([shown(EMMA)]);
		processedData.isThere = false;
	});

	test('fails for what could not be sent', async () => {
		const items = [
			{ email: 'nobody', planId: pro },
			{ email: EMMA, planId: ' ' },
			{ email: NOAH, planId: pro },
			{ email: NOAH, planId: pro },
		];
		const { pairs } = await upgrade(items, { parameters, node: GOES_ON });
		expect(pairs).toEqual([[2], [0, 1, 3]]);
	});
});

describe('the same upgrade in two items', () => {
	const same = [
		{ email: EMMA, planId: pro },
		{ email: ` ${EMMA.toUpperCase()}`, planId: `${pro} ` },
	];
	const refusal = 'Item 0 is for the same upgrade, so this one was not sent [item 1]';

	test.each([
		['run', {}],
		['loop', { byExecute: true }],
	])('fails the second under On Error = Continue: %s', async (_, entry) => {
		const items = [...same, { email: EMMA, planId: basic }, { email: NOAH, planId: pro }];
		const { pairs, failures } = await upgrade(items, { node: GOES_ON, ...entry });
		expect(pairs).toEqual([[0, 2, 3], [1]]);
		expect(failures).toMatchObject([{ message: refusal, httpStatus: null }]);
		expect(sent()).toEqual([EMMA, EMMA, NOAH]);
	});

	test('is another one for another account', async () => {
		const credentials = { ...credential(), privateKey: '={{ $json.key }}' };
		const { privateKey } = credential();
		const items = [privateKey, 'another-key'].map((key) => ({ ...same[0]!, key }));
		const { failures } = await upgrade(items, { node: GOES_ON, credential: credentials });
		expect(failures).toMatchObject([{ code: 'plan-upgrade-3' }]);
		expect(sent()).toEqual([EMMA, EMMA]);
	});

	test('is told by the Send Once Keys, where there are some', async () => {
		const parameters = { sendOnceKey: '={{ $itemIndex }}' };
		const { failures } = await upgrade(same, { parameters, node: GOES_ON });
		// Here n8n has no database to claim them in.
		const message = 'The key could not be claimed, so nothing was sent';
		expect(failures).toMatchObject([{ message }, { message }]);
	});
});

/** That a key is sent once: proof.test.mts. */
describe('a Send Once Key', () => {
	beforeEach(() => processedData.clear());
	afterEach(() => void (processedData.isThere = false));
	const keyed = (...items: object[]) =>
		upgrade(items, {
			parameters: { sendOnceKey: 'payment-1' },
			node: { id: 'upgrade', ...GOES_ON },
		});

	test('is not answered by the success of another operation', async () => {
		const body = { planId: pro, email: EMMA };
		const path = { path: 'plan/upgrade', specifyBody: 'json', jsonBody: JSON.stringify(body) };
		await run({ ...customSend, ...path, sendOnceKey: 'payment-1' }, { node: { id: 'custom' } });
		const { failures } = await keyed(body);
		expect(failures).toMatchObject([{ id: 'key.claimed' }]);
		expect(sent()).toEqual([EMMA]);
	});

	test('whose outcome is unknown is not sent again', async () => {
		sandbox().faults.add({ path: '/plan/upgrade', answer: { status: 502 } });
		const items = [1, 2].map(() => ({ email: EMMA, planId: pro }));
		const { failures } = await keyed(...items);
		expect(failures).toMatchObject([{ id: 'service.unavailable' }, { id: 'key.claimed' }]);
		expect(sent()).toEqual([EMMA]);
	}, 60_000);

	test('is not sent where n8n keeps all keys in one row', async () => {
		processedData.names = () => 'one row';
		const items = ['payment-1', 'payment-2'].map((key) => ({ email: EMMA, planId: pro, key }));
		for (let times = 0; times < 2; times++) {
			await upgrade(items, { parameters: { sendOnceKey: '={{ $json.key }}' }, node: GOES_ON });
		}
		// The first is sent, as nothing is there yet; no other one is taken for sent.
		expect(sent()).toEqual([EMMA]);
	});
});

describe('Max Upgrades', () => {
	const items = Array.from({ length: 101 }, (_, index) => ({
		email: `user-${index}@example.com`,
		planId: pro,
	}));

	test.each(['stopWorkflow', 'continueErrorOutput'] as const)(
		'fails a run with more items before the first is sent, under %s',
		async (onError) => {
			const { error, failures } = await upgrade(items, { node: { onError } });
			const message = 'The run has 101 items, and at most 100 may be upgraded';
			const [told] = error ? [error] : failures;
			expect(told).toMatchObject({
				message: expect.stringContaining(message) as string,
				description: expect.stringContaining('raise Max Upgrades in Options') as string,
			});
			expect(sent()).toEqual([]);
		},
	);

	test('can be raised', async () => {
		const parameters = { options: { maxUpgrades: 101 } };
		await upgrade(items, { parameters, node: GOES_ON });
		expect(sent()).toHaveLength(101);
	});
});
