import type { INodeParameters } from 'n8n-workflow';
import { ways } from '../support/proofs.mts';
import { createTrigger, type Delivery } from '../support/trigger.mts';

/** The trigger's parameters, credential and output. For proofs and bodies: verify.test.mts and event.test.mts. */

const SECRET = Buffer.from('a secret that is long enough').toString('base64');
const credential = { baseUrl: '', privateKey: 'key', webhookSecret: SECRET };
const BODY = '{"event":"Resume Section Saved"}';
const body = Buffer.from(BODY);
const byHeader = ways.header!.parameters;

const genuine = (way = 'header', secret = SECRET) => ({
	body,
	headers: ways[way]!.prove(secret, BODY, Math.floor(Date.now() / 1000)),
});

test.each(Object.keys(ways))('%s: the older secret counts until it is removed', async (way) => {
	const { parameters } = ways[way]!;
	const next = Buffer.from('the secret that comes after it').toString('base64');
	const both = { webhookSecret: ` \t${next}\r\n`, olderWebhookSecret: ` ${SECRET} ` };
	const during = await createTrigger(parameters, both);
	await during.activate();
	for (const secret of [next, SECRET]) {
		const { status, body, items, log } = await during.receive(genuine(way, secret));
		expect([status, body]).toEqual([200, { status: 'success' }]);
		expect(items).toMatchObject([{ event: 'Resume Section Saved', data: JSON.parse(BODY) }]);
		expect(log).not.toContain('warn');
	}
	const after = await createTrigger(parameters, { webhookSecret: next, olderWebhookSecret: '' });
	expect((await after.receive(genuine(way))).status).toBe(401);
});

/** May stand in the prefix of a signature. */
const SHORT = 'sk_live_42';

const UNTIL_THEN = / Until then, the trigger accepts no event\.$/;
const option = (name: string, value: unknown) => ({ options: { [name]: value as never } });

test.each<[id: string, label: string, name: string, values: unknown[], way?: string]>([
	['empty', 'Trigger On', 'events', [[]]],
	['notAChoice', 'Trigger On', 'events', ['constructor', ['*', 7]]],
	['notAChoice', 'Verification', 'verification', ['', null, '__proto__', ['none']]],
	['notAHeaderName', 'Header Name', 'headerName', ['X Secret', '=X:{{ 1 }}']],
	['notAChoice', 'Signature Encoding', 'signatureEncoding', ['base32', null], 'hmac'],
	['notText', 'Signature Prefix', 'signaturePrefix', [['sha256=']], 'hmac'],
	['notText', 'Event ID Path', 'eventIdPath', [{}]],
	['notText', 'Event Name Path', 'eventNamePath', [true]],
	['notABoolean', 'Include Headers and Query', 'includeHeaders', ['true', null, 0]],
])('%s: no event without a valid %s', async (id, label, name, values, way = 'header') => {
	for (const value of values) {
		// n8n ignores a name that is none of its level, so the value can stand in both places.
		const change = { [name]: value as never, ...option(name, value) };
		const trigger = await createTrigger({ ...ways[way]!.parameters, ...change }, credential);
		await expect(trigger.activate()).rejects.toMatchObject({
			message: expect.stringContaining(`'${label}'`) as string,
			description: expect.stringMatching(UNTIL_THEN) as string,
			context: { failureId: `parameter.${id}` },
		});
		const { status, body, items, log } = await trigger.receive(genuine(way));
		expect([status, body.errorCode, items]).toEqual([500, 'misconfigured', undefined]);
		expect(log).toContain(String(body.errorMessage));
	}
});

