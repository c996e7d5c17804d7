import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import axios from 'axios';
import type { INodeCredentials, INodeParameters } from 'n8n-workflow';
import { byHeader, instance, outputOf, secretHeader, useInstance } from './instance.mts';

/** Deliveries over HTTP: body, response and execution. The trigger's own decisions are in test/engine/trigger.test.mts. */

const EVENT = { event: 'Resume Section Saved', id: 'evt_1', data: { name: 'Müller' } };

let credentials: INodeCredentials;

useInstance();
beforeAll(async () => void (credentials = await instance.addCredential()));

async function activate(parameters: INodeParameters, own = credentials) {
	const { id, url } = await instance.activateTrigger(parameters, own);
	return {
		url,
		/** Sends a body as it is, JSON by default. */
		send: async (body: string | Buffer, headers: Record<string, string> = {}) =>
			await axios.post(url, body, {
				headers: { 'Content-Type': 'application/json', ...headers },
				transformRequest: (data: unknown) => data,
				validateStatus: null,
				maxBodyLength: Infinity,
			}),
		/** Sends a header on several lines. */
		sendLines: async (name: string, lines: string[], body: string) => {
			const headers = { 'Content-Type': 'application/json', [name]: lines };
			const [response] = await once(
				request(url, { method: 'POST', headers }).end(body),
				'response',
			);
			return (response as IncomingMessage).resume().statusCode;
		},
		/** Waits for so many executions, and returns the items that they started with, oldest first. */
		async items(count: number) {
			const executions = await instance.api.waitForExecutions(id, count);
			return executions.flatMap((execution) => {
				expect(execution.status).toBe('success');
				return outputOf(execution, 'Trigger').map(({ json }) => json);
			});
		},
	};
}

// n8n itself responds with 422 or 500 to invalid bodies of the types that n8n parses.
test('bodies of all kinds start nothing without the secret, and get a response', async () => {
	const text = JSON.stringify(EVENT);
	const type = (value: string) => ({ 'Content-Type': value });
	const octets = type('application/octet-stream');
	const latin1 = Buffer.from(text, 'latin1');
	const parts = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n';
	const large = `"${'x'.repeat(17 * 1024 * 1024)}"`;
	const gzip = { 'Content-Encoding': 'gzip' };
	type Case = [string | Buffer, Record<string, string>, withoutSecret: number, withSecret: number];
	const cases: Record<string, Case> = {
		empty: ['', {}, 401, 400],
		'not packed, of no declared type': [text, { ...octets, ...gzip }, 400, 400],
		'of an unknown charset': [text, type('text/json; charset=klingon'), 401, 200],
		'not of its charset': [latin1, {}, 401, 200],
		'too large, of no declared type': [large, octets, 400, 400],
		'in parts': [parts, type('multipart/form-data; boundary=x'), 400, 400],
		'JSON in Latin-1': [latin1, type('application/json; charset=latin1'), 401, 200],
		'JSON of another type': [text, type('application/cloudevents+json'), 401, 200],
		'JSON declared as text': [text, type('text/plain'), 401, 200],
		'JSON declared as a form': [text, type('application/x-www-form-urlencoded'), 401, 200],
		'packed with gzip': [gzipSync(text), gzip, 401, 200],
		'of 5 MB': [` ${text}${' '.repeat(5 * 1024 * 1024)}`, {}, 401, 200],
	};
	const trigger = await activate(byHeader);
	const codes: Record<number, object> = {
		200: { status: 'success' },
		400: { status: 'error', errorCode: 'unreadable-body' },
		401: { status: 'error', errorCode: 'unauthorized' },
	};
	for (const [name, [body, headers, ...statuses]] of Object.entries(cases)) {
		const responses = [
			await trigger.send(body, headers),
			await trigger.send(body, { ...headers, ...secretHeader }),
		];
		expect([name, ...responses.map(({ status, data }) => ({ status, data }))]).toMatchObject([
			name,
			...statuses.map((status) => ({ status, data: codes[status] })),
		]);
	}
	const started = Object.values(cases).filter(([, , , status]) => status === 200);
	const item = {
		event: 'Resume Section Saved',
		deliveryId: 'evt_1',
		deliveryIdSource: 'payload',
		receivedAt: expect.stringMatching(/^2\d{3}-.*Z$/) as string,
		data: EVENT,
	};
	expect(await trigger.items(started.length)).toEqual(started.map(() => item));
});

