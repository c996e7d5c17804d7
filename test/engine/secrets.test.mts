import fc from 'fast-check';
import { stringify } from 'flatted';
import type { INodeParameters } from 'n8n-workflow';

import { type EngineRun, runNode } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import { http, type RawServer, startRawServer } from '../support/rawServer.mts';

/** A service that repeats the credential's secrets, in whatever form: they are in nothing that n8n keeps. */

let server: RawServer;
let answer: string;
beforeAll(async () => {
	server = await startRawServer((socket) => void socket.end(answer));
});
afterAll(() => server.close());

const KEY = 'sk_live_0123456789abcdef';
const OLDER = 'older-secret-1234567890';
const getUser: INodeParameters = { resource: 'user', operation: 'get', userId: byId('1') };
const download: INodeParameters = {
	resource: 'resume',
	operation: 'download',
	resumeId: byId('1'),
};
const run = async (parameters: INodeParameters, credential: EngineRun['credential'] = {}) =>
	await runNode({
		parameters,
		credential: {
			baseUrl: `http://127.0.0.1:${server.port}/v1`,
			privateKey: KEY,
			...credential,
		},
		node: { onError: 'continueRegularOutput' },
	});
type Ran = Awaited<ReturnType<typeof run>>;
const kept = ({ run: { data }, error, log }: Ran) => [stringify(data), String(error), log].join();

const success = (data: unknown) => http(200, {}, JSON.stringify({ status: 'success', data }));
const failure = (errorMessage: string) =>
	http(200, {}, JSON.stringify({ status: 'error', errorCode: 'E', errorMessage }));
const file = (headers: Record<string, string>) =>
	http(200, { 'Content-Type': 'application/pdf', ...headers }, '%PDF-1.7');

test('an error that is cut does not end in a part of the key', async () => {
	answer = failure('x'.repeat(1_000 - KEY.length + 1) + KEY);
	expect(kept(await run(getUser))).not.toContain(KEY.slice(0, -3));
});

test.each([
	['that is cut', 'x'.repeat(255 - KEY.length + 1) + KEY],
	['with characters that are left out', KEY.split('').join(':')],
])('a file name %s does not show the key', async (_, name) => {
	answer = file({ 'Content-Disposition': `attachment; filename="${name}"` });
	expect(kept(await run(download))).not.toContain(KEY.slice(0, -3));
});

test('a type of a file does not show the key in lower case', async () => {
	answer = file({ 'Content-Type': `application/${KEY.toUpperCase()}` });
	expect(kept(await run(download, { privateKey: KEY.toUpperCase() }))).not.toContain(KEY);
});

test('a key of digits does not come as a number', async () => {
	const privateKey = '123456789012345';
	answer = success({ key: Number(privateKey), other: 123 });
	const { outputs } = await run(getUser, { privateKey });
	expect(outputs[0]![0]!.json).toEqual({ key: '[hidden]', other: 123 });
});

test.each(['webhookSecret', 'olderWebhookSecret'])(
	'%s is hidden without its blanks',
	async (name) => {
		answer = success({ echo: OLDER });
		expect(kept(await run(getUser, { [name]: ` ${OLDER} ` }))).not.toContain(OLDER);
	},
);

test('a preview does not show the older webhook secret', async () => {
	const upgrade = { resource: 'plan', operation: 'upgrade', email: 'a@x', planId: OLDER };
	const { outputs } = await run({ ...upgrade, preview: true }, { olderWebhookSecret: OLDER });
	expect(outputs[0]![0]!.json).toMatchObject({ preview: true, body: { planId: '[hidden]' } });
});

/** Ways to write a text that come back to it when they are undone. */
const ENCODINGS: Record<string, (text: string) => string> = {
	none: (text) => text,
	component: encodeURIComponent,
	rawurlencode: (text) => text.replace(/[^\w.~-]/gu, (one) => percent(one).toUpperCase()),
	everyByte: percent,
	lowerCase: (text) => encodeURIComponent(text).replace(/%../g, (one) => one.toLowerCase()),
	twice: (text) => encodeURIComponent(encodeURIComponent(text)),
	json: (text) => JSON.stringify(text).slice(1, -1),
	jsonOfPhp: (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
	jsonInJson: (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
	unicodeEscapes: (text) =>
		text.replace(/./gs, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
	html: (text) =>
		text
			.replaceAll('&', '&amp;')
			.replaceAll('"', '&quot;')
			.replaceAll("'", '&#39;')
			.replaceAll('<', '&lt;')
			.replaceAll('/', '&#x2F;'),
	hex: (text) => Buffer.from(text).toString('hex'),
	base64: (text) => Buffer.from(text).toString('base64').replace(/=+$/, ''),
	base64InUrl: (text) =>
		encodeURIComponent(Buffer.from(text).toString('base64').replace(/=+$/, '')),
	base64url: (text) => Buffer.from(text).toString('base64url'),
	lines: (text) => Buffer.from(text).toString('base64').replace(/.{16}/g, '$&\r\n'),
};

function percent(text: string): string {
	return Buffer.from(text).toString('hex').replace(/../g, '%$&');
}

test('no random key comes back in any form, whatever stands around it', async () => {
	const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
	// n8n would take a text that begins with an equals sign for an expression.
	const privateKey = fc
		.string({ unit: printable, minLength: 8, maxLength: 60 })
		.filter((key) => !key.startsWith('='));
	const encoding = fc.constantFrom(...Object.keys(ENCODINGS));
	// Of base64, the last characters also tell what follows.
	const around = fc.string({
		unit: fc.constantFrom(' ', '%', '\\', '2', '5', 'a', '"'),
		maxLength: 5,
	});
	const property = fc.asyncProperty(
		privateKey,
		encoding,
		around,
		fc.constantFrom(success, failure),
		async (key, name, text, answers) => {
			const form = ENCODINGS[name]!(key).slice(0, /64|lines/.test(name) ? -6 : undefined);
			answer = answers(`${text} ${ENCODINGS[name]!(key)} ${text}`);
			const { outputs } = await run(getUser, { privateKey: key });
			const texts: string[] = [];
			JSON.stringify(outputs, (_, value: unknown) => {
				if (typeof value === 'string') texts.push(value);
				return value;
			});
			expect(texts.filter((one) => one.includes(form))).toEqual([]);
			expect(texts.some((one) => one.includes('[hidden]'))).toBe(true);
		},
	);
	await fc.assert(property, { numRuns: 300 });
}, 60_000);

test.each(['\\', '%25', '%', 'sk_live_', '&#0000', 'c2tf\n'])(
	'a text of %j is searched in time that grows with its length alone',
	async (part) => {
		const time = async (repeats: number) => {
			answer = success({ text: part.repeat(repeats) });
			const begin = performance.now();
			await run(getUser);
			return performance.now() - begin;
		};
		await time(1_000);
		// In a quadratic search, 3 MB would take hours.
		expect(await time(500_000)).toBeLessThan(30_000);
	},
	60_000,
);