test.each<[id: string, way: string, secrets: Array<[secret: unknown, older?: unknown]>]>([
	['noSecret', 'header', [undefined, null, 7, true, {}, '', ' '].map((secret) => [secret, SECRET])],
	['noSecret', 'hmac', [[' ', SECRET]]],
	['unusableSecret', 'header', [['schlüssel'], [SECRET, '完了']]],
	['unusableSecret', 'standardWebhooks', [['whsec_'], ['abc def'], [SECRET, 'no Base64!']]],
	// 7 bytes are a part of a secret that was not copied whole.
	[
		'unusableSecret',
		'standardWebhooks',
		['MTIzNDU2Nw==', 'whsec_MTIzNDU2Nw', 'whsec_=='].map((one) => [one]),
	],
	['unusableSecret', 'standardWebhooks', [[SECRET, 'whsec_c2Nobw==']]],
])('%s: secrets that are unusable for %s are refused at activation', async (id, way, secrets) => {
	for (const [webhookSecret, olderWebhookSecret] of secrets) {
		const own = { ...credential, webhookSecret, olderWebhookSecret };
		const trigger = await createTrigger(ways[way]!.parameters, own as typeof credential);
		const context = { failureId: `trigger.${id}` };
		await expect(trigger.activate()).rejects.toMatchObject({ context });
		const { body, items } = await trigger.receive(genuine(way));
		expect([body.errorCode, items]).toEqual(['misconfigured', undefined]);
	}
});

test('a Standard Webhooks secret of 8 bytes is accepted, with padding and without', async () => {
	// Supabase shows its secrets with `v1,`.
	for (const webhookSecret of ['whsec_MTIzNDU2Nzg=', 'MTIzNDU2Nzg', 'v1,whsec_MTIzNDU2Nzg=']) {
		const trigger = await createTrigger(ways.standardWebhooks!.parameters, { webhookSecret });
		await trigger.activate();
		expect((await trigger.receive(genuine('standardWebhooks', 'MTIzNDU2Nzg'))).status).toBe(200);
	}
});

// Control and format characters, halves of a surrogate pair, and separators of lines, paragraphs and words.
const INVISIBLE = [
	'0000',
	'007F',
	'00AD',
	'200B',
	'202E',
	'E0020',
	'D83D',
	'DC00',
	'2028',
	'2029',
	'00A0',
	'3000',
];
test.each(INVISIBLE)(
	'the invisible character U+%s in a secret is refused at activation',
	async (code) => {
		const one = String.fromCodePoint(parseInt(code, 16));
		const half = SECRET.length / 2;
		for (const way of Object.keys(ways)) {
			for (const [text, place] of [
				[`${one}${SECRET}`, 1],
				[`${SECRET.slice(0, half)}${one}${SECRET.slice(half)}`, half + 1],
				[`${SECRET}${one}`, SECRET.length + 1],
			] as const) {
				// Blanks around a secret are no part of it.
				if (place !== half + 1 && one.trim() === '') continue;
				for (const [name, own] of [
					['Webhook Secret', { webhookSecret: text }],
					['Older Webhook Secret', { webhookSecret: SECRET, olderWebhookSecret: text }],
				] as const) {
					const trigger = await createTrigger(ways[way]!.parameters, own);
					const message = `The credential's '${name}' has an invisible character (U+${code}) at position ${place}`;
					const context = { failureId: 'trigger.invisible' };
					await expect(trigger.activate()).rejects.toMatchObject({ message, context });
					const { body, items } = await trigger.receive(genuine(way));
					expect([body.errorMessage, items]).toEqual([`${message}.`, undefined]);
				}
			}
		}
	},
);

test.each<[label: string, name: string, text: string, shown: string]>([
	['Signature Prefix', 'signaturePrefix', 'sha256\u200b=', "(U+200B) after 'sha256'"],
	['Event Name Path', 'eventNamePath', 'meta\u200e.name', "(U+200E) after 'meta'"],
	['Event ID Path', 'eventIdPath', 'meta.\u00a0id', "(U+00A0) after 'meta.'"],
])('an invisible character in %s is refused at activation', async (label, name, text, shown) => {
	const change = { [name]: text, ...option(name, text) };
	const trigger = await createTrigger({ ...ways.hmac!.parameters, ...change }, credential);
	const message = `'${label}' has an invisible character ${shown}`;
	await expect(trigger.activate()).rejects.toMatchObject({ message });
});

