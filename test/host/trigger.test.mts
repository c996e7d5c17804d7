import { createHash, createHmac, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import axios, { type AxiosResponse } from 'axios';
import type { INode, INodeCredentials, INodeParameters } from 'n8n-workflow';

import {
	startEmptyInstance,
	startMilliseconds,
	webhookSecret,
	type EmptyInstance,
} from './instance.mts';

/** The trigger in a real n8n: each answer, and what became an execution. */

const EVENT = { event: 'Resume Section Saved', id: 'evt_1', data: { resumeId: 'resume-001' } };
const LAST = { event: 'Resume Section Saved', eventId: 'last' };

let instance: EmptyInstance;
let credentials: INodeCredentials;
const counts = { sent: 0, accepted: 0, refused: 0 };

beforeAll(async () => {
	// n8n runs all at once by default, each in a sandbox of its own: 500 take gigabytes.
	instance = await startEmptyInstance({ N8N_CONCURRENCY_PRODUCTION_LIMIT: '20' });
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
		typeVersion: 1,
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

async function activate(parameters: INodeParameters): Promise<Trigger> {
	const { api, n8n } = instance;
	const { id, webhookId } = await createWorkflow(parameters, credentials);
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

describe('a stranger', () => {
	test.each([
		['without a secret', {}],
		['with a wrong secret', { 'X-Webhook-Secret': 'wrong' }],
		['with a shorter secret', { 'X-Webhook-Secret': webhookSecret.slice(1) }],
		['with a longer secret', { 'X-Webhook-Secret': `${webhookSecret}x` }],
	])('%s is answered 401 and starts nothing', async (_, headers) => {
		const trigger = await activate(byHeader);
		const answer = await trigger.send(EVENT, headers);
		expect([answer.status, answer.data]).toEqual([401, envelope('unauthorized')]);
		await expectNothingStarted(trigger);
	});

	test('is answered before what it sent is parsed', async () => {
		const trigger = await activate(byHeader);
		const answer = await trigger.send('{"event": ');
		expect([answer.status, answer.data]).toEqual([401, envelope('unauthorized')]);
	});
});

describe('a signature', () => {
	const sign = (text: string) => createHmac('sha256', webhookSecret).update(text).digest('hex');
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
		expect(await trigger.items(1)).toHaveLength(1);
	});

	test('of a body that was changed, or of long ago, is answered 401', async () => {
		const trigger = await activate(signed);
		expect((await trigger.send(`${body} `, headers(now()))).status).toBe(401);
		expect((await trigger.send(body, headers(now() - 1_000))).status).toBe(401);
		const last = JSON.stringify(LAST);
		await expectNothingStarted(trigger, headers(now(), last));
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
		await expectNothingStarted(trigger);
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
		const ids = (await trigger.items(bodies.length)).map(([item]) => item!.deliveryId);
		const hashes = bodies.map((body) => createHash('sha256').update(body).digest('hex'));
		expect(ids.sort()).toEqual(hashes.sort());
	});

	test('an array gives an item for each element', async () => {
		const trigger = await activate(byHeader);
		const answer = await trigger.send([EVENT, { ...EVENT, id: 'evt_2' }], secret);
		expect(answer.status).toBe(200);
		const [items] = await trigger.items(1);
		expect(items!.map(({ deliveryId }) => deliveryId)).toEqual(['evt_1', 'evt_2']);
	});

	test('JSON of no declared type is read all the same', async () => {
		const trigger = await activate(byHeader);
		const headers = { ...secret, 'Content-Type': 'application/octet-stream' };
		expect((await trigger.send(EVENT, headers)).status).toBe(200);
		expect(await trigger.items(1)).toHaveLength(1);
	});
});

test('an event that is not selected is answered 200 and starts nothing', async () => {
	const trigger = await activate(byHeader);
	const answer = await trigger.send({ event: 'Plan Changed' }, secret);
	expect([answer.status, answer.data]).toEqual([200, { status: 'success' }]);
	await expectNothingStarted(trigger);
	const all = await activate({ ...byHeader, events: ['*'] });
	expect((await all.send({ type: 'Plan Changed' }, secret)).status).toBe(200);
	expect((await all.items(1))[0]![0]!.event).toBe('Plan Changed');
});

test('headers and query come on request, and without the secret', async () => {
	const trigger = await activate({
		...byHeader,
		options: { binaryData: true, includeHeaders: true },
	});
	const answer = await trigger.send(EVENT, { ...secret, 'X-Request-Id': 'r-1' });
	expect(answer.status).toBe(200);
	const [[item]] = (await trigger.items(1)) as [[Record<string, unknown>]];
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
	await expectNothingStarted(trigger);
});

test('a workflow without a webhook secret is not activated', async () => {
	const withoutSecret = await instance.addCredential({ webhookSecret: '' });
	const { id } = await createWorkflow(byHeader, withoutSecret);
	await expect(instance.api.activateWorkflow(id)).rejects.toThrow(/Webhook Secret is empty/);
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
	expect(accepted).toBe(501);
	const ids = (await trigger.items(accepted)).map(([item]) => item!.deliveryId);
	expect(new Set(ids).size).toBe(500);
}, 600_000);

test('the secret is nowhere in the log', () => {
	expect(instance.n8n.log()).not.toContain(webhookSecret);
});