test.each([
	[
		'hmac',
		'schlüssel 完了',
		{ encoding: 'base64', prefix: 'v0=', headerName: 'X-Webhook-Signature' },
	],
	['standardWebhooks', 'whsec_c2Nob24tYW5kZXJz', {}],
] as const)('signed by %s, only the right secret is accepted', async (style, text, more) => {
	const { webhooks } = instance.sandbox;
	const own = await instance.addCredential({ webhookSecret: text });
	const signature = { signatureEncoding: 'base64', signaturePrefix: 'v0=' };
	const { url, items } = await activate({ verification: style, ...signature }, own);
	for (const secret of [`${text.slice(0, 4)}bbbb`, text]) {
		// An address of its own: a pending delivery must not be sent again with the other secret.
		const { id } = webhooks.register({
			url: `${url}?${secret.length}${secret === text}`,
			secret,
			style,
			...more,
		});
		webhooks.saveSection(1, {});
		while (webhooks.deliveries()[0]!.attempts === 0) await sleep(20);
		expect(webhooks.deliveries()[0]!.lastStatus).toBe(secret === text ? 200 : 401);
		webhooks.remove(id);
	}
	expect(await items(1)).toHaveLength(1);
});

// As PagerDuty signs with each of its secrets. Node.js joins the lines of a header.
test('a signature header on two lines is accepted if one of them is right, in any order', async () => {
	const secret = 'a-webhook-secret';
	const own = await instance.addCredential({ webhookSecret: secret });
	const parameters = { headerName: 'X-Signature', signaturePrefix: 'v1=' };
	const trigger = await activate({ verification: 'hmac', ...parameters }, own);
	const body = JSON.stringify(EVENT);
	const [right, other] = [secret, 'another'].map((key) => {
		return `v1=${createHmac('sha256', key).update(body).digest('hex')}`;
	}) as [string, string];
	for (const [lines, status] of [
		[[right, other], 200],
		[[other, right], 200],
		[[other, other], 401],
	] as const) {
		expect(await trigger.sendLines('X-Signature', [...lines], body)).toBe(status);
	}
	expect(await trigger.items(2)).toHaveLength(2);
});

test('an array starts one execution, with an item for each of its selected events', async () => {
	const trigger = await activate({ ...byHeader, events: ['resumeSectionSaved'] });
	const others = [{ event: 'processed' }, { resumeId: 'resume-001' }];
	const bodies = [others, [others[0], EVENT, { event: EVENT.event }], []];
	for (const body of bodies) {
		const { status, data } = await trigger.send(JSON.stringify(body), secretHeader);
		expect([status, data]).toEqual([200, { status: 'success' }]);
	}
	expect(await trigger.items(1)).toMatchObject([
		{ deliveryId: 'evt_1', deliveryIdSource: 'payload', data: EVENT },
		{
			deliveryId: expect.stringMatching(/^[\da-f]{64}-3$/) as string,
			deliveryIdSource: 'bodyHash',
		},
	]);
});

test.each([
	['', "'Webhook Secret' is empty"],
	['a-webhook\u200b-secret', 'has an invisible character (U+200B) at position 10'],
])('a workflow with the webhook secret %j is not activated', async (webhookSecret, reason) => {
	const own = await instance.addCredential({ webhookSecret });
	await expect(activate(byHeader, own)).rejects.toThrow(reason);
});
