import type { INodeParameters } from 'n8n-workflow';
import { stringify } from 'flatted';
import { offered } from '../support/operations.mts';
import { byEmail, download, getToken, getUsers, upgrade, userGet } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';
import { SPELLINGS } from '../support/spellings.mts';

/** Items, errors and the log show no secret, and items have all that the service sent. */

const KEY = 'sk_live_Zq/9+"x\\7~';
const email = 'a@example.com';

let response: unknown;
const { credential, run, sent } = useRawService(() => response, KEY);

async function recorded(parameters: INodeParameters, own: object = {}, onError = 'stopWorkflow') {
	const result = await run(
		{ ...parameters, options: { retries: 0 } },
		{ credential: { ...credential(), ...own }, node: { onError: onError as 'stopWorkflow' } },
	);
	return [stringify(result.run.data), String(result.error), result.log].join('\n');
}

const success = (data: object, more = {}) => ({ status: 'success', data, ...more });
const failure = (texts: object) => ({ status: 'error', ...texts });
const file = (name: string, type = 'application/pdf') =>
	http(200, { 'Content-Type': type, 'Content-Disposition': `attachment; ${name}` }, '%PDF-1.7');

const PLACES: Record<string, (text: string) => unknown> = {
	'an error code': (errorCode) => failure({ errorCode }),
	'an error': (errorMessage) => failure({ errorCode: 'E', errorMessage }),
	'a name': (text) => success({ plan_id: 'v', [text]: 1, users: [{ [text]: 1, email }] }),
	'a value': (text) =>
		success({ plan_id: text, users: [text, 2].map((id) => ({ id, email })) }, { token: text }),
	'a nested value': (text) => success({ plan_id: 'v', users: [{ a: [{ b: [text] }] }] }),
	'a web page': (text) => `<html>${text}</html>`,
	'a header': () => failure({ errorCode: 'E' }),
};
/** Escapes characters of the key, which JSON allows. */
const escaped = (json: string) =>
	json.replace(/[Z9q]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
const all = Object.values(SPELLINGS)
	.map((spell) => spell(KEY))
	.join(' ');
const operations = offered().flatMap(({ parameters }) =>
	'userId' in parameters ? [parameters, { ...parameters, userId: byEmail(email) }] : [parameters],
);

jest.setTimeout(60_000);

test.each(Object.keys(PLACES))('the key in %s is in no item, error or log', async (place) => {
	const content = PLACES[place]!(`before ${all} after`);
	const body = typeof content === 'string' ? content : JSON.stringify(content);
	const echo: Record<string, string> = { 'X-Echo': all, Location: `/v1/${all}` };
	const headers = place === 'a header' ? echo : {};
	const responses: unknown[] = [200, 302, 404].map((one) => http(one, headers, escaped(body)));
	responses.push(http(200, headers, body), file(`filename*=UTF-8''${encodeURIComponent(all)}`));
	for (const parameters of operations) {
		for (const [index, given] of responses.entries()) {
			response = given;
			const onError = index % 2 ? 'stopWorkflow' : 'continueRegularOutput';
			const seen = await recorded(parameters, {}, onError);
			for (const [spelling, spell] of Object.entries(SPELLINGS)) {
				const needle = spell(KEY).slice(0, spelling.startsWith('base64') ? -6 : undefined);
				const found = seen.includes(needle) || seen.includes(JSON.stringify(needle).slice(1, -1));
				expect([spelling, found]).toEqual([spelling, false]);
			}
		}
	}
});

const privateKey = 'sk_live_0123456789abcdef';
const cutAt = (length: number) => 'x'.repeat(length - privateKey.length + 1) + privateKey;
const cutResponse = http(404, {}, ' '.repeat(64 * 1_024 - 22) + privateKey);
const upperCase = privateKey.toUpperCase();
const withComma = 'sk_live_0123456789abc,def';
const codeWithComma = failure({ errorCode: `error code: ${withComma}, contact us` });
const older = { webhookSecret: 'another secret', olderWebhookSecret: ` ${privateKey} ` };
test.each<[string, INodeParameters, given: unknown, own?: object]>([
	['an error that is cut', userGet('1'), failure({ errorMessage: cutAt(979) })],
	['a status that is cut', upgrade, { status: cutAt(200) }],
	['an excerpt that is cut', userGet('1'), http(404, {}, JSON.stringify({ detail: cutAt(180) }))],
	['an excerpt of a long response', userGet('1'), http(404, {}, privateKey.repeat(2_731))],
	['an excerpt that ends where the response was cut', userGet('1'), cutResponse],
	['an error code at a comma in the key', userGet('1'), codeWithComma, { privateKey: withComma }],
	['a file name that is cut', download, file(`filename="${cutAt(255)}"`)],
	['an older secret without its blanks', userGet('1'), success({ echo: privateKey }), older],
	['a key that is not sent', userGet('1'), '', { privateKey: `${privateKey}é` }],
	['the type of a file', download, file('', `application/${upperCase}`), { privateKey: upperCase }],
])('%s does not show a part of the key', async (_, parameters, given, own = { privateKey }) => {
	response = given;
	expect(await recorded(parameters, own)).not.toContain(privateKey.slice(0, -3));
});

const cursor = { mode: 'cursor', parameterName: 'after', cursorPath: 'data.next' };
const byCursor = { ...getUsers, options: { pagination: { pagination: cursor } } };

test('numbers that JavaScript would round keep their digits, in items and as a cursor', async () => {
	const data = '{"users":[{"a":-9007199254740993,"b":1.50,"c":1e400}],"next":12345678901234567891}';
	response = http(200, {}, `{"status":"success","data":${data}}`);
	const users = [{ a: '-9007199254740993', b: 1.5, c: '1e400' }];
	const { items } = await run(userGet('1'));
	expect(items).toEqual([{ users, next: '12345678901234567891' }]);
	await run(byCursor);
	expect(sent()).toContain('GET /v1/users?after=12345678901234567891');
});

test('the text of an error that is not of n8n is not shown', async () => {
	const getDecrypted = () => Promise.reject(new SyntaxError(`Invalid: ${privateKey}`));
	const { error, log } = await run(upgrade, { credentialHelper: { getDecrypted } });
	expect(error?.message).toBe('n8n could not read the credential [item 0]');
	expect(log).not.toContain(privateKey);
});

test('a preview does not show a secret', async () => {
	const parameters = { ...upgrade, planId: `x${privateKey}`, preview: true };
	const own = { ...credential(), olderWebhookSecret: privateKey };
	const { items } = await run(parameters, { credential: own });
	expect(items).toMatchObject([{ preview: true, body: { planId: 'x[hidden]' } }]);
});

/** Properties that the service may add, under names that could be mistaken. */
// prettier-ignore
const ADDED = {
	message: 'm', errors: [], code: 1, success: false, state: 'error', url: 'x', type: 7,
	meta: { page: 1 }, items: ['a'], results: [{ id: 9 }], details: { data: { id: 9 } },
};
const FAILED = { id: 2, status: 'error' };
const USERS = [{ ...ADDED, id: 1 }, FAILED];
const USER = { id: 1, status: 'active', email };
const PLAN = { status: 'active', plan_id: 'pro', created: 1 };

test.each<[string, INodeParameters, body: object, items: object[]]>([
	['user', userGet('1'), { data: { ...ADDED, ...USER } }, [{ ...ADDED, ...USER }]],
	['list', getUsers, { data: { ...ADDED, users: USERS } }, USERS],
	['upgrade', upgrade, { data: PLAN }, [{ email: upgrade.email, billed: true, ...ADDED, ...PLAN }]],
	['token', getToken, { token: 'a.b.c' }, [{ ...ADDED, token: 'a.b.c' }]],
])('properties that the service adds to a %s are items', async (_, parameters, body, items) => {
	response = { ...ADDED, status: 'success', ...body };
	expect((await run(parameters)).items).toStrictEqual(items);
});
