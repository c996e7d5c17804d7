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
	const paths = (await offered()).flatMap(({ fields, parameters }) =>
		fields.flatMap((field) => pathsOf(field).map((path) => ({ parameters, path }))),
	);
	expect(paths.length).toBeGreaterThan(40);

	const property = fc.asyncProperty(fc.constantFrom(...paths), value, async (target, given) => {
		const before = requests.length;
		const { outputs } = await run(withValue(target.parameters, target.path), {
			items: [{ given } as never],
			node: { onError: 'continueRegularOutput' },
		});
		const sent = requests.slice(before);
		for (const { path, body } of sent) expect(`${path} ${body}`).not.toMatch(UNWANTED);
		const items = outputs[0]!;
		if (sent.length === 0) {
			expect(items).toHaveLength(1);
			if (items[0]!.json.preview === true) return;
			const { message, description } = items[0]!.json.error as Record<string, string>;
			expect(message).not.toMatch(/undefined|TypeError|Cannot read/);
			expect(`${message} ${description}`).not.toMatch(UNWANTED);
		}
	});
	await fc.assert(property, { numRuns: 400 });
}, 120_000);

/** The paths of what can be entered in a field. */
function pathsOf({ name, type, options = [], modes = [] }: INodeProperties): string[][] {
	if (type === 'resourceLocator') return [[name], ...modes.map((mode) => [name, mode.name])];
	if (type === 'collection') {
		return (options as INodeProperties[]).flatMap((entry) =>
			pathsOf(entry).map((path) => [name, ...path]),
		);
	}
	if (type === 'fixedCollection') {
		return (options as Array<{ name: string; values: INodeProperties[] }>).flatMap((group) =>
			group.values.map((entry) => [name, group.name, entry.name]),
		);
	}
	return [[name]];
}

function withValue(parameters: INodeParameters, [name, ...rest]: string[]): INodeParameters {
	const expression = '={{ $json.given }}';
	if (rest.length === 0) return { ...parameters, [name!]: expression };
	if (name === 'options') {
		const entry = { name: 'n', value: 'v', [rest[2]!]: expression };
		const group = /pagination/i.test(rest[0]!) ? { parameterName: 'page', ...entry } : [entry];
		const option = rest.length === 1 ? expression : { [rest[1]!]: group };
		return {
			...parameters,
			// Shown where a user is named by e-mail.
			...(rest[0]!.startsWith('users') && { userId: byEmail('a@b') }),
			options: { [rest[0]!]: option },
		};
	}
	if (rest.length === 1) {
		return { ...parameters, [name!]: { __rl: true, mode: rest[0]!, value: expression } };
	}
	const entry = { name: 'n', value: 'v', [rest[1]!]: expression };
	return { ...parameters, [name!]: { [rest[0]!]: [entry] } };
}
