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
const email = 'a@example.com';

let answer: unknown;
const { credential, run } = useRawService(() => answer, KEY);

/** Returns all that n8n stores or logs of a run. */
async function recorded(parameters: INodeParameters, own: object = {}, onError = 'stopWorkflow') {
	const result = await run(
		{ ...parameters, options: { retries: 0 } },
		{ credential: { ...credential(), ...own }, node: { onError: onError as 'stopWorkflow' } },
	);
	return [stringify(result.run.data), String(result.error), result.log].join('\n');
}

const success = (data: object, more = {}) => ({ status: 'success', data, ...more });
const failure = (texts: object) => ({ status: 'error', ...texts });
const attached = (name: string) => ({ 'Content-Disposition': `attachment; ${name}` });
const file = (headers: object, type = 'application/pdf') =>
	[{ 'Content-Type': type, ...headers }, '%PDF-1.7'] as const;

/** Bodies of an answer that repeats a text. */
const BODIES: Record<string, (text: string) => unknown> = {
	errorCode: (errorCode) => failure({ errorCode }),
	errorMessage: (errorMessage) => failure({ errorCode: 'E', errorMessage }),
	name: (text) => success({ plan_id: 'value', [text]: 1, users: [{ [text]: 1, email }] }),
	value: (text) =>
		success({ plan_id: text, users: [text, 2].map((id) => ({ id, email })) }, { token: text }),
	nested: (text) => success({ plan_id: 'value', users: [{ a: [{ b: [text] }] }] }),
	text: (text) => `<html>${text}</html>`,
};
/** Headers that repeat a text, with the body. */
const HEADERS: Record<string, (text: string) => readonly [object, body: string]> = {
	fileName: (text) => file(attached(`filename*=UTF-8''${encodeURIComponent(text)}.pdf`)),
	type: (text) => file({}, `application/${text.slice(7, -6)}`),
	header: (text) => [
		{ 'X-Echo': text, Location: `/v1/${text}` },
		JSON.stringify(failure({ errorCode: 'E' })),
	],
};
const answers = fc.record({
	operation: fc.nat(100),
	onError: fc.constantFrom('continueRegularOutput', 'stopWorkflow'),
	status: fc.constantFrom(200, 200, 401, 404, 500, 302),
	spelling: fc.constantFrom(...Object.keys(SPELLINGS)),
	escaped: fc.boolean(),
	place: fc.constantFrom(...Object.keys({ ...BODIES, ...HEADERS })),
});

