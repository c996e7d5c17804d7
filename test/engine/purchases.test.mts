import { setTimeout as sleep } from 'node:timers/promises';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { processedData } from '../support/deduplication.mts';
import type { EngineRun } from '../support/engine.mts';
import { shared } from '../support/environment.mts';
import { customSend, getToken, getUsers, planUpgrade } from '../support/parameters.mts';
import { useRawService, useSandbox } from '../support/service.mts';

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

const customUpgrade = { ...customSend, path: 'plan/upgrade', specifyBody: 'json' };
const preview = '={{ $json.preview ?? false }}';
const previewOf = (item: object) => ({ ...item, preview: true });
const atMost = (maxUpgrades: number) => ({ parameters: { options: { maxUpgrades } } });
const four = [forEmma, forEmmaAgain, { ...forEmma, planId: basic }, forNoah];
const both = [forEmma, forNoah];
const twice = [forEmma, forEmma];
const previewedFirst = [...both.map(previewOf), forNoah];
const invalid = [{ ...forEmma, email: 'nobody' }, { ...forEmma, planId: ' ' }, forNoah, forNoah];
const REPEATED = ['write.repeated'];
const INVALID = ['parameter.notAnEmail', 'parameter.empty', 'write.repeated'];
const TOO_MANY = ['write.tooMany', 'write.tooMany'];
const accounts = [SANDBOX_KEYS.live, 'another'].map((key) => ({ ...forEmma, key }));
const byItem = () => ({ credential: { ...credential(), privateKey: '={{ $json.key }}' } });
const byIndex = { sendOnceKey: '={{ $itemIndex }}' };
const byExecute = () => ({ byExecute: true });

type More = { parameters?: object; rest?: () => Partial<EngineRun> };
test.each<[name: string, items: object[], sends: string[], fails?: string[], more?: More]>([
	['a second item for an email and a plan is not sent', four, [EMMA, EMMA, NOAH], REPEATED],
	["… nor by n8n's step executor", four, [EMMA, EMMA, NOAH], REPEATED, { rest: byExecute }],
	['… nor with another private key', accounts, [EMMA], REPEATED, { rest: byItem }],
	['an item with another key is sent', twice, [EMMA, EMMA], [], { parameters: byIndex }],
	['an upgrade is sent after its preview', [previewOf(forEmma), forEmma], [EMMA]],
	['an item that could not be sent fails in a preview, too', invalid.map(previewOf), [], INVALID],
	['previews do not count for Max Upgrades', previewedFirst, [NOAH], [], atMost(1)],
	['a run with as many items as Max Upgrades sends them', both, [EMMA, NOAH], [], atMost(2)],
	['a run with more items than Max Upgrades sends nothing', both, [], TOO_MANY, atMost(1)],
])('%s', async (_, items, sends, fails = [], { parameters, rest } = {}) => {
	const { failures } = await upgrade(items, { preview, ...parameters }, rest?.());
	expect(sent()).toEqual(sends);
	expect(failures).toMatchObject(fails.map((id) => ({ id })));
});

test('a purchase is made once in a run, though the credential can not be read at first', async () => {
	const node = { ...CONTINUES, retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
	const items = [{ ...forEmma, email: 'nobody' }, forEmma, forEmma];
	await upgrade(items, {}, { node, failingCredentialReads: [0, 1] });
	expect(sent()).toEqual([EMMA]);
});

test('with On Error = Stop, the error of Max Upgrades is that of the node', async () => {
	const { error } = await upgrade(Array<object>(101).fill(forEmma), {}, { node: {} });
	expect(error).toMatchObject({
		// n8n's class for a setting; one for a request would look as if the service had refused it.
		name: 'NodeOperationError',
		message: 'The run has 101 items, and at most 100 may be upgraded',
		description: expect.stringContaining("raise 'Max Upgrades' in Options") as string,
	});
	expect(sent()).toEqual([]);
});

test('a preview has the request of its item, which is not sent, and claims no key', async () => {
	const items = [{ ...forEmma, email: ` ${EMMA} `, aiTokenId: 'ai_1', preview: true }, forNoah];
	const parameters = { preview, ...byIndex };
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
		const { failures } = await upgrade(twice, keyed);
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

describe("the success of a Send Once Key, if n8n's database is locked from the request on", () => {
	/** Milliseconds of the lock, and of the pauses since it began, which take no time. */
	let locked: number;
	let waited: number;
	let cancel: AbortController | undefined;
	const service = useRawService(() => {
		processedData.isFull = true;
		return { status: 'success', data: { plan_id: pro } };
	});
	const paid = { ...planUpgrade, email: EMMA, planId: pro, sendOnceKey: 'payment-1' };
	const pay = async (signal?: AbortSignal) => await service.run(paid, { node: CONTINUES, signal });

	beforeEach(() => {
		waited = 0;
		cancel = undefined;
		const { setTimeout } = shared;
		const begin = Date.now();
		jest.spyOn(shared.Date, 'now').mockImplementation(() => begin + waited);
		jest.spyOn(shared, 'setTimeout').mockImplementation(((run: () => void, delay = 0) => {
			if (!processedData.isFull) return setTimeout(run, delay);
			cancel?.abort();
			waited += delay;
			processedData.isFull = waited < locked;
			return setTimeout(run);
		}) as typeof setTimeout);
	});

	test('is stored after half a minute, which a backup may take', async () => {
		locked = 30_000;
		expect(await pay()).toMatchObject({ items: [{ billed: true }], hints: [] });
		expect(await pay()).toMatchObject({ items: [{ alreadySent: true }], hints: [] });
		expect(service.requests).toHaveLength(1);
	});

	test('is stored by a cancelled run, too', async () => {
		locked = 30_000;
		cancel = new AbortController();
		await pay(cancel.signal);
		while (processedData.isFull) await sleep(10);
		expect((await pay()).items).toMatchObject([{ alreadySent: true }]);
		expect(service.requests).toHaveLength(1);
	});

	test('is given up after a minute, and a hint says so', async () => {
		locked = Infinity;
		const hints = [expect.stringMatching(/^The success of a Send Once Key could not be stored/)];
		expect(await pay()).toMatchObject({ items: [{ billed: true }], hints });
		expect(waited).toBe(60_000);
	});
});

test.each([
	[planUpgrade, [expect.stringMatching(/^Retry On Fail is on.*, unless Send Once Key is set\.$/)]],
	[getToken, [expect.stringMatching(/^Retry On Fail is on.*executions\.$/)]],
	[getUsers, []],
])('a hint says what Retry On Fail does for a write', async (parameters, hints) => {
	const retried = await run(parameters, { node: { ...CONTINUES, retryOnFail: true, maxTries: 2 } });
	expect([retried.hints, (await run(parameters)).hints]).toEqual([hints, []]);
});
