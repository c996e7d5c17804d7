import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import axios, { type AxiosResponse } from 'axios';
import type { INode, INodeCredentials, INodeParameters } from 'n8n-workflow';

import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import type { WebhookRegistration } from '../../sandbox/server.mts';
import {
	startEmptyInstance,
	startMilliseconds,
	webhookSecret,
	type EmptyInstance,
} from './instance.mts';

/** The trigger in a real n8n: each answer, and what became an execution. */

const EVENT = { event: 'Resume Section Saved', id: 'evt_1', data: { name: 'Müller' } };
const LAST = { event: 'Resume Section Saved', eventId: 'last' };

let instance: EmptyInstance;
let credentials: INodeCredentials;
const counts = { sent: 0, accepted: 0, refused: 0 };

beforeAll(async () => {
	// n8n runs all at once by default, each in a sandbox of its own: 500 take gigabytes.
	instance = await startEmptyInstance({
		N8N_CONCURRENCY_PRODUCTION_LIMIT: '20',
		N8N_METRICS: 'true',
		// As docs/scaling.md recommends; the other host tests have n8n's default.
		N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true',
	});
	credentials = await instance.addCredential();
}, startMilliseconds);

afterAll(async () => {
	process.stdout.write(
		`\nDeliveries: ${counts.sent} sent, ${counts.accepted} accepted, ${counts.refused} refused\n\n`,
	);
	await instance?.close();
}, 60_000);

interface Trigger {
	/** The production URL. */
	url: string;
	/** Sends a body as it is, JSON by default. */
	send(body: unknown, headers?: Record<string, string>): Promise<AxiosResponse>;
	/** Waits for so many executions; answers the items that each started with, oldest first. */
	items(count: number): Promise<Array<Array<Record<string, unknown>>>>;
}

/** A workflow of the trigger alone, which no event reaches yet. */
async function createWorkflow(
	parameters: INodeParameters,
	credentials: INodeCredentials,
): Promise<{ id: string; webhookId: string }> {
	const webhookId = randomUUID();
	const trigger: INode = {
		id: randomUUID(),
		name: 'Trigger',
		type: 'n8n-nodes-resume-management.resumeManagementTrigger',
		typeVersion: 1.1,
		position: [0, 0],
		webhookId,
		parameters,
		credentials,
	};
	const workflow = await instance.api.createWorkflow({
		name: `Trigger ${webhookId}`,
		nodes: [trigger],
		connections: {},
		settings: { executionOrder: 'v1' },
	});
	return { id: workflow.id, webhookId };
}

async function activate(
	parameters: INodeParameters,
	own: INodeCredentials = credentials,
): Promise<Trigger> {
	const { api, n8n } = instance;
	const { id, webhookId } = await createWorkflow(parameters, own);
	await api.activateWorkflow(id);
	const url = `${n8n.url}/webhook/${webhookId}/webhook`;
	return {
		url,
		async send(body, headers = {}) {
			counts.sent++;
			const answer = await axios.post(url, body, {
				headers: { 'Content-Type': 'application/json', ...headers },
				transformRequest: (data: unknown) =>
					typeof data === 'string' || Buffer.isBuffer(data) ? data : JSON.stringify(data),
				validateStatus: () => true,
				timeout: 300_000,
				maxBodyLength: Infinity,
			});
			if (answer.status === 200) counts.accepted++;
			else counts.refused++;
			return answer;
		},
		async items(count) {
			const executions = await api.waitForExecutions(id, count, 300_000);
			return executions.map(({ status, data }) => {
				expect(status).toBe('success');
				const output = data.resultData.runData.Trigger![0]!.data!.main![0]!;
				return output.map(({ json }) => json);
			});
		},
	};
}

const byHeader = { verification: 'header', headerName: 'X-Webhook-Secret' };
const secret = { 'X-Webhook-Secret': webhookSecret };

/**
 * Nothing that was sent before has started the workflow. An event that does start it comes after:
 * what n8n was late with would be listed before it.
 */
