import type { INodeParameters } from 'n8n-workflow';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { processedData } from '../support/deduplication.mts';
import type { EngineRun } from '../support/engine.mts';
import { shared } from '../support/environment.mts';
import { customSend, getToken, getUsers, planUpgrade } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

/** Safeguards against an unintended purchase: Preview, Max Upgrades, Send Once Key, and no upgrade twice in a run. */

const { credential, run, sandbox } = useSandbox();

beforeEach(() => {
	processedData.clear();
	// The clock runs ahead, so that nobody waits long for a key that is claimed.
	let now = Date.now();
	jest.spyOn(shared.Date, 'now').mockImplementation(() => (now += 5_000));
});
afterEach(() => void jest.restoreAllMocks());

const { pro, basic } = SANDBOX_PLANS;
const EMMA = 'emma.larsen@example.com';
const NOAH = 'noah.fischer@example.com';
const forEmma = { email: EMMA, planId: pro };
const forNoah = { email: NOAH, planId: pro };
const forEmmaAgain = { email: ` ${EMMA.toUpperCase()}`, planId: `${pro} `, aiTokenId: 'ai' };

const CONTINUES = { onError: 'continueErrorOutput' } as const;
const upgrade = (items: object[], parameters = {}, rest: Partial<EngineRun> = {}) =>
	run({ ...planUpgrade, ...parameters }, { items: items as never, node: CONTINUES, ...rest });
const sent = () =>
	sandbox().requests.map(({ body }) => (JSON.parse(body) as { email: string }).email);

interface Safeguard {
	items: object[];
	parameters?: INodeParameters;
	rest?: () => Partial<EngineRun>;
	sends: string[];
	fails?: string[];
}

const secondItem: Safeguard = {
	items: [forEmma, forEmmaAgain, { ...forEmma, planId: basic }, forNoah],
	sends: [EMMA, EMMA, NOAH],
	fails: ['write.repeated'],
};
const customUpgrade = { ...customSend, path: 'plan/upgrade', specifyBody: 'json' };
const safeguards: Record<string, Safeguard> = {
	'a second item for the same email and plan is not sent': secondItem,
	"… nor by n8n's step executor": { ...secondItem, rest: () => ({ byExecute: true }) },
	'a second item for another account is sent': {
		items: [SANDBOX_KEYS.live, 'another'].map((key) => ({ ...forEmma, key })),
		rest: () => ({ credential: { ...credential(), privateKey: '={{ $json.key }}' } }),
		sends: [EMMA, EMMA],
		fails: ['service.unauthorized'],
	},
	'a second item with another Send Once Key is sent': {
		items: [forEmma, forEmma],
		parameters: { sendOnceKey: '={{ $itemIndex }}' },
		sends: [EMMA, EMMA],
	},
	'an upgrade is sent after its preview': {
		items: [{ ...forEmma, preview: true }, forEmma],
		parameters: { preview: '={{ $json.preview ?? false }}' },
		sends: [EMMA],
	},
	'an item that could not be sent fails in a preview too': {
		items: [{ ...forEmma, email: 'nobody' }, { ...forEmma, planId: ' ' }, forNoah, forNoah],
		parameters: { preview: true },
		sends: [],
		fails: ['parameter.notAnEmail', 'parameter.empty', 'write.repeated'],
	},
	'previews do not count for Max Upgrades': {
		items: [{ preview: true, ...forEmma }, { preview: true, ...forNoah }, forNoah],
		parameters: { preview: '={{ $json.preview ?? false }}', options: { maxUpgrades: 1 } },
		sends: [NOAH],
	},
	'a run with as many items as Max Upgrades sends them': {
		items: [forEmma, forNoah],
		parameters: { options: { maxUpgrades: 2 } },
		sends: [EMMA, NOAH],
	},
	'a run with more items than a lower Max Upgrades sends nothing': {
		items: [forEmma, forNoah],
		parameters: { options: { maxUpgrades: 1 } },
		sends: [],
		fails: ['write.tooMany', 'write.tooMany'],
	},
};

test.each(Object.entries(safeguards))('%s', async (_, { items, parameters, rest, ...expected }) => {
	const { failures } = await upgrade(items, parameters, rest?.());
	expect(sent()).toEqual(expected.sends);
	expect(failures).toMatchObject((expected.fails ?? []).map((id) => ({ id })));
});

test('with On Error = Stop, the error of Max Upgrades is that of the node', async () => {
	const { error } = await upgrade(Array<object>(101).fill(forEmma), {}, { node: {} });
	expect(error).toMatchObject({
		// n8n's class for a setting; one for a request would look as if the service had refused it.
		name: 'NodeOperationError',
		message: 'The run has 101 items, and at most 100 may be upgraded',
		description: expect.stringContaining('raise Max Upgrades in Options') as string,
	});
	expect(sent()).toEqual([]);
});

