import { setTimeout } from 'node:timers/promises';

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

	test('claims no key', async () => {
		// Here n8n has no database to claim one in.
		const keyed = { ...parameters, sendOnceKey: 'payment-1' };
		const { items } = await upgrade([{ email: EMMA, planId: pro }], { parameters: keyed });
		expect(items).toEqual([shown(EMMA)]);
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

	test('is told by more than the case of A to Z', async () => {
		const emails = ['\u212Aate@example.com', 'kate@example.com', 'KATE@example.com'];
		const items = emails.map((email) => ({ email, planId: pro }));
		await upgrade(items, { node: GOES_ON });
		expect(sent()).toEqual(emails.slice(0, 2));
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
	const keyed = (options: object, ...items: object[]) =>
		upgrade(items, {
			parameters: { sendOnceKey: 'payment-1', options: options as never },
			node: { id: 'upgrade', ...GOES_ON },
		});

	test('is not answered by the success of another operation', async () => {
		const body = { planId: pro, email: EMMA };
		const path = { path: 'plan/upgrade', specifyBody: 'json', jsonBody: JSON.stringify(body) };
		await run({ ...customSend, ...path, sendOnceKey: 'payment-1' }, { node: { id: 'custom' } });
		const { failures } = await keyed({}, body);
		expect(failures).toMatchObject([{ id: 'key.otherRequest' }]);
		expect(sent()).toEqual([EMMA]);
	});

	test('with a success is not sent again, whatever became of an earlier claim', async () => {
		const body = { email: EMMA, planId: pro };
		const refusal = JSON.stringify({ status: 'error', errorCode: 'plan-upgrade-2' });
		// Longer than the other execution waits for it.
		const fault = { delayMs: 12_000, times: 1, answer: { status: 401, body: refusal } };
		sandbox().faults.add({ path: '/plan/upgrade', ...fault });
		const first = keyed({}, body);
		while (sent().length === 0) await setTimeout(10);
		const again = await keyed({ sendUnsettledKeysAgain: true }, body);
		expect(again.items).toMatchObject([{ plan_id: pro }]);
		expect((await first).failures).toMatchObject([{ code: 'plan-upgrade-2' }]);
		expect((await keyed({}, body)).items).toMatchObject([{ alreadySent: true }]);
		expect(sent()).toEqual([EMMA, EMMA]);
	}, 60_000);

	test('that this run has claimed is not sent again by Send Unsettled Keys Again', async () => {
		sandbox().faults.add({ path: '/plan/upgrade', answer: { status: 502 } });
		const items = [1, 2].map(() => ({ email: EMMA, planId: pro }));
		const { failures } = await keyed({ sendUnsettledKeysAgain: true }, ...items);
		const ids = ['service.unavailable', 'key.unsettled'];
		expect(failures).toMatchObject(ids.map((id) => ({ id })));
		expect(sent()).toEqual([EMMA]);
	}, 60_000);
});
