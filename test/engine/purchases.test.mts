import type { INodeParameters } from 'n8n-workflow';

import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { type Sandbox, startSandbox } from '../../sandbox/server.mts';
import { callTool, type EngineRun, runNode } from '../support/engine.mts';
import { planUpgrade } from '../support/parameters.mts';

/** What keeps a person from buying what was not meant: a preview, and no upgrade twice in a run. */

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await startSandbox({ port: 0, record: true });
});
beforeEach(() => {
	sandbox.requests.length = 0;
	sandbox.faults.clear();
});
afterAll(() => sandbox.close());

const { pro, basic } = SANDBOX_PLANS;
const EMMA = 'emma.larsen@example.com';
const NOAH = 'noah.fischer@example.com';

const upgrade = (
	items: object[],
	{ parameters = {}, ...rest }: Partial<EngineRun> = {},
	privateKey: string = SANDBOX_KEYS.live,
) =>
	runNode({
		parameters: { ...planUpgrade, ...parameters },
		credential: { baseUrl: sandbox.baseUrl, privateKey },
		items: items as never,
		...rest,
	});
const sent = () =>
	sandbox.requests.map(({ body }) => (JSON.parse(body) as { email: string }).email);

describe('Preview', () => {
	const preview = { preview: true };
	const shown = (email: string, more = {}) => ({
		preview: true,
		method: 'POST',
		path: '/plan/upgrade',
		body: { planId: pro, email, ...more },
	});

	test.each([
		['run', {}],
		['loop', { byExecute: true }],
		['Retry On Fail', { node: { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 } }],
	])('shows what would be sent, and sends nothing: %s', async (_, entry) => {
		const items = [
			{ email: ` ${EMMA} `, planId: pro, aiTokenId: 'ai_1' },
			{ email: NOAH, planId: pro },
		];
		const { outputs, error } = await upgrade(items, { parameters: preview, ...entry });
		expect(error).toBeUndefined();
		expect(outputs[0]).toEqual([
			{ json: shown(EMMA, { aiTokenId: 'ai_1' }), pairedItem: { item: 0 } },
			{ json: shown(NOAH), pairedItem: { item: 1 } },
		]);
		expect(sandbox.requests).toEqual([]);
	});

	test('is for the items that ask for it', async () => {
		const items = [
			{ email: EMMA, planId: pro, preview: true },
			{ email: EMMA, planId: pro, preview: false },
		];
		const { outputs } = await upgrade(items, { parameters: { preview: '={{ $json.preview }}' } });
		expect(outputs[0]!.map(({ json }) => json.preview ?? json.plan_id)).toEqual([true, pro]);
		expect(sent()).toEqual([EMMA]);
	});

	test('claims no key', async () => {
		// Here n8n has no database to claim one in.
		const parameters = { ...preview, sendOnceKey: 'payment-1' };
		const { outputs } = await upgrade([{ email: EMMA, planId: pro }], { parameters });
		expect(outputs[0]![0]!.json).toEqual(shown(EMMA));
	});

	test('does not show the key, whatever holds it', async () => {
		const { live } = SANDBOX_KEYS;
		const { outputs } = await upgrade([{ email: EMMA, planId: `x${live}` }], {
			parameters: preview,
		});
		expect(outputs[0]![0]!.json.body).toEqual({ planId: 'x[hidden]', email: EMMA });
	});

	test('fails for what could not be sent', async () => {
		const items = [
			{ email: 'nobody', planId: pro },
			{ email: EMMA, planId: ' ' },
			{ email: NOAH, planId: pro },
			{ email: NOAH, planId: pro },
		];
		const { outputs } = await upgrade(items, {
			parameters: preview,
			node: { onError: 'continueErrorOutput' },
		});
		expect(outputs.map((output) => output.map(({ pairedItem }) => pairedItem))).toEqual([
			[{ item: 2 }],
			[{ item: 0 }, { item: 1 }, { item: 3 }],
		]);
		const { error } = await upgrade([items[2]!], { parameters: preview }, 'a b');
		expect(error?.message).toBe("The credential's Private Key can't be used");
	});

	test.each(['{{ $json.missing }}', '{{ "false" }}', '{{ null }}', '{{ 0 }}', '{{ "" }}'])(
		'sends nothing where %s leaves it open',
		async (expression) => {
			for (const parameters of [
				{ preview: `=${expression}` },
				{ options: { allowRepeatedUpgrades: `=${expression}` } },
			] as INodeParameters[]) {
				const { error } = await upgrade([{ email: EMMA, planId: pro }], { parameters });
				expect(error?.message).toMatch(
					/^'(Preview|Allow Repeated Upgrades)' is neither true nor false \[item 0\]$/,
				);
			}
			expect(sandbox.requests).toEqual([]);
		},
	);

	test("is there for an agent's tool", async () => {
		const parameters = { ...planUpgrade, toolDescription: 'A tool', email: EMMA, planId: pro };
		const [answer] = await callTool({
			parameters: { ...parameters, aiTokenId: '', ...preview },
			credential: { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live },
		});
		expect(JSON.parse(answer!.answer as string)).toEqual([shown(EMMA)]);
		expect(sandbox.requests).toEqual([]);
	});
});

