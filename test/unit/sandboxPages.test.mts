import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import axios from 'axios';
import execa from 'execa';

import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/server.mts';
import { http, startRawServer } from '../support/rawServer.mts';

/**
 * The sandbox beside its API: the console, the webhooks and the command. How it signs is tested with the
 * trigger of a real n8n, in test/host/trigger.test.mts.
 */

const MAIN = join(import.meta.dirname, '../../sandbox/main.mts');
const SECTION = 'section-0001';

let sandbox: Sandbox;
const cleanups: Array<() => Promise<void> | void> = [];
beforeEach(async () => void (sandbox = await start()));
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
	const started = await startSandbox({ port: 0, deliveryBackoffMs: 5, ...options });
	cleanups.push(() => started.close().catch(() => {}));
	return started;
}

/** A partner's server, with the statuses of its answers: none for 0, and 200 after the last. */
async function receive(...statuses: number[]) {
	const headers = { Location: '/elsewhere' };
	const { port, requests, close } = await startRawServer((socket, { index }) => {
		const status = statuses[index] ?? 200;
		if (status !== 0) socket.write(http(status, headers));
	});
	cleanups.push(close);
	return { url: `http://127.0.0.1:${port}/hook`, received: requests };
}

function temporaryFile(): string {
	const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
	cleanups.push(() => rmSync(folder, { recursive: true }));
	return join(folder, 'sandbox.sqlite');
}

/** Asks for a page, or sends a form and follows to the page behind it. */
async function open(path: string, fields?: Record<string, string>) {
	const { status, data } = await axios.request<string>({
		method: fields ? 'POST' : 'GET',
		url: `${sandbox.url}/console${path}`,
		data: fields && new URLSearchParams(fields),
		validateStatus: () => true,
	});
	/** Without its markup, in one line. */
	const text = data.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
	return { status, html: data, text };
}

it.each<[string, RegExp]>([
	['/users', /60 users found.* Emma Larsen emma\.larsen@example\.com plan_pro/],
	['/users?search=ZOE.', /1 user found.*Zoë Maes/],
	['/users/user-002', /Noah Fischer.*plan_basic , active, from 2026-11-01/],
	['/users/user-012', /No subscription\..*No resumes\./],
	['/resumes/resume-001', /Score: \d+ of 100.*Content of section 5/],
	['/webhooks', /Register a webhook.*Deliveries/],
])('the page %s shows its data, without a script', async (path, content) => {
	const { status, html, text } = await open(path);
	expect(status).toBe(200);
	expect(text).toMatch(content);
	expect(html).not.toMatch(/<script|style=|\son\w+=|(src|href)="(https?:)?\/\/|undefined/);
	expect((await open(/"stylesheet" href="\/console([^"]+)"/.exec(html)![1]!)).status).toBe(200);
});

it.each<[string, number, string, Record<string, string> | undefined]>([
	['/users/nobody', 404, 'There is no nobody.', undefined],
	['/sections/section-9999', 404, 'no section section-9999.', { title: 'x', content: '' }],
	[`/sections/${SECTION}`, 400, 'body/title must match pattern', { title: ' ', content: '' }],
	['/deliveries/7/redeliver', 404, 'There is no delivery 7.', {}],
	['/webhooks', 400, 'is no address', { url: 'ftp://a/', style: 'none' }],
	['/webhooks', 400, 'body/style must be', { url: 'http://a/', style: 'basic' }],
	['/webhooks', 400, 'needs a secret', { url: 'http://a/', style: 'hmac', secret: ' ' }],
	['/webhooks', 400, 'be signed', { url: 'http://a/', style: 'standardWebhooks', secret: '!' }],
])('the page %s says what is wrong (%d)', async (path, status, sentence, fields) => {
	const answer = await open(path, fields);
	expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(sentence)]);
	expect(sandbox.webhooks.list()).toEqual([]);
});

