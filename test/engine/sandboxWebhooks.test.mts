import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import axios from 'axios';
import { Webhook } from 'standardwebhooks';

import {
	startSandbox,
	type Sandbox,
	type SandboxOptions,
	type WebhookRegistration,
} from '../../sandbox/server.mts';
import { call } from '../support/sandboxClient.mts';
import { runSandbox } from '../support/sandboxCommand.mts';
import {
	startReceiver,
	type Answer,
	type ReceivedDelivery,
	type Receiver,
} from '../support/sandboxReceiver.mts';

const SECTION = 'section-0001';
const SECRET = 'a secret, 32 bytes long or so: 🔑';

const cleanups: Array<() => Promise<void> | void> = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
	const sandbox = await startSandbox({ port: 0, record: true, deliveryBackoffMs: 5, ...options });
	cleanups.push(() => sandbox.close().catch(() => {}));
	return sandbox;
}

async function receive(answer?: Answer, port?: number): Promise<Receiver> {
	const receiver = await startReceiver(answer, port);
	cleanups.push(() => receiver.close());
	return receiver;
}

function temporaryFile(): string {
	const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
	cleanups.push(() => rmSync(folder, { recursive: true }));
	return join(folder, 'sandbox.sqlite');
}

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	await new Promise((resolve) => server.close(resolve));
	return port;
}

async function until(condition: () => boolean): Promise<void> {
	while (!condition()) await wait(5);
}

/** Saves a section with one webhook registered, and returns what arrives. */
async function deliver(registration: Omit<WebhookRegistration, 'url'>): Promise<ReceivedDelivery> {
	const sandbox = await start();
	const { url, received } = await receive();
	sandbox.webhooks.register({ url, ...registration });
	sandbox.webhooks.saveSection(SECTION, { content: 'Zoë wrote “this”.' });
	await sandbox.webhooks.idle();
	expect(received).toHaveLength(1);
	return received[0] as ReceivedDelivery;
}

function hmac(encoding: 'hex' | 'base64', ...signed: Array<string | Buffer>): string {
	return createHmac('sha256', SECRET)
		.update(Buffer.concat(signed.map((part) => Buffer.from(part))))
		.digest(encoding);
}

describe('a saved section', () => {
	it('is told to every webhook, in the words of the event', async () => {
		const sandbox = await start();
		const [first, second] = [await receive(), await receive()];
		sandbox.webhooks.register({ url: first.url, style: 'none' });
		sandbox.webhooks.register({ url: second.url, style: 'none' });
		const before = Math.floor(Date.now() / 1000);

		const { eventId } = sandbox.webhooks.saveSection(1, { title: 'Profile', content: 'Short.' });
		await sandbox.webhooks.idle();

		for (const { received } of [first, second]) {
			expect(received).toHaveLength(1);
			expect(received[0]).toMatchObject({
				method: 'POST',
				headers: { 'content-type': 'application/json' },
			});
			const event = received[0]?.json();
			expect(event).toEqual({
				event: 'Resume Section Saved',
				id: eventId,
				created: expect.any(Number),
				data: {
					userId: 'user-001',
					resumeId: 'resume-001',
					section: { id: SECTION, type: 'summary', title: 'Profile', content: 'Short.' },
				},
			});
			expect(event?.created).toBeGreaterThanOrEqual(before);
		}
		expect(eventId).toMatch(/^evt_/);
		expect(sandbox.webhooks.deliveries()).toMatchObject([
			{ eventId, status: 'delivered', attempts: 1, lastStatus: 200, lastError: null },
			{ eventId, status: 'delivered', attempts: 1, lastStatus: 200, lastError: null },
		]);
	});

	it('is read with its changes afterwards, and scored by them', async () => {
		const sandbox = await start();
		const read = async (path: string) =>
			(await call(sandbox, 'GET', path)).json().data as Record<string, unknown>;
		const before = await read('/resume/resume-001');
		const score = await read('/resume/resume-001/score');

		sandbox.webhooks.saveSection(SECTION, { content: '' });

		const after = await read('/resume/resume-001');
		expect(after.sections).toMatchObject([
			{ id: SECTION, title: 'Summary', content: '' },
			...(before.sections as object[]).slice(1),
		]);
		expect(Math.abs(Number(after.updated) - Date.now() / 1000)).toBeLessThan(5);
		expect((await read('/resume/resume-001/score')).score).toBeLessThan(Number(score.score));
	});

	it('tells nobody when it does not exist', async () => {
		const sandbox = await start();
		sandbox.webhooks.register({ url: (await receive()).url, style: 'none' });
		expect(() => sandbox.webhooks.saveSection('section-9999', { title: 'x' })).toThrow(
			'There is no section section-9999.',
		);
		expect(sandbox.webhooks.deliveries()).toEqual([]);
	});
});

