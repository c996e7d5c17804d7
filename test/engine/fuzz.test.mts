import fc from 'fast-check';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';

import { offered } from '../support/operations.mts';
import { byEmail } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/**
 * Each parameter of each operation with values of all kinds, as an expression may give them: what is no
 * valid value is an error of its item, which names the field, and nothing is sent.
 */

const ANSWER = { status: 'success', data: { plan_id: 'pro', users: [{ id: 1, email: 'a@b' }] } };
const { requests, run } = useRawService(() => http(200, {}, JSON.stringify(ANSWER)));

/** Values that JSON has, and some that only an expression gives. */
const value = fc.oneof(
	fc.jsonValue({ maxDepth: 2 }),
	fc.constantFrom('', ' ', '.', '..', 'a/b', 'a\u0000b', '\ud800', '%2e%2e', 'x'.repeat(5_000)),
	fc.constantFrom(0, -1, 1.5, 1e21, 2 ** 53, -0),
	fc.constantFrom(true, false, null),
);

const UNWANTED = /object%20Object|%5Bobject|\[object|NaN|undefined|Infinity/;

test('every parameter takes what is valid, and refuses the rest with its name', async () => {
	const targets = offered().flatMap(({ fields, parameters }) =>
		fields.flatMap(entriesOf).map((entry) => ({ ...parameters, ...entry('={{ $json.given }}') })),
	);
	expect(targets.length).toBeGreaterThan(40);

	const property = fc.asyncProperty(fc.constantFrom(...targets), value, async (target, given) => {
		const before = requests.length;
		const items = [{ given } as never];
		const { outputs } = await run(target, { items, node: { onError: 'continueRegularOutput' } });
		const sent = requests.slice(before);
		for (const { path, body } of sent) expect(`${path} ${body}`).not.toMatch(UNWANTED);
		const [output, ...others] = outputs[0]!;
		if (sent.length > 0 || output!.json.preview === true) return;
		expect(others).toEqual([]);
		const { message, description } = output!.json.error as Record<string, string>;
		expect(message).not.toMatch(/undefined|TypeError|Cannot read/);
		expect(`${message} ${description}`).not.toMatch(UNWANTED);
	});
	await fc.assert(property, { numRuns: 400 });
}, 120_000);

/** The parameters by which a value comes into a field, for each place in it. */
function entriesOf(field: INodeProperties): Array<(value: string) => INodeParameters> {
	const { name, type, options = [], modes = [], typeOptions } = field;
	const within = (entry: (value: string) => INodeParameters[string]) => (value: string) => ({
		[name]: entry(value),
		// Shown where a user is named by e-mail.
		...(name.startsWith('users') && { userId: byEmail('a@b') }),
	});
	if (type === 'resourceLocator') {
		const located = modes.map((mode) => (value: string) => ({
			__rl: true,
			mode: mode.name,
			value,
		}));
		return [(value: string) => value, ...located].map(within);
	}
	if (type === 'collection') {
		return (options as INodeProperties[]).flatMap(entriesOf).map((entry) => (value) => {
			const { userId, ...option } = entry(value);
			return { [name]: option, ...(userId && { userId }) };
		});
	}
	if (type !== 'fixedCollection') return [within((value) => value)];
	return (options as Array<{ name: string; values: INodeProperties[] }>).flatMap((group) =>
		group.values.map((inner) =>
			within((value) => {
				const entry = { name: 'n', value: 'v', parameterName: 'page', [inner.name]: value };
				return { [group.name]: typeOptions?.multipleValues ? [entry] : entry };
			}),
		),
	);
}