it('prints what was entered as text, never as markup', async () => {
	const attack = `"'><script>alert(1)</script></textarea>`;
	sandbox.webhooks.register({ url: `http://127.0.0.1:9/${attack}`, style: 'none' });
	sandbox.webhooks.saveSection(1, { title: attack, content: attack });
	const query = new URLSearchParams({ search: attack });
	for (const path of [`/users?${query}`, '/resumes/resume-001', '/webhooks']) {
		const { html } = await open(path);
		expect(html).toContain('&lt;script&gt;');
		expect(html).not.toContain('<script');
	}
});

it('tells every webhook of a section that is saved, in the words of the event', async () => {
	const receivers = [await receive(), await receive()];
	for (const { url } of receivers) await open('/webhooks', { url, style: 'none' });
	const fields = { title: ' Profile ', content: '\r\nTwo\r\nlines' };
	const { text } = await open(`/sections/${SECTION}`, fields);
	expect(text).toContain('Saved. 2 deliveries queued.');
	await sandbox.webhooks.idle();
	const section = { id: SECTION, type: 'summary', title: 'Profile', content: '\nTwo\nlines' };
	const event = {
		event: 'Resume Section Saved',
		id: sandbox.webhooks.deliveries()[0]!.eventId,
		created: expect.any(Number) as number,
		data: { userId: 'user-001', resumeId: 'resume-001', section },
	};
	for (const { received } of receivers) {
		expect(received.map(({ body }) => JSON.parse(body) as object)).toEqual([event]);
	}
	expect((await open('/resumes/resume-001')).html).toContain('>\n\nTwo\nlines</textarea>');
	expect((await open('/webhooks')).text).toMatch(/delivered to .*1 attempt, .* answer HTTP 200/);
});

describe('a delivery', () => {
	it('is repeated until it is answered with 2xx, and on request', async () => {
		const { url, received } = await receive(500, 302);
		sandbox.webhooks.register({ url, style: 'none' });
		sandbox.webhooks.saveSection(SECTION, {});
		await sandbox.webhooks.idle();
		const [first] = sandbox.webhooks.deliveries();
		expect(first).toMatchObject({ status: 'delivered', attempts: 3, lastStatus: 200 });
		await open(`/deliveries/${first!.id}/redeliver`, {});
		await sandbox.webhooks.idle();
		expect(sandbox.webhooks.deliveries()).toMatchObject([{ status: 'delivered' }, first!]);
		expect(received.map(({ body }) => body)).toEqual(Array(4).fill(first!.body));
	});

	it('has failed after eight attempts', async () => {
		sandbox.webhooks.register({ url: 'http://127.0.0.1:1/', style: 'none' });
		sandbox.webhooks.saveSection(SECTION, {});
		await sandbox.webhooks.idle();
		expect((await open('/webhooks')).text).toMatch(/failed to .* 8 attempts.*no answer/);
	});
});

describe('the command', () => {
	const run = (...switches: string[]) =>
		execa(process.execPath, [MAIN, ...switches], { all: true, reject: false });

	it('serves as many users as it is told to', async () => {
		const file = temporaryFile();
		const child = run('--port', '0', '--file', file, '--users', '100');
		let output = '';
		child.all!.on('data', (chunk) => (output += String(chunk)));
		while (!output.includes('AI tokens')) await wait(10);
		for (const text of [file, ...Object.values(SANDBOX_KEYS)]) expect(output).toContain(text);
		const { data } = await axios.get<string>(/Console +(\S+)/.exec(output)![1]!);
		expect(data).toContain('100 users');
		child.kill('SIGINT');
		expect((await child).exitCode).toBe(0);
	});

	it.each([
		[['--help', '--prot', '1'], "Unknown option '--prot'"],
		[['--port', '65536'], '--port takes a number from 0 to 65535, not "65536".'],
		[['--in-memory', '--port', 'the port in use'], 'is in use by another program'],
	])('refuses %j in a sentence', async (switches, sentence) => {
		const { port } = new URL(sandbox.url);
		const { exitCode, all } = await run(
			...switches.map((text) => text.replace('the port in use', port)),
		);
		expect(exitCode).toBe(1);
		expect(all).toContain(sentence);
		expect(all).not.toMatch(/\n\s+at /);
	});
});