async function expectNothingStarted(
	trigger: Trigger,
	proof: Record<string, string> = secret,
): Promise<void> {
	expect((await trigger.send(LAST, proof)).status).toBe(200);
	const executions = await trigger.items(1);
	expect(executions.map(([item]) => item!.deliveryId)).toEqual(['last']);
}

const envelope = (errorCode: string) => ({
	status: 'error',
	errorCode,
	errorMessage: expect.any(String) as string,
});

test('an event starts the workflow, and is answered in the envelope of the service', async () => {
	const trigger = await activate(byHeader);
	const answer = await trigger.send(EVENT, secret);
	expect([answer.status, answer.data]).toEqual([200, { status: 'success' }]);
	expect(await trigger.items(1)).toEqual([
		[
			{
				event: 'Resume Section Saved',
				deliveryId: 'evt_1',
				deliveryIdSource: 'payload',
				receivedAt: expect.stringMatching(/^2\d{3}-.*Z$/) as string,
				data: EVENT,
			},
		],
	]);
});

describe('a body that is', () => {
	const text = JSON.stringify(EVENT);
	const type = (value: string) => ({ 'Content-Type': value });
	const octets = type('application/octet-stream');
	const latin1 = Buffer.from(text, 'latin1');
	const parts = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n';
	const large = `"${'x'.repeat(17 * 1024 * 1024)}"`;
	const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024, ' '));
	const gzip = { 'Content-Encoding': 'gzip' };
	const brotli = { 'Content-Encoding': 'br' };
	const [unreadable, tooLarge] = [envelope('unreadable-body'), envelope('body-too-large')];
	const success = { status: 'success' };
	const unsupported = envelope('unsupported-body');
	const byN8n = expect.anything() as unknown;

	/** With the answer to the service. A stranger has the same where there is nothing to verify, or else 401. */
	test.each<[string, string | Buffer, Record<string, string>, number, unknown]>([
		// n8n parses what says that it is of a type that n8n knows, and answers by itself where it can't.
		['invalid JSON', '{"event": ', {}, 422, byN8n],
		['of an unknown charset', text, type('application/json; charset=utf-16'), 422, byN8n],
		['packed with brotli', brotliCompressSync(text), brotli, 422, byN8n],
		['not packed as it says', text, gzip, 500, byN8n],
		['larger than n8n accepts', large, {}, 500, byN8n],
		['larger than n8n accepts, once unpacked', bomb, gzip, 500, byN8n],
		// The rest comes to the trigger.
		['empty', '', {}, 400, unreadable],
		['not packed, of no declared type', text, { ...octets, ...gzip }, 400, unreadable],
		['of a charset unknown to all', text, type('text/json; charset=klingon'), 400, unreadable],
		['not of its charset', latin1, {}, 400, unreadable],
		['too large, of no declared type', large, octets, 413, tooLarge],
		['a form with parts', parts, type('multipart/form-data; boundary=x'), 415, unsupported],
		['JSON in Latin-1', latin1, type('application/json; charset=latin1'), 200, success],
		['JSON of a type of its own', text, type('application/cloudevents+json'), 200, success],
		['JSON that says it is text', text, type('text/plain'), 200, success],
		['JSON that says it is a form', text, type('application/x-www-form-urlencoded'), 200, success],
		['packed with gzip', gzipSync(text), gzip, 200, success],
		['of 5 MB', ` ${text}${' '.repeat(5 * 1024 * 1024)}`, {}, 200, success],
	])(
		'%s starts nothing for a stranger, and is answered',
		async (_, body, headers, status, data) => {
			const trigger = await activate(byHeader);
			const stranger = await trigger.send(body, headers);
			const isLost = 'Content-Encoding' in headers && status === 400;
			const isVerified = !isLost && ![byN8n, tooLarge, unsupported].includes(data);
			expect(stranger.status).toBe(isVerified ? 401 : status);
			const answer = await trigger.send(body, { ...headers, ...secret });
			expect([answer.status, answer.data]).toEqual([status, data]);
			if (status !== 200) return await expectNothingStarted(trigger);
			const [[item], ...others] = (await trigger.items(1)) as [[Record<string, unknown>]];
			expect([item.data, others]).toEqual([EVENT, []]);
		},
	);

	// n8n has one XML parser for all requests, which refuses the first such body and not the next
	// (n8n/dist/middlewares/body-parser.js).
	test('JSON that says it is XML starts nothing for a stranger, and is refused or read', async () => {
		const trigger = await activate(byHeader);
		const xml = { 'Content-Type': 'application/xml' };
		for (let time = 0; time < 2; time++) {
			expect([401, 422]).toContain((await trigger.send(text, xml)).status);
		}
		await expectNothingStarted(trigger);
		expect([200, 422]).toContain((await trigger.send(text, { ...xml, ...secret })).status);
	});
});

