import fc from 'fast-check';
import type { ICredentialDataDecryptedObject, INodeParameters } from 'n8n-workflow';

import { timed, ways } from '../support/proofs.mts';
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
	...['timestampHeader', 'timestampTolerance', 'options', ...optionNames],
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
			const isReplay = timed.includes(way) && parameters.timestampHeader !== '';
			for (const delivery of [stranger, ...(isReplay ? [replay] : [])]) {
				const { status, body, items, log } = await trigger.receive(delivery);
				const { verification, timestampHeader } = parameters as Record<string, unknown>;
				const isOpen = verification === 'none';
				const isBlank = typeof timestampHeader === 'string' && timestampHeader.trim() === '';
				const isUntimed = verification === 'hmac' && isBlank;
				if (!isOpen && !(isUntimed && delivery === replay)) expect(items).toBeUndefined();
				if (isActivated) expect(body.errorCode).not.toBe('misconfigured');
				if (body.errorCode !== 'misconfigured') continue;
				refused++;
				expect([status, items]).toEqual([500, undefined]);
				expect(body.errorMessage).toMatch(/^'[A-Z].* is not .*\.$/);
				expect(log).toContain(String(body.errorMessage).slice(0, -1));
			}
		}),
		{ numRuns: 1_500 },
	);
	expect(refused).toBeGreaterThan(200);
}, 120_000);

test('whatever the credential holds, only its secret lets a request in', async () => {
	const anySecret = fc.oneof(anyValue, fc.constantFrom(SECRET, ' ', 'whsec_', 'abc'));
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
			expect(all).toMatch(/"secretsHidden":true.*"authentication":"Bearer [^"]*\[hidden\]/);
			const none = await shown({ ...parameters, events: ['resumeSectionSaved'] }, delivery);
			expect(none).toContain('notTaken');
			expect((all + none).toLowerCase()).not.toContain(text.toLowerCase());
		}
	});

	test('by the name of a header, either', async () => {
		const mistaken = { ...parameters, headerName: secret };
		const output = await shown(mistaken, { body: Buffer.from(BODY), headers: {} });
		expect(output).toContain('The header [hidden] is missing.');
		expect(output).not.toContain(secret);
	});

	test('in the header of the secret, however short it is', async () => {
		const trigger = await createTrigger(
			{ ...parameters, options: { includeHeaders: true } },
			{ webhookSecret: 'short' },
		);
		const headers = { 'x-proof': 'short', 'x-id': '1' };
		const { items } = await trigger.receive({ body: Buffer.from(BODY), headers });
		expect(items).toMatchObject([{ headers: { 'x-proof': '[hidden]', 'x-id': '1' } }]);
		expect(items![0]).not.toHaveProperty('secretsHidden');
	});
});

describe('an event that is not selected', () => {
	const parameters = { ...ways.header!.parameters, events: ['resumeSectionSaved'] };
	const send = async (payload: unknown, own: INodeParameters = parameters) => {
		const trigger = await createTrigger(own, credential);
		const body = Buffer.from(JSON.stringify(payload));
		return await trigger.receive({ ...genuine('header'), body });
	};

	test('is named in the answer and in the log, and only so much of it', async () => {
		const long = `Plan "Changed"\n${'x'.repeat(1_000)}`;
		const payload = [{ type: 'section.saved' }, { type: long }, { type: 'b' }, { type: 'b' }];
		const { status, body, items, log } = await send(payload);
		expect(status).toBe(200);
		expect(items).toMatchObject([{ event: 'section.saved' }]);
		const events = [long.slice(0, 100), 'b'];
		const reason = "Not selected in 'Trigger On' of the trigger.";
		expect(body).toEqual({ status: 'success', notTaken: { count: 3, events, reason } });
		expect(log).toContain('left out 3 of the events');
		expect(log).not.toContain('x'.repeat(101));
		const many = Array.from({ length: 1_000 }, (_, index) => ({ type: `event ${index}` }));
		const { notTaken } = (await send(many)).body as { notTaken: { events: string[] } };
		expect(notTaken).toMatchObject({ count: 1_000 });
		expect(notTaken.events).toHaveLength(10);
	});
});

test('a form is answered in words', async () => {
	const trigger = await createTrigger(ways.header!.parameters, credential);
	const contentType = 'multipart/form-data';
	const { status, body, items } = await trigger.receive({ ...genuine('header'), contentType });
	expect([status, body.errorCode, items]).toEqual([415, 'unsupported-body', undefined]);
});

test('without verification, there is neither a proof nor a credential', async () => {
	const trigger = await createTrigger({ verification: 'none', options: { includeHeaders: true } });
	await trigger.activate();
	const headers = { 'x-id': '1' };
	const { status, items } = await trigger.receive({ body: Buffer.from(BODY), headers });
	expect([status, items]).toMatchObject([200, [{ data: JSON.parse(BODY), headers, query: {} }]]);
});