test('no item, error, execution or log repeats the key that an answer repeats', async () => {
	const operations = offered().flatMap(({ parameters }) =>
		'userId' in parameters ? [parameters, { ...parameters, userId: byEmail(email) }] : [parameters],
	);
	const property = fc.asyncProperty(answers, async (given) => {
		const text = `before ${SPELLINGS[given.spelling]!(KEY)} after`;
		const body = BODIES[given.place]?.(text);
		let sent = typeof body === 'string' ? body : JSON.stringify(body);
		if (given.escaped && typeof body === 'object') {
			sent = sent.replace(/[Z9q]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
		}
		const [headers, fileBody] = HEADERS[given.place]?.(text) ?? [{}, sent];
		answer = http(given.status, headers as Record<string, string>, fileBody);
		const parameters = operations[given.operation % operations.length]!;
		const seen = await recorded(parameters, {}, given.onError);
		for (const [spelling, write] of Object.entries(SPELLINGS)) {
			const needle = write(KEY).slice(0, spelling.startsWith('base64') ? -6 : undefined);
			const found = seen.includes(needle) || seen.includes(JSON.stringify(needle).slice(1, -1));
			expect([spelling, found]).toEqual([spelling, false]);
		}
	});
	await fc.assert(property, { numRuns: 500 });
}, 120_000);

const privateKey = 'sk_live_0123456789abcdef';
const cutAt = (length: number) => 'x'.repeat(length - privateKey.length + 1) + privateKey;
const upperCase = privateKey.toUpperCase();
const withComma = 'sk_live_0123456789abc,def';
const pdf = (...given: Parameters<typeof file>) =>
	http(200, ...(file(...given) as [never, string]));

test.each<[string, INodeParameters, given: unknown, own?: object]>([
	['an error that is cut', userGet('1'), failure({ errorMessage: cutAt(979) })],
	['a status that is cut', upgrade, { status: cutAt(200) }],
	['an excerpt that is cut', userGet('1'), http(404, {}, JSON.stringify({ detail: cutAt(180) }))],
	['an excerpt of a long answer', userGet('1'), http(404, {}, privateKey.repeat(2_731))],
	[
		'an error code that ends at a comma in the key',
		userGet('1'),
		failure({ errorCode: `error code: ${withComma}, contact us` }),
		{ privateKey: withComma },
	],
	['a file name that is cut', download, pdf(attached(`filename="${cutAt(255)}"`))],
	[
		'a file name with characters that are left out',
		download,
		pdf(attached(`filename="${[...privateKey].join(':')}"`)),
	],
	[
		'a secret without its blanks',
		userGet('1'),
		success({ echo: privateKey }),
		{ webhookSecret: ` ${privateKey} ` },
	],
	[
		'the type of a file, in lower case',
		download,
		pdf({}, `application/${upperCase}`),
		{ privateKey: upperCase },
	],
])('%s does not show a part of the key', async (_, parameters, given, own = { privateKey }) => {
	answer = given;
	expect(await recorded(parameters, own)).not.toContain(privateKey.slice(0, -3));
});

test('a key that is not sent is not shown', async () => {
	const seen = await recorded(userGet('1'), { privateKey: `${KEY}é` });
	expect(seen).toContain("The credential's Private Key can't be used");
	expect(seen).not.toContain('Zq/9');
});

test('a key of digits is not shown as a number', async () => {
	const digits = '123456789012345';
	answer = success({ key: Number(digits), other: 123 });
	const own = { ...credential(), privateKey: digits };
	expect((await run(userGet('1'), { credential: own })).items).toEqual([
		{ key: '[hidden]', other: 123 },
	]);
});

test('a key and a secret of many characters do not stop a run, and are not shown', async () => {
	const webhookSecret = 's\\'.repeat(8_000);
	const own = { ...credential(), privateKey: 'k\\'.repeat(3_500), webhookSecret };
	answer = success({ plan_id: 'pro', echo: webhookSecret, header: `Bearer ${own.privateKey}` });
	const { items } = await run(upgrade, { credential: own });
	expect(items).toEqual([{ plan_id: 'pro', echo: '[hidden]', header: 'Bearer [hidden]' }]);
});

test.each(['stopWorkflow', 'continueRegularOutput'] as const)(
	'the text of an error that is not of n8n is not shown under %s',
	async (onError) => {
		const getDecrypted = () => Promise.reject(new SyntaxError(`Invalid: ${privateKey}`));
		const given = { node: { onError }, credentialHelper: { getDecrypted } };
		const { error, failures } = await run(upgrade, given);
		const { message } = error ?? (failures[0] as unknown as Error);
		expect(message).toBe('n8n could not read the credential [item 0]');
	},
);

test('a preview does not show a secret', async () => {
	const parameters = { ...upgrade, planId: `x${privateKey}`, preview: true };
	const own = { ...credential(), olderWebhookSecret: privateKey };
	const { items } = await run(parameters, { credential: own });
	expect(items).toMatchObject([{ preview: true, body: { planId: 'x[hidden]' } }]);
});

/** Properties that the service may add, under names that could be mistaken. */
const ADDED = {
	...{ message: 'm', errors: [], code: 1, success: false, state: 'error', url: 'x', type: 7 },
	...{ meta: { page: 1 }, items: ['a'], results: [{ id: 9 }], details: { data: { id: 9 } } },
};
const USERS = [
	{ ...ADDED, id: 1 },
	{ id: 2, status: 'error' },
];
const USER = { id: 1, status: 'active', email };
const PLAN = { status: 'active', plan_id: 'pro', created: 1 };

test.each<[string, INodeParameters, body: object, items: object[]]>([
	['user', userGet('1'), { data: { ...ADDED, ...USER } }, [{ ...ADDED, ...USER }]],
	['list', getUsers, { data: { ...ADDED, users: USERS } }, USERS],
	['upgrade', upgrade, { data: PLAN }, [{ ...ADDED, ...PLAN }]],
	['token', getToken, { token: 'a.b.c' }, [{ ...ADDED, token: 'a.b.c' }]],
])(
	'properties that the service adds to a %s are in its items',
	async (_, parameters, body, items) => {
		answer = { ...ADDED, status: 'success', ...body };
		expect((await run(parameters)).items).toEqual(items);
	},
);

test("a record's own status and data stay in the item", async () => {
	const record = { status: 'active', data: { n: 1 }, id: 7, novel: { a: [1] } };
	answer = record;
	expect((await run(userGet('1'))).items).toEqual([record]);
});