describe('a signature', () => {
	it('is accepted by the library of Standard Webhooks in that style', async () => {
		const secret = `whsec_${Buffer.from(SECRET).toString('base64')}`;
		for (const own of [secret, secret.slice('whsec_'.length)]) {
			const { headers, body, json } = await deliver({ style: 'standardWebhooks', secret: own });
			const library = new Webhook(own);
			const sent = headers as Record<string, string>;
			expect(library.verify(body, sent)).toEqual(json());
			expect(sent['webhook-id']).toBe(json().id);
			expect(() => library.verify(Buffer.from(`${body} `), sent)).toThrow('No matching signature');
		}
	});

	it('is in one header with its time in the style timestampedSignature', async () => {
		const before = Math.floor(Date.now() / 1000);
		const { headers, body } = await deliver({ style: 'timestampedSignature', secret: SECRET });
		const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
			String(headers['x-webhook-signature']),
		)!;
		expect(signature).toBe(hmac('hex', `${time}.`, body));
		expect(Number(time)).toBeGreaterThanOrEqual(before);
	});

	it('is made with the secret without the blanks around it', async () => {
		const { headers, body } = await deliver({ style: 'hmac', secret: ` ${SECRET}\n` });
		expect(headers['x-webhook-signature']).toBe(hmac('hex', body));
	});

	it('is absent in the style none', async () => {
		const { headers } = await deliver({ style: 'none' });
		expect(Object.keys(headers).filter((name) => name.startsWith('x-'))).toEqual([]);
	});

	it.each([
		[undefined, 'x-webhook-secret'],
		['X-Partner', 'x-partner'],
	])('is the secret itself in the style header (%s)', async (headerName, expected) => {
		const { headers } = await deliver({ style: 'header', secret: 'plain secret', headerName });
		expect(headers[expected]).toBe('plain secret');
	});

	it.each([
		[{}, 'x-webhook-signature', 'hex', ''],
		[{ encoding: 'base64', headerName: 'X-Sign' }, 'x-sign', 'base64', ''],
		[{ encoding: 'hex', prefix: 'sha256=' }, 'x-webhook-signature', 'hex', 'sha256='],
	] as const)(
		'covers the raw body in the style hmac (%j)',
		async (options, name, encoding, prefix) => {
			const { headers, body } = await deliver({ style: 'hmac', secret: SECRET, ...options });
			expect(headers[name]).toBe(prefix + hmac(encoding, body));
			expect(headers).not.toHaveProperty('x-webhook-timestamp');
		},
	);

	it.each(['X-Webhook-Timestamp', 'X-Time'])(
		'covers the time in %s too',
		async (timestampHeader) => {
			const { headers, body } = await deliver({ style: 'hmac', secret: SECRET, timestampHeader });
			const timestamp = String(headers[timestampHeader.toLowerCase()]);
			expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(5);
			expect(headers['x-webhook-signature']).toBe(hmac('hex', `${timestamp}.`, body));
		},
	);

	it('is made anew for each attempt', async () => {
		const sandbox = await start({ deliveryBackoffMs: 1_100 });
		const { url, received } = await receive((response, number) => {
			response.writeHead(number === 1 ? 503 : 200).end();
		});
		sandbox.webhooks.register({
			url,
			style: 'hmac',
			secret: SECRET,
			timestampHeader: 'X-Webhook-Timestamp',
		});
		sandbox.webhooks.saveSection(SECTION, {});
		await sandbox.webhooks.idle();
		const times = received.map(({ headers }) => String(headers['x-webhook-timestamp']));
		expect(new Set(times).size).toBe(2);
		for (const [index, { headers, body }] of received.entries()) {
			expect(body).toEqual(received[0]?.body);
			expect(headers['x-webhook-signature']).toBe(hmac('hex', `${times[index]}.`, body));
		}
	});
});

