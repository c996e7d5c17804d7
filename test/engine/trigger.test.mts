import { createHmac } from 'node:crypto';

import fc from 'fast-check';
import type { ICredentialDataDecryptedObject, INodeParameters } from 'n8n-workflow';
import { Webhook } from 'standardwebhooks';

import { createTrigger, type Delivery } from '../support/trigger.mts';

/** What the trigger takes and refuses, whatever its parameters, its credential and the request are. */

const SECRET = Buffer.from('a secret that is long enough').toString('base64');
const credential = { baseUrl: '', privateKey: 'key', webhookSecret: SECRET };
const BODY = '{"event":"Resume Section Saved"}';

/** Settings as a user makes them, and the headers of a genuine request. */
const ways: Record<
	string,
	{ parameters: INodeParameters; prove: (secret: string, seconds: number) => Delivery['headers'] }
> = {
	header: {
		parameters: { verification: 'header', headerName: 'X-Webhook-Secret' },
		prove: (secret) => ({ 'x-webhook-secret': secret }),
	},
	hmac: {
		parameters: {
			verification: 'hmac',
			headerName: 'X-Webhook-Signature',
			signatureEncoding: 'hex',
			signaturePrefix: 'sha256=',
			timestampHeader: 'X-Webhook-Timestamp',
			timestampTolerance: 300,
		},
		prove: (secret, seconds) => ({
			'x-webhook-timestamp': String(seconds),
			'x-webhook-signature': `sha256=${sign(secret, seconds)}`,
		}),
	},
	standardWebhooks: {
		parameters: { verification: 'standardWebhooks', timestampTolerance: 300 },
		prove: (secret, seconds) => ({
			'webhook-id': 'msg_1',
			'webhook-timestamp': String(seconds),
			'webhook-signature': new Webhook(secret).sign('msg_1', new Date(seconds * 1000), BODY),
		}),
	},
	timestampedSignature: {
		parameters: {
			verification: 'timestampedSignature',
			headerName: 'X-Webhook-Signature',
			timestampTolerance: 300,
		},
		prove: (secret, seconds) => ({
			'x-webhook-signature': `t=${seconds},v1=${sign(secret, seconds)}`,
		}),
	},
};
const names = Object.keys(ways);

function sign(secret: string, seconds: number): string {
	return createHmac('sha256', secret).update(`${seconds}.${BODY}`).digest('hex');
}

const now = () => Math.floor(Date.now() / 1000);
const of2001 = 978_307_200;
const genuine = (way: string, secret = SECRET, seconds = now()): Delivery => ({
	body: Buffer.from(BODY),
	headers: ways[way]!.prove(secret, seconds),
});

/** Values of all kinds that a saved workflow can hold, and what expressions can make of them. */
const anyValue = fc.oneof(
	fc.jsonValue({ maxDepth: 2 }),
	fc.constantFrom<unknown>(
		...[
			'',
			' ',
			'*',
			'none',
			'header',
			'hmac',
			'hex',
			'__proto__',
			'constructor',
			'300',
			'Infinity',
		],
		...[-1, 0, 1, 299.5, 86_401, 1e12, Number.MAX_VALUE, true, false, null, [], {}, ['*', 7]],
		...['={{ null }}', '={{ undefined }}', '={{ NaN }}', '={{ 1 / 0 }}', '={{ "300" }}'],
		...['={{ [] }}', '={{ ({}) }}', '={{ $json.x.y.z }}', '={{ nonsense( }}', '={{ new Date() }}'],
	),
);
const parameterNames = [
	...['events', 'verification', 'headerName', 'signatureEncoding', 'signaturePrefix'],
	...['timestampHeader', 'timestampTolerance', 'options'],
	...['options.includeHeaders', 'options.eventNamePath', 'options.eventIdPath'],
];
const changes = fc.dictionary(fc.constantFrom(...parameterNames), anyValue, {
	minKeys: 1,
	maxKeys: 3,
	noNullPrototype: true,
});

