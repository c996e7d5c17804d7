import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';
import { stringify } from 'flatted';

import { offered } from '../support/operations.mts';
import { byEmail } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';
import { SPELLINGS } from '../support/spellings.mts';

/** The second promise over random answers: no secret is repeated, and nothing is dropped or mistaken. */

const PRIVATE_KEY = 'sk_live_"Zq/9+é\\7';
const ASCII_KEY = 'sk_live_Zq/9+"x\\7~';

/** Every operation, also with its user by e-mail. */
const operations: Record<string, INodeParameters> = {};
beforeAll(async () => {
	for (const { resource, operation, parameters } of await offered()) {
		const name = `${resource}.${operation}`;
		operations[name] = parameters;
		if (!('userId' in parameters)) continue;
		operations[`${name} by email`] = { ...parameters, userId: byEmail('a@example.com') };
	}
});

let answer: unknown;
const service = useRawService(() => answer);

const run = (operation: string, onError = 'continueRegularOutput', privateKey = ASCII_KEY) =>
	service.run(
		{ ...operations[operation]!, options: { retries: 0 } },
		{
			credential: { ...service.credential(), privateKey },
			node: { onError: onError as 'stopWorkflow' },
		},
	);

describe('secrets', () => {
	const planted = fc.record({
		operation: fc.nat(100),
		onError: fc.constantFrom('continueRegularOutput', 'stopWorkflow'),
		status: fc.constantFrom(200, 200, 401, 404, 500, 302),
		form: fc.constantFrom(...Object.keys(SPELLINGS)),
		escaped: fc.boolean(),
		place: fc.constantFrom(
			...['errorCode', 'errorMessage', 'name', 'value', 'nested', 'text'],
			...['fileName', 'type', 'header'],
		),
	});

	test('no item, error, execution or log repeats the key, wherever the answer does', async () => {
		const property = fc.asyncProperty(planted, async (given) => {
			const text = `before ${SPELLINGS[given.form]!(ASCII_KEY)} after`;
			const email = 'a@example.com';
			const bodies: Record<string, unknown> = {
				errorCode: { status: 'error', errorCode: text },
				errorMessage: { status: 'error', errorCode: 'E', errorMessage: text },
				name: {
					status: 'success',
					data: { plan_id: 'value', [text]: 1, users: [{ [text]: 1, email }] },
				},
				value: {
					status: 'success',
					token: text,
					data: {
						plan_id: text,
						users: [
							{ id: text, email },
							{ id: 2, email },
						],
					},
				},
				nested: { status: 'success', data: { plan_id: 'value', users: [{ a: [{ b: [text] }] }] } },
				text: `<html>${text}</html>`,
			};
			const body = bodies[given.place] ?? { status: 'error', errorCode: 'E' };
			let sent = typeof body === 'string' ? body : JSON.stringify(body);
			if (given.escaped && typeof body !== 'string') {
				sent = sent.replace(/[Z9q]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
			}
			const safe = text.replace(/[^\x20-\x7e]/g, '');
			answer = http(
				given.status,
				{
					...(given.place === 'fileName' && {
						'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(safe)}.pdf`,
						'Content-Type': 'application/pdf',
					}),
					...(given.place === 'type' && { 'Content-Type': `application/${safe.slice(7, -6)}` }),
					...(given.place === 'header' && { 'X-Echo': safe, Location: `/v1/${safe}` }),
				},
				given.place === 'fileName' || given.place === 'type' ? '%PDF-1.7' : sent,
			);
			const names = Object.keys(operations);
			const name = names[given.operation % names.length]!;
			const result = await run(name, given.onError);
			const seen = [stringify(result.run.data), String(result.error), result.log].join('\n');
			for (const [form, write] of Object.entries(SPELLINGS)) {
				const needle = write(ASCII_KEY).slice(0, form.startsWith('base64') ? -6 : undefined);
				const found = seen.includes(needle) || seen.includes(JSON.stringify(needle).slice(1, -1));
				expect([form, found]).toEqual([form, false]);
			}
		});
		await fc.assert(property, { numRuns: 500 });
	}, 120_000);

	test('a key that is not sent is not repeated either', async () => {
		const result = await run('user.get', 'stopWorkflow', PRIVATE_KEY);
		expect(result.error?.message).toBe("The credential's Private Key can't be used");
		expect(stringify(result.run.data)).not.toContain('Zq/9');
	});
});

describe('properties that the service adds', () => {
	const BASES: Record<string, object> = {
		'user.get': { status: 'success', data: { id: 1, status: 'active', email: 'a@example.com' } },
		'user.getAll': { status: 'success', data: { users: [{ id: 1 }, { id: 2, status: 'error' }] } },
		'plan.upgrade': { status: 'success', data: { status: 'active', plan_id: 'value', created: 1 } },
		'user.getToken': { status: 'success', token: 'a.b.c' },
	};
	const reserved = ['data', 'status', 'users', 'token', '__proto__', 'error'];
	const name = fc.string({ minLength: 1 }).filter((one) => !reserved.includes(one));
	const harmless = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
	const addedTo = (value: fc.Arbitrary<unknown>) => fc.dictionary(name, value, { maxKeys: 4 });
	/** Beside `data`, anything; within it, no second list of records, which would be ambiguous. */
	const beside = addedTo(fc.oneof(harmless, fc.array(harmless), fc.array(addedTo(harmless))));
	const within = addedTo(fc.oneof(harmless, fc.array(harmless), addedTo(harmless)));

	test.each(Object.keys(BASES))(
		'leave the items of %s as they are',
		async (operation) => {
			const property = fc.asyncProperty(beside, within, within, async (envelope, data, record) => {
				const base = BASES[operation] as { data?: { users?: object[] } & object };
				const extended = {
					...envelope,
					...base,
					...(base.data && {
						data: {
							...data,
							...base.data,
							...(base.data.users && {
								users: base.data.users.map((user) => ({ ...record, ...user })),
							}),
						},
					}),
				};
				answer = base;
				const { items: expected } = await run(operation);
				answer = extended;
				const { items } = await run(operation);
				expect(items).toHaveLength(expected.length);
				for (const [index, item] of items.entries()) {
					expect(item).toMatchObject(expected[index]!);
				}
				// Nothing is dropped: what was added to the record or beside it is in the item.
				if (operation !== 'user.getAll') {
					const { data: _, ...rest } = extended as Record<string, unknown>;
					for (const added of Object.keys({ ...rest, ...(base.data && data) })) {
						if (added !== 'status') expect(Object.keys(items[0]!)).toContain(added);
					}
				}
			});
			await fc.assert(property, { numRuns: 60 });
		},
		60_000,
	);

	test("a record's own status and data are kept", async () => {
		const record = { status: 'active', data: { n: 1 }, id: 7, novel: { a: [1] } };
		answer = record;
		expect((await run('user.get')).items).toEqual([record]);
	});
});
