import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { shownHints } from '../support/engine.mts';
import { upgrade, userGet } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

/** Which hints n8n's editor shows: it evaluates the conditions of some, and a run adds others. */

test.each([
	[1_000, []],
	[1_001, [expect.stringContaining('More than 1,000 items')]],
])('%d items', async (length, expected) => {
	const items = Array.from({ length }, () => ({ json: {} }));
	const hints = await shownHints(items);
	expect(hints.map(({ message }) => message)).toEqual(expected);
});

const { run } = useSandbox();
const purchase = { ...upgrade, email: 'emma.larsen@example.com', planId: SANDBOX_PLANS.pro };
const failing = { ...purchase, planId: 'no-such-plan' };
const SECONDS = expect.stringContaining('Unix timestamps in seconds') as string;
const RETRIES = expect.stringContaining('does not send an item again') as string;
const retryOnFail = { retryOnFail: true };

test.each<[string, object, hints: string[], node?: object]>([
	['an upgrade that returns seconds', purchase, [SECONDS]],
	['an upgrade that returns ISO 8601', { ...purchase, options: { timestamps: 'iso' } }, []],
	['an upgrade that failed', failing, [], { onError: 'continueRegularOutput' }],
	['a write with Retry On Fail', purchase, [RETRIES, SECONDS], retryOnFail],
	['a read with Retry On Fail', userGet('user-001'), [], retryOnFail],
])('%s', async (_, parameters, hints, node = {}) => {
	expect((await run(parameters as never, { node })).hints).toEqual(hints);
});
