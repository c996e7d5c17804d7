import fc from 'fast-check';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';

import { processedData } from '../support/deduplication.mts';
import { offered } from '../support/operations.mts';
import { byEmail } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/**
 * Each parameter of each operation with values of all kinds, as an expression may return them. An invalid value is an
 * error of its item that begins with the field's name, and nothing is sent.
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
		fields.flatMap(entriesOf).map(({ label, entry }) => ({
			label,
			parameters: { ...parameters, ...entry('={{ $json.given }}') },
		})),
	);
	expect(targets.length).toBeGreaterThan(40);
	const refused = new Set<string>();

	const property = fc.asyncProperty(fc.constantFrom(...targets), value, async (target, given) => {
		// n8n would evaluate such a text in the node that emits the item.
		fc.pre(!/"\s*=/.test(JSON.stringify(given)));
		const { label, parameters } = target;
		requests.length = 0;
		processedData.clear();
		const items = [{ given } as never];
		const { outputs } = await run(parameters, {
			items,
			node: { onError: 'continueRegularOutput' },
		});
		for (const { path, body } of requests) expect(`${path} ${body}`).not.toMatch(UNWANTED);
		const [output, ...others] = outputs[0]!;
		if (requests.length > 0 || output!.json.preview === true) return;
		expect(others).toEqual([]);
		const { message } = output!.json.error as Record<string, string>;
		expect(message).toMatch(new RegExp(`^'${label}(: n)?' (is|holds|has|must be) `));
		refused.add(label);
	});
	await fc.assert(property, { numRuns: 400 });
	expect(refused.size).toBeGreaterThan(15);
}, 120_000);

interface Target {
	/** Name of the field that an error must have. */
	label: string;
	/** Returns the parameters that put a value into the field. */
	entry: (value: string) => INodeParameters;
}

/** Returns the places of a field that take a value. */
function entriesOf(field: INodeProperties): Target[] {
	const { name, displayName, type, options = [], modes = [], typeOptions } = field;
	const at = (entry: (value: string) => INodeParameters[string], label = displayName): Target => ({
		label,
		entry: (value) => ({
			[name]: entry(value),
			// Shown where a user is named by email.
			...(name.startsWith('users') && { userId: byEmail('a@b') }),
		}),
	});
	if (type === 'resourceLocator') {
		const located = modes.map((mode) => at((value) => ({ __rl: true, mode: mode.name, value })));
		return [at((value) => value), ...located];
	}
	if (type === 'collection') {
		return (options as INodeProperties[]).flatMap(entriesOf).map(({ label, entry }) => ({
			label,
			entry: (value) => {
				const { userId, ...option } = entry(value);
				return { [name]: option, ...(userId && { userId }) };
			},
		}));
	}
	if (type !== 'fixedCollection') return [at((value) => value)];
	return (options as Array<{ name: string; values: INodeProperties[] }>).flatMap((group) =>
		group.values.map((inner) =>
			at(
				(value) => {
					const entry = { name: 'n', value: 'v', parameterName: 'page', [inner.name]: value };
					return { [group.name]: typeOptions?.multipleValues ? [entry] : entry };
				},
				typeOptions?.multipleValues ? displayName : inner.displayName,
			),
		),
	);
}