test('a sender that signs with the old and the new secret is let in', async () => {
	const old = 'the secret before it';
	const header = [old, SECRET]
		.map((secret) => genuine('hmac', secret).headers['x-proof'])
		.join(', ');
	const trigger = await createTrigger(ways.hmac!.parameters, credential);
	const { status, items } = await trigger.receive({ body, headers: { 'x-proof': header } });
	expect([status, items]).toMatchObject([200, [{ event: 'Resume Section Saved' }]]);
});

test('a 401 says which Signature Prefix to enter, and does not show a secret in its place', async () => {
	const { signaturePrefix, ...parameters } = ways.hmac!.parameters;
	const trigger = await createTrigger(parameters as INodeParameters, { webhookSecret: SHORT });
	const signature = genuine('hmac', SHORT).headers['x-proof']!;
	const {
		status,
		body: response,
		log,
	} = await trigger.receive({ body, headers: { 'x-proof': signature } });
	const sentence = `The header has "${signaturePrefix}" before it: enter that in Signature Prefix.`;
	expect([status, response.errorMessage]).toEqual([401, `The signature is wrong. ${sentence}`]);
	expect(log).toContain(sentence);
	const own = { 'x-proof': signature.replace('sha256', SHORT) };
	const { body: hidden } = await trigger.receive({ body, headers: own });
	expect(hidden.errorMessage).toContain('[hidden]=');
});

const [key, secret, older] = ['live-key/0123456789+', 'a-webhook-secret', 'whsec_bXVsdGlwbGU='];
const own = { privateKey: key, webhookSecret: ` ${secret} `, olderWebhookSecret: older };
const shown = async (parameters: INodeParameters, delivery: Delivery) =>
	JSON.stringify(await (await createTrigger(parameters, own)).receive(delivery));

// Spellings of secrets: test/unit/secrets.test.mts.
const SECRETS = [key, secret, older, older.slice('whsec_'.length)];
test.each(SECRETS)('the secret %s is shown nowhere', async (text) => {
	const payload = { type: `by ${text}`, eventId: `${text}-1`, [text]: [{ text }] };
	const headers = { 'x-proof': secret, authentication: `Bearer ${text}`, [text]: '1' };
	const body = Buffer.from(JSON.stringify(payload));
	const delivery = { body, headers, query: { [text]: [text] } };
	const all = await shown({ ...byHeader, ...option('includeHeaders', true) }, delivery);
	expect(all).toMatch(/"authentication":"Bearer [^"]*\[hidden\]/);
	const none = await shown({ ...byHeader, events: ['resumeSectionSaved'] }, delivery);
	expect(none).toContain('started nothing for the event');
	const asName = await shown({ ...byHeader, headerName: text }, { body, headers: {} });
	expect(asName).toMatch(/\[hidden\] is missing|is not the name of a header/);
	expect((all + none + asName).toLowerCase()).not.toContain(text.toLowerCase());
});

test.each([
	['header', 'X-Webhook-Secret'],
	['hmac', 'X-Webhook-Signature'],
])('without Header Name, %s reads %s', async (verification, header) => {
	const trigger = await createTrigger({ verification }, credential);
	const { body: missing } = await trigger.receive({ body, headers: {} });
	expect(missing.errorMessage).toBe(`The header ${header} is missing.`);
});

test('a secret in its own header is not shown, however short it is', async () => {
	const parameters = { ...byHeader, ...option('includeHeaders', true) };
	const trigger = await createTrigger(parameters, { webhookSecret: 'short' });
	const headers = { 'x-proof': 'short', 'x-id': '1' };
	const { items } = await trigger.receive({ body, headers });
	expect(items).toMatchObject([{ headers: { 'x-proof': '[hidden]', 'x-id': '1' } }]);
});