describe('a registration', () => {
	it('replaces an earlier one of the same address', async () => {
		const { webhooks } = await start();
		const first = webhooks.register({ url: 'http://localhost:5678/hook', style: 'none' });
		const second = webhooks.register({
			url: 'HTTP://LOCALHOST:5678/hook',
			style: 'header',
			secret: 's',
		});
		expect(second.id).toBe(first.id);
		expect(webhooks.list()).toEqual([second]);
		expect(second).toEqual({
			id: first.id,
			url: 'http://localhost:5678/hook',
			style: 'header',
			secret: 's',
			headerName: 'X-Webhook-Secret',
		});
	});

	it('is forgotten with its deliveries', async () => {
		const { webhooks } = await start({ deliveryBackoffMs: 60_000 });
		const url = `http://127.0.0.1:${await freePort()}/`;
		const { id } = webhooks.register({ url, style: 'none' });
		webhooks.saveSection(SECTION, {});
		const idle = webhooks.idle();
		await until(() => webhooks.deliveries()[0]?.attempts === 1);
		webhooks.remove(id);
		await idle;
		expect(webhooks.list()).toEqual([]);
		expect(webhooks.deliveries()).toEqual([]);
	});

	it.each([
		[{ url: 'localhost:5678/hook' }, 'is not a web address'],
		[{ url: 'ftp://localhost/hook' }, 'begins with http:// or https://'],
		[{ url: 'javascript:alert(1)' }, 'is not a web address'],
		[
			{ style: 'basic' },
			'The style must be one of none, header, hmac, standardWebhooks, timestampedSignature.',
		],
		[{ style: 'header' }, 'needs a secret'],
		[{ style: 'hmac', secret: '' }, 'needs a secret'],
		[{ style: 'header', secret: 'two\r\nlines' }, 'only printable ASCII'],
		[{ style: 'header', secret: ' ' }, 'needs a secret'],
		[{ style: 'standardWebhooks', secret: 'not base64' }, 'is Base64'],
		[{ style: 'standardWebhooks', secret: 'whsec_' }, 'is Base64'],
		[{ style: 'timestampedSignature' }, 'needs a secret'],
		[{ style: 'header', secret: 's', headerName: 'X Secret' }, 'is not a header name'],
		[{ style: 'hmac', secret: 's', headerName: 'Content-Type' }, 'describes the request itself'],
		[{ style: 'hmac', secret: 's', encoding: 'utf8' }, 'The encoding must be hex or base64.'],
		[{ style: 'hmac', secret: 's', prefix: 'a\nb' }, 'The prefix'],
		[
			{ style: 'hmac', secret: 's', headerName: 'X-A', timestampHeader: 'x-a' },
			'cannot share a header',
		],
	])('is refused in a sentence when it is %j', async (fields, sentence) => {
		const { webhooks } = await start();
		const registration = { url: 'http://localhost/', style: 'none', ...fields };
		expect(() => webhooks.register(registration as WebhookRegistration)).toThrow(sentence);
		expect(webhooks.list()).toEqual([]);
	});
});

