import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startSandbox } from '../../sandbox/server.mts';
import { runNode, shownHints } from '../support/engine.mts';
import { userGet } from '../support/parameters.mts';

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

test('an upgrade that returns seconds says so', async () => {
	for (const options of [{}, { timestamps: 'unix' }]) {
		expect(await shown({ ...upgrade, options }, items(1))).toEqual([SECONDS]);
	}
	expect(await shown({ ...upgrade, options: { timestamps: 'iso' } }, items(1))).toEqual([]);
	expect(await shown({ resource: 'plan' }, items(1))).toEqual([SECONDS]);
	expect(await shown({ resource: 'resume', operation: 'get' }, items(1))).toEqual([]);
});

test('a write that runs with Retry On Fail on says what is not sent again', async () => {
	const sandbox = await startSandbox({ port: 0 });
	const hintsOf = async (parameters: INodeParameters, node: object) => {
		const credential = { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live };
		const { run } = await runNode({ parameters, credential, node });
		return run.data.resultData.runData['Resume Management']![0]!.hints;
	};
	const email = 'emma.larsen@example.com';
	const purchase = { ...upgrade, email, planId: SANDBOX_PLANS.pro };
	try {
		expect(await hintsOf(purchase, { retryOnFail: true })).toEqual([
			{
				message: expect.stringContaining('does not send an item again') as string,
				location: 'outputPane',
			},
		]);
		expect(await hintsOf(purchase, {})).toEqual([]);
		expect(await hintsOf(userGet('user-001'), { retryOnFail: true })).toEqual([]);
	} finally {
		await sandbox.close();
	}
});
