import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';

import { callTool, loadNodeType, runNode } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import { http, type RawServer, startRawServer } from '../support/rawServer.mts';

/** The option Fields to Return: of each record, the properties at its paths, and nothing else. */

let server: RawServer;
let answer: string;
beforeAll(async () => {
	server = await startRawServer((socket) => void socket.end(http(200, {}, answer)));
});
afterAll(() => server.close());

const OPERATIONS: Record<string, INodeParameters> = {
	'user.get': { userId: byId('1') },
	'user.getAll': { returnAll: true },
	'resume.get': { resumeId: byId('1') },
	'resume.getAll': { userId: byId('1'), returnAll: true },
	'resume.getScore': { resumeId: byId('1') },
	'customRequest.get': { path: 'x' },
};
const parametersOf = (name: string, fieldsToReturn: unknown): INodeParameters => {
	const [resource, operation] = name.split('.');
	return {
		resource,
		operation,
		...OPERATIONS[name],
		options: { fieldsToReturn },
	} as INodeParameters;
};
const credential = () => ({ baseUrl: `http://127.0.0.1:${server.port}/v1`, privateKey: 'the-key' });

async function returned(name: string, fields: unknown, body: string, rest: INodeParameters = {}) {
	answer = body;
	const { outputs, error } = await runNode({
		parameters: { ...parametersOf(name, fields), ...rest },
		credential: credential(),
	});
	expect(error).toBeUndefined();
	return outputs[0]!.map(({ json }) => json);
}

const RECORD = {
	id: 7,
	error: 'none',
	plan: { name: 'pro', price: { amount: 1 } },
	tags: [{ name: 'a' }],
	empty: null,
};
const envelope = (data: unknown) => JSON.stringify({ status: 'success', data });

test.each<[string, unknown]>([
	['id', { id: 7 }],
	[' plan.name , id ', { id: 7, plan: { name: 'pro' } }],
	['plan.price.amount,plan.name', { plan: { name: 'pro', price: { amount: 1 } } }],
	['plan.name, plan', { plan: RECORD.plan }],
	['empty', { empty: null }],
	['tags', { tags: [{ name: 'a' }] }],
	['unknown, id.deeper, plan.unknown, tags.name, constructor, toString.name', {}],
	['', RECORD],
	[' , ', RECORD],
	// n8n would take it for a failed item.
	['error', { value: { error: 'none' } }],
])('%j of a record', async (fields, expected) => {
	for (const name of Object.keys(OPERATIONS)) {
		const isList = name.endsWith('getAll');
		const body = envelope(isList ? [RECORD, RECORD] : RECORD);
		expect(await returned(name, fields, body)).toEqual(isList ? [expected, expected] : [expected]);
	}
});

test.each(['.id', '.', '..'])('%j names nothing, and gives nothing', async (fields) => {
	expect(await returned('user.get', fields, envelope(RECORD))).toEqual([{}]);
});

test('with Simplify off, paths begin at the answer', async () => {
	const body = envelope([RECORD]);
	const rest = { simplify: false };
	expect(await returned('user.getAll', 'status', body, rest)).toEqual([{ status: 'success' }]);
	expect(await returned('user.get', 'data.id', envelope(RECORD), rest)).toEqual([
		{ data: { id: 7 } },
	]);
});

test('a bare value is there under its name alone', async () => {
	expect(await returned('user.getAll', 'value', '[1]')).toEqual([{ value: 1 }]);
	expect(await returned('user.getAll', 'id', '[1]')).toEqual([{}]);
});

test('no name changes what objects have', async () => {
	const body = '{"__proto__":{"polluted":1,"b":2},"constructor":{"prototype":{"polluted":1}}}';
	const [json] = await returned(
		'user.get',
		'__proto__.polluted, constructor.prototype.polluted',
		body,
	);
	expect(JSON.stringify(json)).toBe(
		'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
	);
	expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test('what is returned is in the record, and all of what the paths name is', async () => {
	const names = ['a', 'b', 'c', 'error', 'value', '__proto__'];
	const record = fc.dictionary(
		fc.constantFrom(...names),
		fc.oneof(fc.integer(), fc.dictionary(fc.constantFrom(...names), fc.integer())),
	);
	const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 });
	const at = (value: unknown, [name, ...rest]: string[]): unknown => {
		if (name === undefined) return value;
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
			return undefined;
		return at((value as Record<string, unknown>)[name], rest);
	};
	const property = fc.asyncProperty(
		record,
		fc.array(path, { minLength: 1 }),
		async (given, paths) => {
			// Whatever stands in a field that n8n would take for an error has `value` around it.
			const whole = { id: 1, ...given };
			const fields = [['id'], ...paths];
			const text = fields.map((names) => names.join('.')).join(',');
			const [json] = await returned('user.get', text, JSON.stringify(whole));
			for (const names of fields) expect(at(json, names)).toEqual(at(whole, names));
			const leaves = (value: unknown, names: string[]): string[][] =>
				typeof value === 'object' && value !== null && Object.keys(value).length > 0
					? Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...names, name]))
					: [names];
			for (const leaf of leaves(json, [])) {
				expect(fields.some((names) => names.every((name, index) => leaf[index] === name))).toBe(
					true,
				);
			}
		},
	);
	await fc.assert(property, { numRuns: 150 });
}, 60_000);

test('an agent names them itself', async () => {
	answer = envelope(RECORD);
	const [told] = await callTool({
		parameters: {
			...parametersOf('user.get', "={{ $fromAI('fields', '', 'string') }}"),
			toolDescription: 'A tool',
		},
		credential: credential(),
		items: [{ fields: 'plan.name' }],
	});
	expect(JSON.parse(told!.answer as string)).toEqual([{ plan: { name: 'pro' } }]);
});

test('every operation that returns records and only reads has the option', async () => {
	const { properties } = (await loadNodeType('resumeManagement')).description;
	const having = properties
		.filter(({ name, options = [] }) => {
			return name === 'options' && options.some((option) => option.name === 'fieldsToReturn');
		})
		.map(({ displayOptions }) => {
			const { resource, operation } = displayOptions!.show!;
			return `${resource!.join()}.${operation!.join()}`;
		});
	expect(having.sort()).toEqual(Object.keys(OPERATIONS).sort());
});
