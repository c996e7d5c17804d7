import { processedData } from '../support/deduplication.mts';
import { callTool, type EngineRun } from '../support/engine.mts';
import { shared } from '../support/environment.mts';
import { planUpgrade, upgrade } from '../support/parameters.mts';
import { useRawService } from '../support/service.mts';

/** A write that was confirmed stays applied, also if the node then fails to make its item. */

/** Unix seconds of a time that can't be shown. */
const BAD_TIME = 1_234_567;

const { credential, run, requests } = useRawService(({ body }) => ({
	status: 'success',
	data: { plan_id: 'pro', created: body.includes('bad@') ? BAD_TIME : 1 },
}));

beforeEach(() => {
	processedData.clear();
	const { toISOString } = shared.Date.prototype;
	jest.spyOn(shared.Date.prototype, 'toISOString').mockImplementation(function (this: Date) {
		if (this.getTime() === BAD_TIME * 1000) throw new Error('This time can not be shown');
		return toISOString.call(this);
	});
});
afterEach(() => void jest.restoreAllMocks());

const RETRIES = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
const ISO = { options: { timestamps: 'iso' } };
const KEY = { sendOnceKey: 'payment-1' };
const TEXT =
	'The service did what was asked for, but the node could not show its response. Do not send it again. Please report this to the maintainers of this node.';
const bad = { ...upgrade, ...ISO, email: 'bad@example.com' };
const FAILURE = { id: 'write.notShown', outcome: 'applied' };

const WAYS: Array<[name: string, parameters: object, rest: Partial<EngineRun>]> = [
	['in a run', {}, {}],
	["by n8n's step executor", {}, { byExecute: true }],
	['with a key', KEY, {}],
];

test.each(WAYS)('%s, it is reported as applied, and not sent again', async (_, more, rest) => {
	const { error } = await run({ ...bad, ...more }, { ...rest, node: RETRIES });
	expect(`${error?.message}. ${error?.description}`).toBe(TEXT);
	expect(requests).toHaveLength(1);
});

test.each(WAYS)('%s, also under On Error = Continue', async (_, more, rest) => {
	const node = { ...RETRIES, onError: 'continueErrorOutput' } as const;
	const { failures } = await run({ ...bad, ...more }, { ...rest, node });
	expect(failures).toEqual([expect.objectContaining(FAILURE)]);
	expect(requests).toHaveLength(1);
});

test('the call of a tool is not sent again', async () => {
	const [result] = await callTool({ parameters: bad, credential: credential(), node: RETRIES });
	expect(JSON.parse(String(result!.result))).toEqual([{ error: expect.objectContaining(FAILURE) }]);
	expect(requests).toHaveLength(1);
});

test('its key stays used', async () => {
	await run({ ...bad, ...KEY });
	const { items } = await run({ ...bad, ...KEY });
	const email = 'bad@example.com';
	expect(items).toEqual([{ alreadySent: true, outcome: 'applied', ...KEY, email }]);
	expect(requests).toHaveLength(1);
});

const two = ['bad', 'good'].map((name) => ({ email: `${name}@example.com`, planId: 'pro' }));

test('a run that it stops names it as applied', async () => {
	const { error } = await run({ ...planUpgrade, ...ISO }, { items: two, node: RETRIES });
	expect(error?.description).toContain('Already applied: 1 of 2 (item 0). Not sent: item 1.');
	expect(requests).toHaveLength(1);
});

test("by n8n's step executor, it stops no other item", async () => {
	const rest = { items: two, node: RETRIES, byExecute: true };
	const { error } = await run({ ...planUpgrade, ...ISO }, rest);
	expect(error?.message).toContain('could not show its response');
	expect(requests).toHaveLength(2);
});
