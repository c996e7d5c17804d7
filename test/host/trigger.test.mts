import { createHash, createHmac, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import axios, { type AxiosResponse } from 'axios';
import type { INode, INodeParameters } from 'n8n-workflow';

import { startInstance, startMilliseconds, type Instance } from './instance.mts';

/** The trigger in a real n8n: each answer, and what became an execution. */

const SECRET = 'webhook_secret_of_the_tests';
const EVENT = { event: 'Resume Section Saved', id: 'evt_1', data: { resumeId: 'resume-001' } };

let instance: Instance;
const counts = { sent: 0, accepted: 0, refused: 0, lost: 0 };

beforeAll(async () => {
	// n8n runs all at once by default, each in a sandbox of its own: 500 take gigabytes.
	instance = await startInstance({ N8N_CONCURRENCY_PRODUCTION_LIMIT: '20' });
}, startMilliseconds);

afterAll(async () => {
	process.stdout.write(
		`\nDeliveries: ${counts.sent} sent, ${counts.accepted} accepted, ${counts.refused} refused, ${counts.lost} lost\n\n`,
	);
	expect(counts.lost).toBe(0);
	await instance?.close();
}, 60_000);

interface Trigger {
	workflowId: string;
	/** The production URL. */
	url: string;
	/** Sends a body as it is, JSON by default. */
	send(body: unknown, headers?: Record<string, string>): Promise<AxiosResponse>;
	/** The items that each execution started with, oldest first. */
	items(): Promise<Array<Array<Record<string, unknown>>>>;
}

async function activate(parameters: INodeParameters): Promise<Trigger> {
	const { api, n8n } = instance;
	const credential = (await api.listCredentials()).find(
		({ type }) => type === 'resumeManagementApi',
	)!;
	const webhookId = randomUUID();
	const trigger: INode = {
		id: randomUUID(),
		name: 'Trigger',
		type: 'n8n-nodes-resume-management.resumeManagementTrigger',
		typeVersion: 1,
		position: [0, 0],
		webhookId,
		parameters,
		credentials: { resumeManagementApi: { id: credential.id, name: credential.name } },
	};
	const { id } = await api.createWorkflow({
		name: `Trigger ${webhookId}`,
		nodes: [trigger],
		connections: {},
		settings: { executionOrder: 'v1' },
	});
	await api.activateWorkflow(id);
	const url = `${n8n.url}/webhook/${webhookId}/webhook`;
	return {
		workflowId: id,
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
		async items() {
			const executions = await api.listExecutions(id);
			const runs = [];
			for (const execution of executions.toReversed()) {
				const { status, data } = await api.waitForExecution(execution.id);
				expect(status).toBe('success');
				const output = data.resultData.runData.Trigger![0]!.data!.main![0]!;
				runs.push(output.map(({ json }) => json));
			}
			return runs;
		},
	};
}

const byHeader = { verification: 'header', headerName: 'X-Webhook-Secret' };
const secret = { 'X-Webhook-Secret': SECRET };
const envelope = (errorCode: string) => ({
	status: 'error',
	errorCode,
	errorMessage: expect.any(String) as string,
});

test('an event starts the workflow, and is answered in the envelope of the service', async () => {
	const trigger = await activate(byHeader);
	const answer = await trigger.send(EVENT, secret);
	expect([answer.status, answer.data]).toEqual([200, { status: 'success' }]);
	expect(await trigger.items()).toEqual([
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

describe('a stranger', () => {
	test.each([
		['without a secret', {}],
		['with a wrong secret', { 'X-Webhook-Secret': 'wrong' }],
		['with a shorter secret', { 'X-Webhook-Secret': SECRET.slice(1) }],
		['with a longer secret', { 'X-Webhook-Secret': `${SECRET}x` }],
	])('%s is answered 401 and starts nothing', async (_, headers) => {
		const trigger = await activate(byHeader);
		const answer = await trigger.send(EVENT, headers);
		expect([answer.status, answer.data]).toEqual([401, envelope('unauthorized')]);
		expect(await trigger.items()).toEqual([]);
	});

	test('is answered before what it sent is parsed', async () => {
		const trigger = await activate(byHeader);
		const answer = await trigger.send('{"event": ');
		expect([answer.status, answer.data]).toEqual([401, envelope('unauthorized')]);
	});
});

describe('a signature', () => {
	const sign = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex');
	const signed = {
		verification: 'hmac',
		headerName: 'X-Signature',
		signaturePrefix: 'sha256=',
		timestampHeader: 'X-Timestamp',
	};
	const body = ' { "event" : "Resume Section Saved" } ';
	const headers = (seconds: number, text = body) => ({
		'X-Timestamp': String(seconds),
		'X-Signature': `sha256=${sign(`${seconds}.${text}`)}`,
	});
	const now = () => Math.floor(Date.now() / 1000);

	test('over the bytes as they came is accepted', async () => {
		const trigger = await activate(signed);
		expect((await trigger.send(body, headers(now()))).status).toBe(200);
		expect(await trigger.items()).toHaveLength(1);
	});

	test('of a body that was changed, or of long ago, is answered 401', async () => {
		const trigger = await activate(signed);
		expect((await trigger.send(`${body} `, headers(now()))).status).toBe(401);
		expect((await trigger.send(body, headers(now() - 1_000))).status).toBe(401);
		expect(await trigger.items()).toEqual([]);
	});
});

describe('a body that is', () => {
	test.each([
		['invalid JSON', '{"event": '],
		['a text', 'hello'],
		['empty', ''],
		['a bare number', '7'],
	])('%s is answered 400 and starts nothing', async (_, body) => {
		const trigger = await activate(byHeader);
		const answer = await trigger.send(body, secret);
		expect([answer.status, answer.data]).toEqual([400, envelope('unreadable-body')]);
		expect(await trigger.items()).toEqual([]);
	});

	test('larger than n8n accepts is answered 413', async () => {
		const trigger = await activate(byHeader);
		const answer = await trigger.send(`"${'x'.repeat(17 * 1024 * 1024)}"`, secret);
		expect([answer.status, answer.data]).toEqual([413, envelope('body-too-large')]);
	});

	test('5 MB, nested 1,000 deep, or full of __proto__ is an event like any other', async () => {
		const trigger = await activate(byHeader);
		const bodies = [
			JSON.stringify({ text: 'x'.repeat(5 * 1024 * 1024) }),
			`${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`,
			'{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
		];
		for (const body of bodies) expect((await trigger.send(body, secret)).status).toBe(200);
		const items = await trigger.items();
		expect(items.map(([item]) => item!.deliveryId)).toEqual(
			bodies.map((body) => createHash('sha256').update(body).digest('hex')),
		);
	});

	test('an array gives an item for each element', async () => {
		const trigger = await activate(byHeader);
		await trigger.send([EVENT, { ...EVENT, id: 'evt_2' }], secret);
		const [items] = await trigger.items();
		expect(items!.map(({ deliveryId }) => deliveryId)).toEqual(['evt_1', 'evt_2']);
	});

	test('JSON of no declared type is read all the same', async () => {
		const trigger = await activate(byHeader);
		const headers = { ...secret, 'Content-Type': 'application/octet-stream' };
		expect((await trigger.send(EVENT, headers)).status).toBe(200);
		expect(await trigger.items()).toHaveLength(1);
	});
});

test('an event that is not selected is answered 200 and starts nothing', async () => {
	const trigger = await activate(byHeader);
	const answer = await trigger.send({ event: 'Plan Changed' }, secret);
	expect([answer.status, answer.data]).toEqual([200, { status: 'success' }]);
	expect(await trigger.items()).toEqual([]);
	const all = await activate({ ...byHeader, events: ['*'] });
	await all.send({ type: 'Plan Changed' }, secret);
	expect((await all.items())[0]![0]!.event).toBe('Plan Changed');
});

test('headers and query come on request, and without the secret', async () => {
	const trigger = await activate({
		...byHeader,
		options: { binaryData: true, includeHeaders: true },
	});
	await trigger.send(EVENT, { ...secret, 'X-Request-Id': 'r-1' });
	const [[item]] = (await trigger.items()) as [[Record<string, unknown>]];
	expect(item.headers).toMatchObject({ 'x-request-id': 'r-1', 'x-webhook-secret': '[hidden]' });
	expect(item.query).toEqual({});
});

test('a request that breaks off never hangs, and starts nothing', async () => {
	const trigger = await activate(byHeader);
	const { hostname, port, pathname } = new URL(trigger.url);
	const socket = connect(Number(port), hostname);
	socket.write(
		`POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"ev`,
	);
	await sleep(200);
	socket.destroy();
	expect((await trigger.send(EVENT, secret)).status).toBe(200);
	expect(await trigger.items()).toHaveLength(1);
});

test('a workflow without a webhook secret is not activated', async () => {
	const { api } = instance;
	const credential = await api.createCredential({
		name: 'Without a webhook secret',
		type: 'resumeManagementApi',
		data: { baseUrl: instance.sandbox.baseUrl, privateKey: 'key', webhookSecret: '' },
	});
	const trigger: INode = {
		id: randomUUID(),
		name: 'Trigger',
		type: 'n8n-nodes-resume-management.resumeManagementTrigger',
		typeVersion: 1,
		position: [0, 0],
		webhookId: randomUUID(),
		parameters: byHeader,
		credentials: { resumeManagementApi: { id: credential.id, name: credential.name } },
	};
	const { id } = await api.createWorkflow({ name: 'No secret', nodes: [trigger], connections: {} });
	await expect(api.activateWorkflow(id)).rejects.toThrow(/Webhook Secret is empty/);
});

test('500 deliveries at once are 500 executions with 500 delivery IDs', async () => {
	const trigger = await activate(byHeader);
	const bodies = Array.from({ length: 500 }, (_, number) => JSON.stringify({ number }));
	// The same body twice is two executions with one ID.
	let waiting = [...bodies, bodies[0]!];
	let accepted = 0;
	// What an n8n under load does not take is sent again, as a sender would.
	for (let attempts = 0; waiting.length > 0 && attempts < 3; attempts++) {
		const answers = await Promise.all(waiting.map((body) => trigger.send(body, secret)));
		waiting = waiting.filter((_, index) => answers[index]!.status !== 200);
		accepted += answers.length - waiting.length;
	}
	const ids = (await trigger.items()).map(([item]) => item!.deliveryId);
	counts.lost += Math.max(0, accepted - ids.length);
	expect(accepted).toBe(501);
	expect(ids.length).toBeGreaterThanOrEqual(501);
	expect(new Set(ids).size).toBe(500);
}, 600_000);

test('the secret is nowhere in the log', () => {
	expect(instance.n8n.log()).not.toContain(SECRET);
});