describe('a delivery', () => {
	it.each([500, 404, 410, 401, 400, 302])('is repeated after HTTP %d', async (status) => {
		const sandbox = await start();
		const { url, received } = await receive((response, number) => {
			if (number > 2) return response.end('ok');
			return response.writeHead(status, { location: '/elsewhere' }).end('not now');
		});
		sandbox.webhooks.register({ url, style: 'none' });
		sandbox.webhooks.saveSection(SECTION, {});
		await until(() => sandbox.webhooks.deliveries()[0]?.attempts === 1);
		expect(sandbox.webhooks.deliveries()[0]).toMatchObject({
			status: 'pending',
			lastStatus: status,
			lastError: expect.stringContaining(`The receiver answered HTTP ${status}`),
		});
		await sandbox.webhooks.idle();
		expect(sandbox.webhooks.deliveries()).toMatchObject([
			{ status: 'delivered', attempts: 3, lastStatus: 200, lastError: null },
		]);
		expect(received.map(({ body }) => body)).toEqual(Array(3).fill(received[0]?.body));
	});

	it('is repeated until the receiver is there', async () => {
		const sandbox = await start({ deliveryBackoffMs: 50 });
		const port = await freePort();
		sandbox.webhooks.register({ url: `http://127.0.0.1:${port}/hook`, style: 'none' });
		sandbox.webhooks.saveSection(SECTION, {});
		await until(() => sandbox.webhooks.deliveries()[0]?.attempts === 1);
		expect(sandbox.webhooks.deliveries()[0]).toMatchObject({
			status: 'pending',
			lastStatus: null,
			lastError: expect.stringContaining('could not be reached (ECONNREFUSED)'),
		});
		const { received } = await receive(undefined, port);
		await sandbox.webhooks.idle();
		expect(received).toHaveLength(1);
		expect(sandbox.webhooks.deliveries()[0]?.status).toBe('delivered');
	});

	it('has failed after eight attempts, with growing pauses', async () => {
		const sandbox = await start({ deliveryBackoffMs: 4 });
		const times: number[] = [];
		const { url } = await receive((response) => {
			times.push(performance.now());
			response.writeHead(500).end();
		});
		sandbox.webhooks.register({ url, style: 'none' });
		sandbox.webhooks.saveSection(SECTION, {});
		await sandbox.webhooks.idle();
		expect(sandbox.webhooks.deliveries()).toMatchObject([{ status: 'failed', attempts: 8 }]);
		expect(times).toHaveLength(8);
		const pauses = times.slice(1).map((time, index) => time - Number(times[index]));
		for (const [index, pause] of pauses.entries()) {
			expect(pause).toBeGreaterThan(4 * 2 ** index - 2);
		}
	});

	it('does not wait behind a receiver that never answers', async () => {
		const sandbox = await start();
		const silent = await receive(() => {});
		sandbox.webhooks.register({ url: silent.url, style: 'none' });
		for (let save = 0; save < 40; save++) sandbox.webhooks.saveSection(SECTION, {});
		const { url, received } = await receive();
		sandbox.webhooks.register({ url, style: 'none' });
		sandbox.webhooks.saveSection(SECTION, {});
		await until(() => received.length === 1);
		expect(silent.received.length).toBeLessThanOrEqual(16);
	});

	it('survives a stop of the sandbox, one in the middle of an attempt too', async () => {
		const file = temporaryFile();
		const first = await start({ file });
		const port = await freePort();
		const silent = await receive(() => {}, port);
		first.webhooks.register({ url: silent.url, style: 'none' });
		const saved = Array.from(
			{ length: 40 },
			(_, number) => first.webhooks.saveSection(SECTION, { title: `Save ${number}` }).eventId,
		);
		await until(() => silent.received.length > 0);
		const idle = first.webhooks.idle();
		await Promise.all([first.close(), expect(idle).rejects.toThrow()]);
		await silent.close();

		const { received } = await receive(undefined, port);
		const second = await start({ file });
		await second.webhooks.idle();
		expect(second.webhooks.deliveries()).toMatchObject(
			Array(40).fill({ status: 'delivered', attempts: 1 }),
		);
		expect(received.map(({ json }) => json().id).toSorted()).toEqual(saved.toSorted());
	});

	it('survives a crash in the middle of an attempt', async () => {
		const file = temporaryFile();
		const port = await freePort();
		const silent = await receive(() => {}, port);
		const { child, ended, printed } = runSandbox(['--port', '0', '--file', file]);
		const url = /Console\s+(\S+)/.exec(await printed('AI tokens'))?.[1];
		const send = (path: string, fields: Record<string, string>) =>
			axios.post(`${url}/console${path}`, new URLSearchParams(fields));
		await send('/webhooks', { url: silent.url, style: 'none' });
		await send(`/resumes/resume-001/sections/${SECTION}`, { title: 'Saved', content: '' });
		await until(() => silent.received.length === 1);
		child.kill('SIGKILL');
		await ended;
		await silent.close();

		const { received } = await receive(undefined, port);
		const { webhooks } = await start({ file });
		await webhooks.idle();
		expect(received.map(({ body }) => body)).toEqual([silent.received[0]?.body]);
	});

	it('is one of 500 at once, each event once', async () => {
		const sandbox = await start();
		let current = 0;
		let most = 0;
		const { url, received } = await receive((response) => {
			most = Math.max(most, ++current);
			setTimeout(() => {
				current--;
				response.end();
			}, 5);
		});
		sandbox.webhooks.register({ url, style: 'none' });
		const saved = Array.from(
			{ length: 500 },
			(_, number) => sandbox.webhooks.saveSection(1 + (number % 100), {}).eventId,
		);
		expect((await call(sandbox, 'GET', '/users?limit=1')).status).toBe(200);
		await sandbox.webhooks.idle();
		expect(new Set(saved).size).toBe(500);
		expect(received.map(({ json }) => json().id).toSorted()).toEqual(saved.toSorted());
		expect(most).toBeGreaterThan(1);
		expect(most).toBeLessThanOrEqual(16);
	});
});
