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
		/** Waits for so many executions, and returns the item that each started with, oldest first. */
		async items(count: number) {
			const executions = await instance.api.waitForExecutions(id, count);
			return executions.map((execution) => {
				expect(execution.status).toBe('success');
				const [item, ...others] = outputOf(execution, 'Trigger');
				expect(others).toEqual([]);
				return item!.json;
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
		'of an unknown charset': [text, type('text/json; charset=klingon'), 401, 400],
		'not of its charset': [latin1, {}, 401, 400],
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
	['hmac', 'schlüssel 完了', { encoding: 'base64', prefix: 'v0=' }],
	['standardWebhooks', 'c2Nobw==', {}],
] as const)('signed by %s, only the right secret is accepted', async (style, text, more) => {
	const { webhooks } = instance.sandbox;
	const own = await instance.addCredential({ webhookSecret: text });
	const signature = { signatureEncoding: 'base64', signaturePrefix: 'v0=' };
	const { url, items } = await activate({ verification: style, ...signature }, own);
	for (const secret of [`${text.slice(0, 4)}bbbb`, text]) {
		const { id } = webhooks.register({ url, secret, style, ...more });
		webhooks.saveSection(1, {});
		while (webhooks.deliveries()[0]!.attempts === 0) await sleep(20);
		expect(webhooks.deliveries()[0]!.lastStatus).toBe(secret === text ? 200 : 401);
		webhooks.remove(id);
	}
	expect(await items(1)).toHaveLength(1);
});

test('a workflow without a webhook secret is not activated', async () => {
	const noSecret = await instance.addCredential({ webhookSecret: '' });
	await expect(activate(byHeader, noSecret)).rejects.toThrow('Webhook Secret is empty');
});
