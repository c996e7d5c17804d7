import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';
import { stringify } from 'flatted';

import { offered } from '../support/operations.mts';
import { byEmail, download, getToken, getUsers, upgrade, userGet } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';
import { SPELLINGS } from '../support/spellings.mts';

/** The second promise over random answers: no secret is repeated, and nothing is dropped or mistaken. */

const KEY = 'sk_live_Zq/9+"x\\7~';

let answer: unknown;
const { credential, run } = useRawService(() => answer, KEY);

/** All that n8n keeps of a run. */
async function kept(
	parameters: INodeParameters,
	own: object = {},
	onError = 'continueRegularOutput',
) {
	const result = await run(
		{ ...parameters, options: { retries: 0 } },
		{ credential: { ...credential(), ...own }, node: { onError: onError as 'stopWorkflow' } },
	);
	return [stringify(result.run.data), String(result.error), result.log].join('\n');
}

describe('secrets', () => {
	const email = 'a@example.com';
	const success = (data: object, more = {}) => ({ status: 'success', data, ...more });
	/** Where an answer may repeat a text. */
	const PLACES: Record<string, (text: string) => unknown> = {
		errorCode: (errorCode) => ({ status: 'error', errorCode }),
		errorMessage: (errorMessage) => ({ status: 'error', errorCode: 'E', errorMessage }),
		name: (text) => success({ plan_id: 'value', [text]: 1, users: [{ [text]: 1, email }] }),
		value: (text) =>
			success({ plan_id: text, users: [text, 2].map((id) => ({ id, email })) }, { token: text }),
		nested: (text) => success({ plan_id: 'value', users: [{ a: [{ b: [text] }] }] }),
		text: (text) => `<html>${text}</html>`,
	};
	const ERROR = JSON.stringify({ status: 'error', errorCode: 'E' });
	/** The same of headers, with the body. */
	const HEADERS: Record<string, (text: string) => [Record<string, string>, body: string]> = {
		fileName: (text) => [
			{
				'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(text)}.pdf`,
				'Content-Type': 'application/pdf',
			},
			'%PDF-1.7',
		],
		type: (text) => [{ 'Content-Type': `application/${text.slice(7, -6)}` }, '%PDF-1.7'],
		header: (text) => [{ 'X-Echo': text, Location: `/v1/${text}` }, ERROR],
	};
	const planted = fc.record({
		operation: fc.nat(100),
		onError: fc.constantFrom('continueRegularOutput', 'stopWorkflow'),
		status: fc.constantFrom(200, 200, 401, 404, 500, 302),
		form: fc.constantFrom(...Object.keys(SPELLINGS)),
		escaped: fc.boolean(),
		place: fc.constantFrom(...Object.keys(PLACES), ...Object.keys(HEADERS)),
	});

	test('no item, error, execution or log repeats the key, wherever the answer does', async () => {
		const operations = offered().flatMap(({ parameters }) =>
			'userId' in parameters
				? [parameters, { ...parameters, userId: byEmail(email) }]
				: [parameters],
		);
		const property = fc.asyncProperty(planted, async (given) => {
			const text = `before ${SPELLINGS[given.form]!(KEY)} after`;
			const body = PLACES[given.place]?.(text);
			let sent = typeof body === 'string' ? body : JSON.stringify(body);
			if (given.escaped && typeof body === 'object') {
				sent = sent.replace(/[Z9q]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
			}
			const safe = text.replace(/[^\x20-\x7e]/g, '');
			const [headers, other] = HEADERS[given.place]?.(safe) ?? [{}, sent];
			answer = http(given.status, headers, other);
			const parameters = operations[given.operation % operations.length]!;
			const seen = await kept(parameters, {}, given.onError);
			for (const [form, write] of Object.entries(SPELLINGS)) {
				const needle = write(KEY).slice(0, form.startsWith('base64') ? -6 : undefined);
				const found = seen.includes(needle) || seen.includes(JSON.stringify(needle).slice(1, -1));
				expect([form, found]).toEqual([form, false]);
			}
		});
		await fc.assert(property, { numRuns: 500 });
	}, 120_000);

	test('a key that is not sent is not repeated either', async () => {
		const seen = await kept(userGet('1'), { privateKey: `${KEY}é` });
		expect(seen).toContain("The credential's Private Key can't be used");
		expect(seen).not.toContain('Zq/9');
	});

	const privateKey = 'sk_live_0123456789abcdef';
	const file = (headers: object) =>
		http(200, { 'Content-Type': 'application/pdf', ...headers }, '%PDF-1.7');
	const told = (text: string) => {
		return { status: 'error', errorMessage: text.slice('The service answered: '.length) };
	};
	const named = (name: string) => file({ 'Content-Disposition': `attachment; filename="${name}"` });
	const cutAt = (length: number) => 'x'.repeat(length - privateKey.length + 1) + privateKey;
	const trimmed = { webhookSecret: ` ${privateKey} ` };

	test.each<[string, INodeParameters, given: unknown, own?: object]>([
		['an error that is cut', userGet('1'), told(cutAt(1_000))],
		['a status that is cut', upgrade, { status: cutAt(200) }],
		['an excerpt that is cut', userGet('1'), http(404, {}, JSON.stringify({ detail: cutAt(180) }))],
		[
			'an excerpt of a long answer',
			userGet('1'),
			http(404, {}, `${privateKey.repeat(65_536 / 24)}${privateKey}`),
		],
		[
			'an error code that ends at a comma in the key',
			userGet('1'),
			{ status: 'error', errorCode: 'error code: sk_live_0123456789abc,def, contact us' },
			{ privateKey: 'sk_live_0123456789abc,def' },
		],
		['a file name that is cut', download, named(cutAt(255))],
		['a file name with characters that are left out', download, named([...privateKey].join(':'))],
		['a secret without its blanks', userGet('1'), success({ echo: privateKey }), trimmed],
		[
			'the type of a file, in lower case',
			download,
			file({ 'Content-Type': `application/${privateKey.toUpperCase()}` }),
			{ privateKey: privateKey.toUpperCase() },
		],
	])('%s does not show a part of it', async (_, parameters, given, own = { privateKey }) => {
		answer = given;
		expect(await kept(parameters, own)).not.toContain(privateKey.slice(0, -3));
	});

	test('a key of digits does not come as a number', async () => {
		const digits = '123456789012345';
		answer = success({ key: Number(digits), other: 123 });
		const own = { ...credential(), privateKey: digits };
		const { items } = await run(userGet('1'), { credential: own });
		expect(items).toEqual([{ key: '[hidden]', other: 123 }]);
	});

	test('secrets of 16 KB neither stop a run nor come back', async () => {
		const [key, webhookSecret] = ['k', 's'].map((letter) => `${letter}\\`.repeat(8_000));
		const own = {
			...credential(),
			privateKey: key!.slice(0, 7_000),
			webhookSecret: webhookSecret!,
		};
		answer = success({ plan_id: 'pro', echo: webhookSecret, header: `Bearer ${own.privateKey}` });
		const { items } = await run(upgrade, { credential: own });
		expect(items).toEqual([{ plan_id: 'pro', echo: '[hidden]', header: 'Bearer [hidden]' }]);
		answer = { status: 'error', errorCode: 'E', errorMessage: `no ${own.privateKey}` };
		const { error } = await run(upgrade, { credential: own });
		expect(error?.message).toBe('The service answered: no [hidden] (E)');
	});

	test('an error that is not of n8n is not shown with its own words', async () => {
		const credentialHelper = {
			getDecrypted: () => Promise.reject(new SyntaxError(`Invalid: ${privateKey}`)),
		};
		for (const onError of ['stopWorkflow', 'continueRegularOutput'] as const) {
			const { error, failures } = await run(upgrade, { node: { onError }, credentialHelper });
			const [told] = error ? [error] : failures;
			expect((told as Error).message).toBe('n8n could not read the credential [item 0]');
		}
	});

	test('a preview does not show a secret', async () => {
		const parameters = { ...upgrade, planId: `x${privateKey}`, preview: true };
		const own = { ...credential(), olderWebhookSecret: privateKey };
		const { items } = await run(parameters, { credential: own });
		expect(items).toMatchObject([{ preview: true, body: { planId: 'x[hidden]' } }]);
	});
});

describe('properties that the service adds', () => {
	type Base = { data?: { users?: object[] } };
	const BASES: Array<[string, INodeParameters, Base]> = [
		['user', userGet('1'), { data: { id: 1, status: 'active', email: 'a@example.com' } as object }],
		['list', getUsers, { data: { users: [{ id: 1 }, { id: 2, status: 'error' }] } }],
		['upgrade', upgrade, { data: { status: 'active', plan_id: 'pro', created: 1 } as object }],
		['token', getToken, { token: 'a.b.c' } as object],
	];
	const reserved = ['data', 'status', 'users', 'token', '__proto__', 'error'];
	const name = fc.string({ minLength: 1 }).filter((one) => !reserved.includes(one));
	const harmless = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
	const addedTo = (value: fc.Arbitrary<unknown>) => fc.dictionary(name, value, { maxKeys: 4 });
	/** Beside `data`, anything; within it, no second list of records, which would be ambiguous. */
	const beside = addedTo(fc.oneof(harmless, fc.array(harmless), fc.array(addedTo(harmless))));
	const within = addedTo(fc.oneof(harmless, fc.array(harmless), addedTo(harmless)));

	test.each(BASES)(
		'leave the items of a %s as they are',
		async (_, parameters, { data, ...rest }) => {
			answer = { status: 'success', ...rest, data };
			const { items: expected } = await run(parameters);
			const property = fc.asyncProperty(beside, within, within, async (more, inner, record) => {
				const users = data?.users?.map((user) => ({ ...record, ...user }));
				const extended = data && { data: { ...inner, ...data, ...(users && { users }) } };
				answer = { ...more, status: 'success', ...rest, ...extended };
				const { items } = await run(parameters);
				expect(items).toMatchObject(expected);
				expect(items).toHaveLength(expected.length);
				// Nothing is dropped: what was added to the record or beside it is in the item.
				const added = users ? [] : Object.keys({ ...more, ...(data && inner) });
				for (const one of added) expect(Object.keys(items[0]!)).toContain(one);
			});
			await fc.assert(property, { numRuns: 60 });
		},
		60_000,
	);

	test("a record's own status and data are kept", async () => {
		const record = { status: 'active', data: { n: 1 }, id: 7, novel: { a: [1] } };
		answer = record;
		expect((await run(userGet('1'))).items).toEqual([record]);
	});
});
