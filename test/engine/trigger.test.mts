import fc from 'fast-check';
import type { ICredentialDataDecryptedObject, INodeParameters } from 'n8n-workflow';

import { ways } from '../support/proofs.mts';
import { createTrigger, type Delivery } from '../support/trigger.mts';

/**
 * What the trigger makes of its parameters and its credential, and what comes out of it. What it accepts
 * as a proof and reads from a body is in test/unit/verify.test.mts and test/unit/event.test.mts.
 */

const SECRET = Buffer.from('a secret that is long enough').toString('base64');
const credential = { baseUrl: '', privateKey: 'key', webhookSecret: SECRET };
const BODY = '{"event":"Resume Section Saved"}';

const names = Object.keys(ways);

const of2001 = 978_307_200;
const genuine = (way: string, secret = SECRET, seconds = Math.floor(Date.now() / 1000)) => ({
	body: Buffer.from(BODY),
	headers: ways[way]!.prove(secret, BODY, seconds),
});

/** Values of all kinds that a saved workflow can hold, and what expressions can make of them. */
const anyValue = fc.oneof(
	fc.jsonValue({ maxDepth: 2 }),
	fc.constantFrom<unknown>(
		...['', ' ', '*', 'none', 'header', 'hmac', 'hex', '__proto__', 'constructor', '300'],
		...['Infinity', -1, 0, 1, 299.5, 86_401, 1e12, Number.MAX_VALUE, true, false, null, [], {}],
		...[['*', 7], '={{ null }}', '={{ undefined }}', '={{ NaN }}', '={{ 1 / 0 }}', '={{ "300" }}'],
		...['={{ [] }}', '={{ ({}) }}', '={{ $json.x.y.z }}', '={{ nonsense( }}', '={{ new Date() }}'],
	),
);
const optionNames = ['includeHeaders', 'eventNamePath', 'eventIdPath'];
const parameterNames = [
	...['events', 'verification', 'headerName', 'signatureEncoding', 'signaturePrefix'],
	...['options', ...optionNames],
];
const changes = fc.dictionary(fc.constantFrom(...parameterNames), anyValue, {
	minKeys: 1,
	maxKeys: 3,
	noNullPrototype: true,
});

function changed(parameters: INodeParameters, values: Record<string, unknown>): INodeParameters {
	const result: Record<string, unknown> = { ...parameters };
	for (const [name, value] of Object.entries(values)) {
		if (!optionNames.includes(name)) result[name] = value;
		else result.options = { ...(result.options as object), [name]: value };
	}
	return result as INodeParameters;
}

/** Undefined where n8n itself can't load such a node, so that nothing is executed either. */
async function load(parameters: INodeParameters, data: object = credential) {
	try {
		return await createTrigger(parameters, data as ICredentialDataDecryptedObject);
	} catch {
		return undefined;
	}
}

test.each(names)('%s: both secrets are accepted, until the older one is removed', async (way) => {
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

test('whatever the parameters are, a stranger and a replay start nothing, and nothing throws', async () => {
	let refused = 0;
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(...names), changes, async (way, values) => {
			const parameters = changed(ways[way]!.parameters, values);
			const trigger = await load(parameters);
			if (trigger === undefined) return;
			const isActivated = await trigger.activate().then(
				() => true,
				() => false,
			);
			const stranger = { body: Buffer.from(BODY), headers: {} };
			const replay = genuine(way, SECRET, of2001);
			for (const delivery of way === 'standardWebhooks' ? [stranger, replay] : [stranger]) {
				const { status, body, items, log } = await trigger.receive(delivery);
				if (parameters.verification !== 'none') expect(items).toBeUndefined();
				if (isActivated) expect(status).not.toBe(500);
				if (status !== 500) continue;
				refused++;
				expect(items).toBeUndefined();
				expect(['misconfigured', 'internal-error']).toContain(body.errorCode);
				expect(log).toContain(String(body.errorMessage));
			}
		}),
		{ numRuns: 1_500 },
	);
	expect(refused).toBeGreaterThan(200);
}, 120_000);

