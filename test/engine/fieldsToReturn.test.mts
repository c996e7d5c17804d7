import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';

import { toItem } from '../../nodes/ResumeManagement/output/items.ts';
import { offered } from '../support/operations.mts';
import { userGet } from '../support/parameters.mts';
import { useRawService } from '../support/service.mts';

/** The option Fields to Return: of each record, the properties at its paths, and nothing else. */

let answer: unknown;
const { run } = useRawService(() => answer);

const RECORD = {
	id: 7,
	error: 'none',
	plan: { name: 'pro', price: 1 },
	tags: [{ name: 'a' }],
};
const envelope = (data: unknown) => ({ status: 'success', data });
const withFields = (fieldsToReturn: string, parameters = userGet('1')): INodeParameters => ({
	...parameters,
	options: { fieldsToReturn },
});

test.each<[string, object]>([
	[' plan.name , id ', { id: 7, plan: { name: 'pro' } }],
	['tags, tags.name, id.deeper', { tags: RECORD.tags }],
	[' , ', RECORD],
	['error', { value: { error: 'none' } }],
])('%j of a record', async (fields, expected) => {
	answer = envelope(RECORD);
	expect((await run(withFields(fields))).items).toEqual([expected]);
});

test('every operation that returns records and only reads has the option', async () => {
	const operations = offered();
	const having = operations.filter(({ fields }) =>
		fields.some(({ name, options = [] }) => {
			return name === 'options' && options.some((option) => option.name === 'fieldsToReturn');
		}),
	);
	expect(having).toEqual(operations.filter(({ write, answer: kind }) => !write && kind !== 'file'));
	for (const { parameters } of having) {
		const isList = parameters.operation === 'getAll';
		answer = envelope(isList ? [RECORD, RECORD] : RECORD);
		const { items } = await run(withFields('id', parameters));
		expect(items).toEqual(isList ? [{ id: 7 }, { id: 7 }] : [{ id: 7 }]);
	}
});

test('with Simplify off, paths begin at the answer', async () => {
	answer = envelope(RECORD);
	const { items } = await run({ ...withFields('status, data.id'), simplify: false });
	expect(items).toEqual([{ status: 'success', data: { id: 7 } }]);
});

test('a value without properties is returned whole, and a record that looks failed by its properties', () => {
	for (const value of [1, 'x', [7]]) expect(toItem(value, ['id']).json).toEqual({ value });
	const record = { error: 'none', message: 'm' };
	expect(toItem(record, ['message']).json).toEqual({ message: 'm' });
	expect(toItem(record, ['error']).json).toEqual({ value: { error: 'none' } });
});

test('what is returned is in the record, and all of what the paths name is', () => {
	const names = ['a', 'b', 'c', 'error', 'value', '__proto__'];
	const record = fc.dictionary(
		fc.constantFrom(...names),
		fc.oneof(fc.integer(), fc.dictionary(fc.constantFrom(...names), fc.integer())),
	);
	const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 });
	const at = (value: unknown, way: string[]): unknown =>
		way.reduce<unknown>(
			(inner, name) => (Object.hasOwn(Object(inner), name) ? Object(inner)[name] : undefined),
			value,
		);
	const leaves = (value: unknown, way: string[]): string[][] =>
		typeof value === 'object' && value !== null && Object.keys(value).length > 0
			? Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...way, name]))
			: [way];
	const property = fc.property(record, fc.array(path, { minLength: 1 }), (given, paths) => {
		// Whatever stands in a field that n8n would take for an error has `value` around it.
		const whole = { id: 1, ...given };
		const fields = [['id'], ...paths];
		const { json } = toItem(
			whole,
			fields.map((way) => way.join('.')),
		);
		for (const way of fields) expect(at(json, way)).toEqual(at(whole, way));
		for (const leaf of leaves(json, [])) {
			const isNamed = fields.some((way) => way.every((name, index) => leaf[index] === name));
			expect(isNamed).toBe(true);
		}
	});
	fc.assert(property, { numRuns: 1_000 });
});
