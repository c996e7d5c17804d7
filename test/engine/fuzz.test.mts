import fc from 'fast-check';
import type { INodeParameters, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { loadNodeType, runNode } from '../support/engine.mts';
import { http, type RawServer, startRawServer } from '../support/rawServer.mts';

/**
 * Each parameter of each operation with values of all kinds, as an expression may give them: what is no
 * valid value is an error of its item, which names the field, and nothing is sent.
 */

let server: RawServer;
beforeAll(async () => {
	server = await startRawServer((socket) => {
		const body = { status: 'success', data: { plan_id: 'pro', users: [{ id: 1, email: 'a@b' }] } };
		socket.end(http(200, { 'Content-Type': 'application/json' }, JSON.stringify(body)));
	});
});
afterAll(() => server.close());

const VALID: INodeParameters = {
	userId: { __rl: true, mode: 'id', value: '1' },
	resumeId: { __rl: true, mode: 'id', value: '1' },
	email: 'nathan@example.com',
	planId: 'pro',
	path: 'connect',
	method: 'POST',
	binaryPropertyName: 'data',
};

/** Values that JSON has, and some that only an expression gives. */
const value = fc.oneof(
	fc.jsonValue({ maxDepth: 2 }),
	fc.constantFrom('', ' ', '.', '..', 'a/b', 'a\u0000b', '\ud800', '%2e%2e', 'x'.repeat(5_000)),
	fc.constantFrom(0, -1, 1.5, 1e21, 2 ** 53, -0),
	fc.constantFrom(true, false, null),
);

const UNWANTED = /object%20Object|%5Bobject|\[object|NaN|undefined|Infinity/;

test('every parameter takes what is valid, and refuses the rest with its name', async () => {
	const { properties } = (await loadNodeType('resumeManagement')).description;
	const operations = properties
		.filter(({ name }) => name === 'operation')
		.flatMap(({ displayOptions, options }) =>
			(options as INodePropertyOptions[]).map(({ value: operation }) => ({
				resource: displayOptions!.show!.resource![0] as string,
				operation: String(operation),
			})),
		);
	const fieldsOf = ({ resource, operation }: (typeof operations)[number]) =>
		properties.filter(({ displayOptions, type, name }) => {
			const { resource: resources, operation: shown } = displayOptions?.show ?? {};
			const isInput = type !== 'notice' && name !== 'toolDescription';
			return isInput && resources?.includes(resource) && shown?.includes(operation);
		});
	const paths = operations.flatMap((operation) =>
		fieldsOf(operation).flatMap((field) => pathsOf(field).map((path) => ({ operation, path }))),
	);
	expect(paths.length).toBeGreaterThan(40);

	const property = fc.asyncProperty(fc.constantFrom(...paths), value, async (target, given) => {
		const before = server.requests.length;
		const { outputs } = await runNode({
			parameters: withValue({ ...VALID, ...target.operation }, target.path),
			credential: { baseUrl: `http://127.0.0.1:${server.port}/v1`, privateKey: 'private-key' },
			items: [{ given } as never],
			node: { onError: 'continueRegularOutput' },
		});
		const sent = server.requests.slice(before);
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
			...(rest[0]!.startsWith('users') && { userId: { __rl: true, mode: 'email', value: 'a@b' } }),
			options: { [rest[0]!]: option },
		};
	}
	if (rest.length === 1) {
		return { ...parameters, [name!]: { __rl: true, mode: rest[0]!, value: expression } };
	}
	const entry = { name: 'n', value: 'v', [rest[1]!]: expression };
	return { ...parameters, [name!]: { [rest[0]!]: [entry] } };
}
