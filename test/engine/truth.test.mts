import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';
import { stringify } from 'flatted';

import { runNode } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import { http, type RawServer, startRawServer } from '../support/rawServer.mts';

/** The second promise over random answers: no secret is repeated, and nothing is dropped or mistaken. */

const PRIVATE_KEY = 'sk_live_"Zq/9+é\\7';
const ASCII_KEY = 'sk_live_Zq/9+"x\\7~';

const OPERATIONS: Record<string, INodeParameters> = {
	user: { resource: 'user', operation: 'get', userId: byId('1') },
	users: { resource: 'user', operation: 'getAll', returnAll: true },
	upgrade: { resource: 'plan', operation: 'upgrade', email: 'a@example.com', planId: 'pro' },
	token: { resource: 'user', operation: 'getToken' },
	byEmail: {
		resource: 'user',
		operation: 'get',
		userId: { __rl: true, mode: 'email', value: 'a@example.com' },
	},
	createByEmail: {
		resource: 'resume',
		operation: 'create',
		userId: { __rl: true, mode: 'email', value: 'a@example.com' },
	},
	customGet: { resource: 'customRequest', operation: 'get', path: 'connect' },
	customSend: { resource: 'customRequest', operation: 'send', path: 'connect' },
	download: { resource: 'resume', operation: 'download', resumeId: byId('1') },
};

let server: RawServer;
let answer: string;
beforeAll(async () => {
	server = await startRawServer((socket) => void socket.end(answer));
});
afterAll(() => server.close());

const run = (operation: string, onError = 'continueRegularOutput', privateKey = ASCII_KEY) =>
	runNode({
		parameters: { ...OPERATIONS[operation]!, options: { retries: 0 } },
		credential: { baseUrl: `http://127.0.0.1:${server.port}/v1`, privateKey },
		node: { onError: onError as 'stopWorkflow' },
	});

/** Forms in which a service may repeat a key, each with what must not be found. */
const FORMS: Record<string, (key: string) => string> = {
	plain: (key) => key,
	bearer: (key) => `Bearer ${key}`,
	percent: (key) => encodeURIComponent(key),
	'percent, every character': (key) => Buffer.from(key).toString('hex').replace(/../g, '%$&'),
	hex: (key) => Buffer.from(key).toString('hex'),
	base64: (key) => Buffer.from(key).toString('base64').replace(/=+$/, ''),
	'base64 of the header': (key) =>
		Buffer.from(`Bearer ${key}`).toString('base64').replace(/=+$/, '').slice(10),
	'JSON in a text': (key) => JSON.stringify(key).slice(1, -1),
};

describe('secrets', () => {
	const planted = fc.record({
		operation: fc.constantFrom(...Object.keys(OPERATIONS)),
		onError: fc.constantFrom('continueRegularOutput', 'stopWorkflow'),
		status: fc.constantFrom(200, 200, 401, 404, 500, 302),
		form: fc.constantFrom(...Object.keys(FORMS)),
		escaped: fc.boolean(),
		place: fc.constantFrom(
			'errorCode',
			'errorMessage',
			'name',
			'value',
			'nested',
			'text',
			'fileName',
			'type',
			'header',
		),
	});

	test('no item, error, execution or log repeats the key, wherever the answer does', async () => {
		const property = fc.asyncProperty(planted, async (given) => {
			const text = `before ${FORMS[given.form]!(ASCII_KEY)} after`;
			const email = 'a@example.com';
			const bodies: Record<string, unknown> = {
				errorCode: { status: 'error', errorCode: text },
				errorMessage: { status: 'error', errorCode: 'E', errorMessage: text },
				name: {
					status: 'success',
					data: { plan_id: 'pro', [text]: 1, users: [{ [text]: 1, email }] },
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
				nested: { status: 'success', data: { plan_id: 'pro', users: [{ a: [{ b: [text] }] }] } },
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
			const result = await run(given.operation, given.onError);
			const seen = [stringify(result.run.data), String(result.error), result.log].join('\n');
			for (const [form, write] of Object.entries(FORMS)) {
				const needle = write(ASCII_KEY);
				const found = seen.includes(needle) || seen.includes(JSON.stringify(needle).slice(1, -1));
				expect([form, found]).toEqual([form, false]);
			}
		});
		await fc.assert(property, { numRuns: 500 });
	}, 120_000);

	test('a key that is not sent is not repeated either', async () => {
		const result = await run('user', 'stopWorkflow', PRIVATE_KEY);
		expect(result.error?.message).toBe("The credential's Private Key can't be used");
		expect(stringify(result.run.data)).not.toContain('Zq/9');
	});
});

describe('properties that the service adds', () => {
	const BASES: Record<string, object> = {
		user: { status: 'success', data: { id: 1, status: 'active', email: 'a@example.com' } },
		users: { status: 'success', data: { users: [{ id: 1 }, { id: 2, status: 'error' }] } },
		upgrade: { status: 'success', data: { status: 'active', plan_id: 'pro', created: 1 } },
		token: { status: 'success', token: 'a.b.c' },
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
				answer = http(200, {}, JSON.stringify(base));
				const expected = (await run(operation)).outputs[0]!;
				answer = http(200, {}, JSON.stringify(extended));
				const items = (await run(operation)).outputs[0]!;
				expect(items).toHaveLength(expected.length);
				for (const [index, item] of items.entries()) {
					expect(item.json).toMatchObject(expected[index]!.json);
				}
				// Nothing is dropped: what was added to the record or beside it is in the item.
				if (operation !== 'users') {
					const { data: _, ...rest } = extended as Record<string, unknown>;
					for (const added of Object.keys({ ...rest, ...(base.data && data) })) {
						if (added !== 'status') expect(Object.keys(items[0]!.json)).toContain(added);
					}
				}
			});
			await fc.assert(property, { numRuns: 60 });
		},
		60_000,
	);

	test.each([
		['a list beside data', { status: 'success', warnings: [], data: { users: [{ id: 1 }] } }, 1],
		['an empty list in data', { status: 'success', data: { users: [{ id: 1 }], facets: [] } }, 1],
		['lists of texts', { status: 'success', data: { users: [{ id: 1 }], tags: ['a'] } }, 1],
		['no users at all', { status: 'success', data: { users: [], facets: [] } }, 0],
	])('a list is found beside %s', async (_, body, count) => {
		answer = http(200, {}, JSON.stringify(body));
		expect((await run('users')).outputs[0]).toHaveLength(count);
	});

	test("two lists of records are ambiguous, and a record's own status and data are kept", async () => {
		answer = http(200, {}, '{"status":"success","data":{"a":[{"id":1}],"b":[{"id":2}]}}');
		const { outputs } = await run('users');
		expect(outputs[0]![0]!.json.error).toMatchObject({
			message: 'The answer holds more than one list',
		});
		const record = { status: 'active', data: { n: 1 }, id: 7 };
		answer = http(200, {}, JSON.stringify(record));
		expect((await run('user')).outputs[0]![0]!.json).toEqual(record);
	});
});
