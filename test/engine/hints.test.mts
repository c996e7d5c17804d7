import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { shownHints } from '../support/engine.mts';

/** Which hints n8n's editor shows, by evaluating their conditions as it does. */

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