test('an event that is not selected starts nothing, and leaves a trace', async () => {
	const trigger = await activate({ ...byHeader, events: ['resumeSectionSaved'] });
	const answer = await trigger.send({ event: 'Plan Changed' }, secret);
	const reason = expect.stringContaining("'Trigger On'") as string;
	const notTaken = { count: 1, events: ['Plan Changed'], reason };
	expect([answer.status, answer.data]).toEqual([200, { status: 'success', notTaken }]);
	await expectNothingStarted(trigger);
	// n8n's log comes through a pipe, a moment later.
	const trace = /warn .*left out 1 of the events .*"Plan Changed".*Trigger On/;
	while (!trace.test(instance.n8n.log())) await sleep(50);
});

/** Expressions that n8n's engine has evaluated since its start, by n8n's own metrics. */
async function evaluations(): Promise<number> {
	const { data } = await axios.get<string>(`${instance.n8n.url}/metrics`);
	expect(data).toContain('n8n_expression_pool_acquired_total');
	const counts = data.matchAll(/^n8n_expression_evaluation_duration_seconds_count\{.*\} (\d+)$/gm);
	return Array.from(counts).reduce((sum, [, count]) => sum + Number(count), 0);
}

// The oldest n8n has another engine, which counts nothing.
(process.env.TESTED_N8N === 'lowest' ? test.skip : test)(
	'an event evaluates no expression',
	async () => {
		const send = async (parameters: INodeParameters) => {
			const trigger = await activate(parameters);
			const before = await evaluations();
			for (let sent = 0; sent < 3; sent++) await trigger.send(EVENT, secret);
			expect(await trigger.items(3)).toHaveLength(3);
			return (await evaluations()) - before;
		};
		expect(await send(byHeader)).toBe(0);
		// What counts none would not be noticed otherwise.
		const eventIdPath = '={{ ["meta", "uuid"].join(".") }}';
		expect(await send({ ...byHeader, options: { eventIdPath } })).toBeGreaterThanOrEqual(3);
	},
);

describe('every way to sign of the sandbox', () => {
	const key = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
	const next = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
	const headerName = 'X-Webhook-Signature';

	test.each<[Omit<WebhookRegistration, 'url' | 'secret'>, INodeParameters]>([
		[{ style: 'header' }, byHeader],
		[{ style: 'hmac' }, { verification: 'hmac', headerName }],
		[
			{ style: 'hmac', encoding: 'base64', prefix: 'v0=', timestampHeader: 'X-Time' },
			{
				verification: 'hmac',
				headerName,
				signatureEncoding: 'base64',
				signaturePrefix: 'v0=',
				timestampHeader: 'X-Time',
			},
		],
		[{ style: 'standardWebhooks' }, { verification: 'standardWebhooks' }],
		[{ style: 'timestampedSignature' }, { verification: 'timestampedSignature', headerName }],
	])('is taken (%j), through a change of the secret, too', async (style, parameters) => {
		const { webhooks } = instance.sandbox;
		const both = { webhookSecret: `${next} `, olderWebhookSecret: `\n${key}` };
		const changing = await activate(parameters, await instance.addCredential(both));
		const done = { webhookSecret: next };
		const changed = await activate(parameters, await instance.addCredential(done));
		const send = async ({ url }: Trigger, secret: string) => {
			const { id } = webhooks.register({ url, secret, ...style });
			webhooks.saveSection(1, {});
			while (webhooks.deliveries()[0]!.attempts === 0) await sleep(20);
			const [delivery] = webhooks.deliveries();
			webhooks.remove(id);
			return delivery!.lastStatus;
		};
		expect(await send(changing, key)).toBe(200);
		expect(await send(changing, next)).toBe(200);
		expect(await send(changed, next)).toBe(200);
		expect(await send(changed, key)).toBe(401);
		expect(await changing.items(2)).toHaveLength(2);
		expect(await changed.items(1)).toHaveLength(1);
	});
});