test('whatever the credential holds, only its secret lets a request in', async () => {
	const anySecret = fc.oneof(anyValue, fc.constantFrom(SECRET, ' ', 'whsec_', 'abc', '完了'));
	await fc.assert(
		fc.asyncProperty(
			fc.constantFrom(...names),
			anySecret,
			anySecret,
			async (way, webhookSecret, olderWebhookSecret) => {
				const trigger = await load(ways[way]!.parameters, { webhookSecret, olderWebhookSecret });
				const isSet = (secret: unknown) => typeof secret === 'string' && secret.trim() === SECRET;
				const { status, items } = await trigger!.receive(genuine(way));
				const isTaken = status === 200;
				expect(items !== undefined).toBe(isTaken);
				if (isTaken) expect(isSet(webhookSecret) || isSet(olderWebhookSecret)).toBe(true);
				// Of the other kinds of values, each may be the key that an attacker would try first.
				for (const guess of ['', 'null', 'undefined', '[object Object]', 'true', '0']) {
					if (guess === webhookSecret || guess === olderWebhookSecret) continue;
					const headers = { 'x-proof': guess };
					const request =
						way === 'standardWebhooks' ? { body: Buffer.from(BODY), headers } : genuine(way, guess);
					expect((await trigger!.receive(request)).items).toBeUndefined();
				}
			},
		),
		{ numRuns: 500 },
	);
}, 120_000);

describe('no secret comes out', () => {
	const [key, secret, older] = ['live-key/0123456789+', 'a-webhook-secret', 'whsec_bXVsdGlwbGU='];
	const own = { privateKey: key, webhookSecret: ` ${secret} `, olderWebhookSecret: older };
	const { parameters } = ways.header!;
	const proof = { 'x-proof': secret };
	/** The answer, the items and the log as one text. */
	const shown = async (parameters: INodeParameters, delivery: Delivery) =>
		JSON.stringify(await (await createTrigger(parameters, own)).receive(delivery));

	// In which spellings: test/unit/secrets.test.mts.
	test('of the payload, a header or the query', async () => {
		for (const text of [key, secret, older, older.slice('whsec_'.length)]) {
			const payload = { type: `by ${text}`, eventId: `${text}-1`, [text]: [{ text }] };
			const body = Buffer.from(JSON.stringify(payload));
			const headers = { ...proof, authentication: `Bearer ${text}`, [text]: '1' };
			const delivery = { body, headers, query: { [text]: [text] } };
			const all = await shown({ ...parameters, options: { includeHeaders: true } }, delivery);
			expect(all).toMatch(/"authentication":"Bearer [^"]*\[hidden\]/);
			const none = await shown({ ...parameters, events: ['resumeSectionSaved'] }, delivery);
			expect(none).toContain('started nothing for the event');
			expect((all + none).toLowerCase()).not.toContain(text.toLowerCase());
		}
	});

	test('by the name of a header', async () => {
		const mistaken = { ...parameters, headerName: secret };
		const output = await shown(mistaken, { body: Buffer.from(BODY), headers: {} });
		expect(output).toContain('The header [hidden] is missing.');
		expect(output).not.toContain(secret);
	});

	test('of 16 KB, nor does it keep a stranger or the service waiting', async () => {
		const [key, secret, older] = ['k\\', 's"', 'o€'].map((text) => text.repeat(8_192));
		const own = { privateKey: key!, webhookSecret: secret!, olderWebhookSecret: older! };
		const trigger = await createTrigger(ways.hmac!.parameters, own);
		await trigger.activate();
		const body = JSON.stringify({ event: key, data: `${secret} ${older}`.repeat(20), id: older });
		const start = performance.now();
		const stranger = await trigger.receive({ body: Buffer.from(body), headers: {} });
		const headers = ways.hmac!.prove(older!, body, 0);
		const { items } = await trigger.receive({ body: Buffer.from(body), headers });
		expect(performance.now() - start).toBeLessThan(2_000);
		expect([stranger.status, stranger.items]).toEqual([401, undefined]);
		const data = '[hidden] [hidden]'.repeat(20);
		expect(items).toMatchObject([
			{ event: '[hidden]', deliveryIdSource: 'bodyHash', data: { data } },
		]);
	});

	test('in the header of the secret, however short it is', async () => {
		const trigger = await createTrigger(
			{ ...parameters, options: { includeHeaders: true } },
			{ webhookSecret: 'short' },
		);
		const headers = { 'x-proof': 'short', 'x-id': '1' };
		const { items } = await trigger.receive({ body: Buffer.from(BODY), headers });
		expect(items).toMatchObject([{ headers: { 'x-proof': '[hidden]', 'x-id': '1' } }]);
	});
});