describe('the same upgrade in two items', () => {
	const same = [
		{ email: EMMA, planId: pro },
		{ email: ` ${EMMA.toUpperCase()}`, planId: `${pro} ` },
	];
	const goesOn = { onError: 'continueErrorOutput' } as const;
	const refusal = 'Item 0 is for the same upgrade, so this one was not sent [item 1]';

	test('stops the node before the first is sent', async () => {
		const { error } = await upgrade(same);
		expect(error?.message).toBe(refusal);
		expect(error?.description).toContain('Allow Repeated Upgrades');
		expect(error?.description).toContain('No item was applied. Not sent: item 0.');
		expect(sandbox.requests).toEqual([]);
	});

	test.each([
		['run', {}],
		['loop', { byExecute: true }],
	])('fails the second under On Error = Continue: %s', async (_, entry) => {
		const items = [...same, { email: EMMA, planId: basic }, { email: NOAH, planId: pro }];
		const { outputs } = await upgrade(items, { node: goesOn, ...entry });
		expect(outputs[0]!.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 2, 3].map((item) => ({ item })),
		);
		expect(outputs[1]).toEqual([
			expect.objectContaining({
				pairedItem: { item: 1 },
				json: expect.objectContaining({
					error: expect.objectContaining({ message: refusal, httpStatus: null }) as unknown,
				}) as unknown,
			}),
		]);
		expect(sent()).toEqual([EMMA, EMMA, NOAH]);
	});

	test.each([
		['ΟΔΟΣ@example.com', 'οδοσ@example.com'],
		['\u00e9@example.com', 'E\u0301@example.com'],
		['\u212Aate@example.com', 'kate@example.com'],
	])('is one for letters that a person can not tell apart: %s, %s', async (...emails) => {
		const items = emails.map((email) => ({ email, planId: pro }));
		const { outputs } = await upgrade(items, { node: goesOn });
		expect(sent()).toEqual([emails[0]]);
		expect(outputs.flat()).toHaveLength(2);
	});

	test('is sent twice where that is allowed', async () => {
		const parameters = { options: { allowRepeatedUpgrades: true } };
		const { error } = await upgrade(same, { parameters });
		expect(error).toBeUndefined();
		expect(sent()).toHaveLength(2);
	});

	test('is told by the Send Once Keys, where there are some', async () => {
		const parameters = { sendOnceKey: '={{ $itemIndex }}' };
		const { outputs } = await upgrade(same, { parameters, node: goesOn });
		// Here n8n has no database to claim them in.
		expect(outputs[1]!.map(({ json }) => (json.error as { message: string }).message)).toEqual(
			Array(2).fill('The key could not be claimed, so nothing was sent'),
		);
	});

	test.each([1, 2])('is sent once by Retry On Fail, after %d failures', async (times) => {
		sandbox.faults.add({
			email: EMMA,
			times,
			answer: { status: 401, body: JSON.stringify({ status: 'error', errorCode: 'E' }) },
		});
		const { outputs } = await upgrade(same, {
			node: {
				onError: 'continueRegularOutput',
				retryOnFail: true,
				maxTries: 4,
				waitBetweenTries: 1,
			},
		});
		expect(outputs[0]!.map(({ json }) => json.plan_id)).toEqual([pro, undefined]);
		expect(sent()).toHaveLength(1 + times);
	});
});