test('a preview has the request of its item, which is not sent, and claims no key', async () => {
	const items = [{ ...forEmma, email: ` ${EMMA} `, aiTokenId: 'ai_1', preview: true }, forNoah];
	const parameters = { preview: '={{ $json.preview ?? false }}', sendOnceKey: '={{ $itemIndex }}' };
	const request = { preview: true, method: 'POST', path: '/plan/upgrade' };
	const shown = { ...request, body: { ...forEmma, aiTokenId: 'ai_1' } };
	for (const next of [{ plan_id: pro }, { alreadySent: true }]) {
		expect((await upgrade(items, parameters)).items).toMatchObject([shown, next]);
	}
	expect(sent()).toEqual([NOAH]);
	processedData.isThere = false;
	const { failures } = await upgrade(items, parameters);
	expect(failures).toMatchObject([{ id: 'key.notClaimed' }, { id: 'key.notClaimed' }]);
});

describe('a Send Once Key', () => {
	const keyed = { sendOnceKey: '={{ $json.key ?? "payment-1" }}' };

	test('is not sent after the success of another operation', async () => {
		const jsonBody = JSON.stringify({ planId: pro, email: EMMA });
		await run({ ...customUpgrade, ...keyed, jsonBody }, { node: { id: 'custom' } });
		const { failures } = await upgrade([forEmma], keyed);
		expect(failures).toMatchObject([{ id: 'key.claimed' }]);
		expect(sent()).toEqual([EMMA]);
	});

	const rotated = (id = '1'): Partial<EngineRun> => ({
		credential: { ...credential(), privateKey: 'another-private-key' },
		node: { ...CONTINUES, credentials: { resumeManagementApi: { id, name: 'Test' } } },
	});
	const ALREADY_SENT = { items: [{ alreadySent: true }] };
	const CLAIMED = { failures: [{ id: 'key.claimed' }] };
	const byExpression = () => ({
		credential: { ...credential(), privateKey: '={{ $json.other + "-by-item" }}' },
	});

	test.each<[account: string, rest: () => Partial<EngineRun>, expected: object]>([
		['the credential with a new private key', () => rotated(), ALREADY_SENT],
		['one failed read of it', () => ({ failingCredentialReads: [0] }), ALREADY_SENT],
		['another credential', () => rotated('2'), CLAIMED],
		['another key by expression', byExpression, CLAIMED],
	])('that succeeded is not sent again for %s', async (_, rest, expected) => {
		await upgrade([forEmma], keyed);
		expect(await upgrade([{ ...forEmma, other: 'key' }], keyed, rest())).toMatchObject(expected);
		expect(sent()).toEqual([EMMA]);
	});

	test('is not sent again if its outcome is unknown', async () => {
		sandbox().faults.add({ path: '/plan/upgrade', response: { status: 502 } });
		const { failures } = await upgrade([forEmma, forEmma], keyed);
		const used = { id: 'key.claimed', outcome: 'unknown' };
		expect(failures).toMatchObject([{ id: 'service.unavailable' }, used]);
		expect(sent()).toEqual([EMMA]);
	});

	test('is not sent if n8n stores it in the row of another key', async () => {
		processedData.names = () => 'one row';
		const items = [forEmma, forNoah].map((one, key) => ({ ...one, key }));
		expect((await upgrade(items, keyed)).failures).toMatchObject([{ id: 'key.notClaimed' }]);
		expect(sent()).toEqual([EMMA]);
	});

	test('that the database refuses is unused: the item fails at once, and a later run sends it', async () => {
		jest.restoreAllMocks();
		processedData.isFull = true;
		const { failures } = await upgrade([forEmma], keyed);
		const message = 'Nothing was sent, because n8n could not store the Send Once Key';
		const description = expect.stringMatching(/^Nothing was done. Send the item again with the/);
		expect(failures).toMatchObject([{ outcome: 'refused', message, description }]);
		processedData.isFull = false;
		expect((await upgrade([forEmma], keyed)).items).toMatchObject([{ plan_id: pro }]);
		expect(sent()).toEqual([EMMA]);
		// It would take ten seconds to wait for another execution, as for a claimed key.
	}, 9_000);
});

test.each([
	[planUpgrade, [expect.stringMatching(/^Retry On Fail is on.*, unless Send Once Key is set\.$/)]],
	[getToken, [expect.stringMatching(/^Retry On Fail is on.*executions\.$/)]],
	[getUsers, []],
])('a hint says what Retry On Fail does for a write', async (parameters, hints) => {
	const retried = await run(parameters, { node: { ...CONTINUES, retryOnFail: true, maxTries: 2 } });
	expect([retried.hints, (await run(parameters)).hints]).toEqual([hints, []]);
});