test('an event that is not selected starts nothing, and the log has a bounded part of its name', async () => {
	const parameters = { ...ways.header!.parameters, events: ['resumeSectionSaved'] };
	const trigger = await createTrigger(parameters, credential);
	const body = Buffer.from(JSON.stringify({ type: `Plan "Changed"\n${'x'.repeat(1_000)}` }));
	const { log, ...output } = await trigger.receive({ ...genuine('header'), body });
	expect(output).toEqual({ status: 200, body: { status: 'success' } });
	expect(log).toContain('started nothing for the event "Plan');
	expect(log).not.toContain('x'.repeat(101));
});

test.each<[string, ICredentialDataDecryptedObject, string]>([
	['header', { webhookSecret: 'schlüssel' }, 'unusableSecret'],
	['header', { ...credential, olderWebhookSecret: '完了' }, 'unusableSecret'],
	['standardWebhooks', { webhookSecret: 'whsec_' }, 'unusableSecret'],
	['standardWebhooks', { ...credential, olderWebhookSecret: 'no Base64!' }, 'unusableSecret'],
	['hmac', { webhookSecret: ' ', olderWebhookSecret: SECRET }, 'noSecret'],
])('%s: the secrets of %j are refused at activation', async (way, own, id) => {
	const trigger = await createTrigger(ways[way]!.parameters, own);
	const context = { failureId: `trigger.${id}` };
	await expect(trigger.activate()).rejects.toMatchObject({ context });
	expect((await trigger.receive(genuine(way))).body.errorCode).toBe('misconfigured');
});

test('an unusable field is named at activation, with its consequence', async () => {
	const parameters = { ...ways.header!.parameters, headerName: 'X Secret' };
	const trigger = await createTrigger(parameters, credential);
	await expect(trigger.activate()).rejects.toMatchObject({
		message: "'Header Name' is not the name of a header",
		description: expect.stringMatching(/ Until then, the trigger accepts no event\.$/) as string,
		context: { failureId: 'parameter.notAHeaderName' },
	});
});

test('an error of n8n is answered without its words, and starts nothing', async () => {
	const trigger = await createTrigger(ways.header!.parameters, credential);
	const fail = () => {
		throw new Error('words of n8n');
	};
	for (const method of ['getHeaderData', 'getCredentials', 'getRequestObject']) {
		const { status, body, items, log } = await trigger.receive(genuine('header'), {
			[method]: fail,
		});
		expect([status, body.errorCode, items]).toEqual([500, 'internal-error', undefined]);
		expect(JSON.stringify(body) + log).not.toContain('words of n8n');
	}
});

test('without verification, there is neither a proof nor a credential', async () => {
	const trigger = await createTrigger({ verification: 'none', options: { includeHeaders: true } });
	await trigger.activate();
	const headers = { 'x-id': '1' };
	const { status, items } = await trigger.receive({ body: Buffer.from(BODY), headers });
	expect([status, items]).toMatchObject([200, [{ data: JSON.parse(BODY), headers, query: {} }]]);
});
