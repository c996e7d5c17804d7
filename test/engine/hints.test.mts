import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { shownHints } from '../support/engine.mts';
import { userGet } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

/** Which hints n8n's editor shows: it evaluates the conditions of some, and a run adds others. */

const items = (count: number): INodeExecutionData[] =>
	Array.from({ length: count }, () => ({ json: {} }));
const upgrade = { resource: 'plan', operation: 'upgrade' };

async function shown(parameters: INodeParameters, input: INodeExecutionData[]) {
	return (await shownHints(parameters, input)).map(({ message }) => message);
}
const MANY = expect.stringContaining('More than 1,000 items') as string;
const SECONDS = expect.stringContaining('Unix timestamps in seconds') as string;

test('1,000 items are none too many, and 1,001 are', async () => {
	expect(await shown({}, [])).toEqual([]);
	expect(await shown({}, items(1_000))).toEqual([]);
	expect(await shown({}, items(1_001))).toEqual([MANY]);
});

describe('hints of a run', () => {
	const service = useSandbox();
	const hintsOf = async (parameters: INodeParameters, node: object = {}) =>
		(await service.run(parameters, { node })).hints;
	const purchase = { ...upgrade, email: 'emma.larsen@example.com', planId: SANDBOX_PLANS.pro };

	test('an upgrade that returns seconds says so', async () => {
		expect(await hintsOf(purchase)).toEqual([SECONDS]);
		expect(await hintsOf({ ...purchase, options: { timestamps: 'unix' } })).toEqual([SECONDS]);
		expect(await hintsOf({ ...purchase, options: { timestamps: 'iso' } })).toEqual([]);
	});

	test('an upgrade that failed says nothing of the times that it did not return', async () => {
		const failing = { ...purchase, planId: 'no-such-plan' };
		expect(await hintsOf(failing, { onError: 'continueRegularOutput' })).toEqual([]);
	});

	test('a write that runs with Retry On Fail on says what is not sent again', async () => {
		expect(await hintsOf(purchase, { retryOnFail: true })).toEqual([
			expect.stringContaining('does not send an item again'),
			SECONDS,
		]);
		expect(await hintsOf(userGet('user-001'), { retryOnFail: true })).toEqual([]);
	});
});