test('headers and query come on request, and no secret of the credential does', async () => {
	const trigger = await activate({ ...byHeader, options: { includeHeaders: true } });
	const percent = [...webhookSecret].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
	const event = { ...EVENT, key: SANDBOX_KEYS.live, text: `It is ${percent}.` };
	const headers = {
		...secret,
		Authentication: `Bearer ${SANDBOX_KEYS.live}`,
		'X-Request-Id': 'r-1',
	};
	expect((await trigger.send(event, headers)).status).toBe(200);
	const [[item]] = (await trigger.items(1)) as [[Record<string, unknown>]];
	expect(item).toMatchObject({
		data: { ...EVENT, key: '[hidden]', text: 'It is [hidden].' },
		secretsHidden: true,
		headers: { 'x-request-id': 'r-1', 'x-webhook-secret': '[hidden]' },
		query: {},
	});
	expect(item.headers).toHaveProperty('authentication', 'Bearer [hidden]');
});

test('a request that breaks off never hangs, and starts nothing', async () => {
	const trigger = await activate(byHeader);
	const { hostname, port, pathname } = new URL(trigger.url);
	const socket = connect(Number(port), hostname);
	socket.write(
		`POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n`,
	);
	const [answer] = (await once(socket, 'data')) as [Buffer];
	expect(answer.toString()).toMatch(/^HTTP\/1\.1 100 Continue/);
	socket.write('{"ev', () => socket.destroy());
	await once(socket, 'close');
	await expectNothingStarted(trigger);
});

test('a workflow without a webhook secret, or that could take no event, is not activated', async () => {
	const withoutSecret = await instance.addCredential({ webhookSecret: '' });
	const timestampTolerance = '={{ "soon" }}';
	const signed = { verification: 'timestampedSignature', timestampTolerance };
	const { api } = instance;
	const [secretless, deaf] = [
		await createWorkflow(byHeader, withoutSecret),
		await createWorkflow(signed, credentials),
	];
	// Both at once: n8n 2 tries for a quarter of a minute.
	await Promise.all([
		expect(api.activateWorkflow(secretless.id)).rejects.toThrow(/Webhook Secret is empty/),
		expect(api.activateWorkflow(deaf.id)).rejects.toThrow(
			"'Timestamp Tolerance' is not a number of seconds from 1 to 86400",
		),
	]);
});

// On a busy machine, n8n 1 answers some with 200 and makes no execution: docs/reliability.md promises it of n8n 2.
((process.env.TESTED_N8N ?? '2') === '2' ? test : test.skip)(
	'500 deliveries, 50 side by side, are 500 executions with 500 delivery IDs',
	async () => {
		const trigger = await activate(byHeader);
		const bodies = Array.from({ length: 500 }, (_, number) => JSON.stringify({ number }));
		// The same body twice is two executions with one ID.
		let waiting = [...bodies, bodies[0]!];
		let accepted = 0;
		// What an n8n under load does not take is sent again, as a sender would.
		for (let attempts = 0; waiting.length > 0 && attempts < 100; attempts++) {
			// As many as docs/scaling.md advises.
			const sent = waiting.splice(0, 50);
			const answers = await Promise.all(sent.map((body) => trigger.send(body, secret)));
			const refused = sent.filter((_, index) => answers[index]!.status !== 200);
			accepted += sent.length - refused.length;
			waiting.push(...refused);
		}
		expect(accepted).toBe(501);
		const ids = (await trigger.items(accepted)).map(([item]) => item!.deliveryId);
		expect(new Set(ids).size).toBe(500);
	},
	600_000,
);

test('the secret is nowhere in the log', () => {
	expect(instance.n8n.log()).not.toContain(webhookSecret);
});