function changed(parameters: INodeParameters, values: Record<string, unknown>): INodeParameters {
	const result: Record<string, unknown> = { ...parameters };
	for (const [name, value] of Object.entries(values)) {
		const [, inner] = name.split('options.');
		if (inner === undefined) result[name] = value;
		else if (typeof result.options !== 'object' || result.options === null) {
			result.options = { [inner]: value };
		} else result.options = { ...result.options, [inner]: value };
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

test.each(names)('a genuine request is taken, by the credential of a user (%s)', async (way) => {
	const { parameters } = ways[way]!;
	const blank = await createTrigger(parameters, { webhookSecret: ` \t${SECRET}\r\n` });
	for (const trigger of [await createTrigger(parameters, credential), blank]) {
		await trigger.activate();
		const { status, body, items, log } = await trigger.receive(genuine(way));
		expect([status, body]).toEqual([200, { status: 'success' }]);
		expect(items).toMatchObject([{ event: 'Resume Section Saved', data: JSON.parse(BODY) }]);
		expect(log).not.toContain('warn');
	}
});

test.each(names)('the older secret is taken as well, until it is removed (%s)', async (way) => {
	const { parameters } = ways[way]!;
	const next = Buffer.from('the secret that comes after it').toString('base64');
	const both = { webhookSecret: next, olderWebhookSecret: ` ${SECRET} ` };
	const during = await createTrigger(parameters, both);
	expect((await during.receive(genuine(way, next))).status).toBe(200);
	expect((await during.receive(genuine(way))).status).toBe(200);
	const after = await createTrigger(parameters, { webhookSecret: next, olderWebhookSecret: '' });
	expect((await after.receive(genuine(way))).status).toBe(401);
});

test('no secret at all comes out with the headers', async () => {
	const parameters = { ...ways.header!.parameters, options: { includeHeaders: true } };
	const both = { webhookSecret: 'next', olderWebhookSecret: 'older' };
	const trigger = await createTrigger(parameters, both);
	const headers = { 'x-webhook-secret': 'older', 'x-other': 'Bearer next', 'x-id': '1' };
	const { items } = await trigger.receive({ body: Buffer.from(BODY), headers });
	expect(items![0]!.headers).toEqual({
		'x-webhook-secret': '[hidden]',
		'x-other': '[hidden]',
		'x-id': '1',
	});
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
			const isReplay = parameters.timestampHeader !== '' && way !== 'header';
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

test.each(['timestampTolerance', 'headerName', 'verification', 'events', 'signatureEncoding'])(
	'%s of any other kind is refused when the workflow is activated, and in an answer',
	async (name) => {
		// n8n itself puts the default in the place of null.
		for (const value of [{}, [], true, '={{ "two words" }}', ['x'], '={{ NaN }}', -1, 1e6]) {
			const trigger = await load(changed(ways.hmac!.parameters, { [name]: value }));
			await expect(trigger!.activate()).rejects.toThrow(/^'.*' is not /);
			const { status, body, items } = await trigger!.receive(genuine('hmac', SECRET, of2001));
			expect([status, body.errorCode, items]).toEqual([500, 'misconfigured', undefined]);
		}
	},
);

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
					const headers = { 'x-webhook-secret': guess };
					const request =
						way === 'standardWebhooks' ? { body: Buffer.from(BODY), headers } : genuine(way, guess);
					expect((await trigger!.receive(request)).items).toBeUndefined();
				}
			},
		),
		{ numRuns: 500 },
	);
}, 120_000);

describe('an event that is not taken', () => {
	const chosen = { ...ways.header!.parameters, events: ['resumeSectionSaved'] };
	const send = async (parameters: INodeParameters, payload: unknown) => {
		const trigger = await createTrigger(parameters, credential);
		return await trigger.receive({
			...genuine('header'),
			body: Buffer.from(JSON.stringify(payload)),
		});
	};

	test.each(['section.saved', 'resume:section:saved', 'education', 'Plan Changed', '完了'])(
		'is none by default (%j)',
		async (type) => {
			const { body, items } = await send(ways.header!.parameters, { type });
			expect(body).toEqual({ status: 'success' });
			expect(items).toMatchObject([{ event: type }]);
		},
	);

	test('is named in the answer and in the log, and only so much of it', async () => {
		const long = `Plan "Changed"\n${'x'.repeat(1_000)}`;
		const payload = [{ type: 'section.saved' }, { type: long }, { type: 'b' }, { type: 'b' }];
		const { status, body, items, log } = await send(chosen, payload);
		expect(status).toBe(200);
		expect(items).toMatchObject([{ event: 'section.saved' }]);
		const events = [long.slice(0, 100), 'b'];
		const reason = "Not selected in 'Trigger On' of the trigger.";
		expect(body).toEqual({ status: 'success', notTaken: { count: 3, events, reason } });
		expect(log).toContain('left out 3 of the events');
		expect(log).not.toContain('x'.repeat(101));
		const many = Array.from({ length: 1_000 }, (_, index) => ({ type: `event ${index}` }));
		const { notTaken } = (await send(chosen, many)).body as { notTaken: { events: string[] } };
		expect(notTaken).toMatchObject({ count: 1_000 });
		expect(notTaken.events).toHaveLength(10);
	});

	test('leaves a trace, or else it is taken, whatever its name', async () => {
		const name = fc.oneof(fc.string(), fc.constantFrom('section.saved', 'Plan Changed'));
		await fc.assert(
			fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 5 }), async (types) => {
				const { body, items = [] } = await send(
					chosen,
					types.map((type) => ({ type })),
				);
				const { count } = (body.notTaken ?? { count: 0 }) as { count: number };
				expect(items.length + count).toBe(types.length);
				const everything = await send(
					ways.header!.parameters,
					types.map((type) => ({ type })),
				);
				expect(everything.items).toHaveLength(types.length);
			}),
		);
	});
});

test('a form is answered 415, as n8n has taken its bytes apart', async () => {
	const trigger = await createTrigger(ways.header!.parameters, credential);
	const form = { ...genuine('header'), contentType: 'multipart/form-data' };
	const { status, body, items } = await trigger.receive(form);
	expect([status, body.errorCode, items]).toEqual([415, 'unsupported-body', undefined]);
});