test('an event that is not selected starts nothing, and the log has a bounded part of its name', async () => {
	const trigger = await createTrigger({ ...byHeader, events: ['resumeSectionSaved'] }, credential);
	const event = Buffer.from(JSON.stringify({ type: `Plan "Changed"\n${'x'.repeat(1_000)}` }));
	const { log, ...output } = await trigger.receive({ ...genuine(), body: event });
	expect(output).toEqual({ status: 200, body: { status: 'success' } });
	expect(log).toContain('started nothing for the event "Plan');
	expect(log).not.toContain('x'.repeat(101));
});

// Those of SendGrid and others have no event of the specification, and started workflows that wait for that alone.
test.each<[payload: unknown[], started: string[], logged?: string]>([
	[[{ event: 'processed' }, { event: 'open' }], [], '2 events such as "processed"'],
	[[{ event: 'processed' }, { resumeId: 1 }], [], '2 events such as "processed"'],
	[
		[{ event: 'resume.section_saved', eventId: 'e1' }, { event: 'open' }],
		['e1'],
		'the event "open"',
	],
	[
		[
			{ type: 'resumeSectionSaved', eventId: 'e1' },
			{ event: 'Resume Section Saved', eventId: 'e2' },
		],
		['e1', 'e2'],
	],
	[[], [], 'started nothing: the array has no event'],
])(
	'of the events %j, only those that are selected start the workflow',
	async (payload, started, logged = '') => {
		const parameters = { ...byHeader, events: ['resumeSectionSaved'] };
		const trigger = await createTrigger(parameters, credential);
		const delivery = { ...genuine(), body: Buffer.from(JSON.stringify(payload)) };
		const { status, body, items = [], log } = await trigger.receive(delivery);
		expect([status, body]).toEqual([200, { status: 'success' }]);
		expect(items.map(({ deliveryId }) => deliveryId)).toEqual(started);
		if (logged) expect(log).toContain(logged);
		else expect(log).not.toContain('started nothing');
	},
);

test('each item of an array has the headers and the query, if they are included', async () => {
	const trigger = await createTrigger(
		{ ...byHeader, ...option('includeHeaders', true) },
		credential,
	);
	const query = { a: '1' };
	const { items } = await trigger.receive({ ...genuine(), body: Buffer.from('[{},{}]'), query });
	const request = { headers: { 'x-proof': '[hidden]' }, query };
	expect(items).toMatchObject([
		{ event: '', ...request },
		{ event: '', ...request },
	]);
});

test('an error of n8n gets a response without its text, and starts nothing', async () => {
	const trigger = await createTrigger(byHeader, credential);
	const fail = () => {
		throw new Error('text of n8n');
	};
	for (const [method, errorCode, errorMessage] of [
		['getHeaderData', 'internal-error', 'n8n could not read the request or the credential.'],
		['getRequestObject', 'internal-error', 'n8n could not read the request or the credential.'],
		['getCredentials', 'misconfigured', 'n8n could not read the credential.'],
	]) {
		const { status, body, items, log } = await trigger.receive(genuine(), { [method!]: fail });
		expect([status, items]).toEqual([500, undefined]);
		expect(body).toEqual({ status: 'error', errorCode, errorMessage });
		expect(JSON.stringify(body) + log).not.toContain('text of n8n');
	}
});

test('without verification, the trigger needs neither a proof nor a credential', async () => {
	const parameters = { verification: 'none', ...option('includeHeaders', true) };
	const trigger = await createTrigger(parameters);
	await trigger.activate();
	const headers = { 'x-id': '1' };
	const { status, items } = await trigger.receive({ body, headers });
	expect([status, items]).toMatchObject([200, [{ data: JSON.parse(BODY), headers, query: {} }]]);
});
