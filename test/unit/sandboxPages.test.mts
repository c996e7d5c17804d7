import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import axios from 'axios';
import execa from 'execa';

import { startSandbox, type Sandbox } from '../../sandbox/server.mts';
import { sign } from '../support/proofs.mts';
import { http, startRawServer, type RawServer } from '../support/rawServer.mts';

/** The web pages, webhooks and command of the sandbox. test/host/trigger.test.mts has the other signatures. */

let sandbox: Sandbox;
let receiver: RawServer;
/** HTTP statuses of the receiver's first answers. The others are 200. */
let statuses: number[];
beforeEach(async () => {
	statuses = [];
	sandbox = await startSandbox({ port: 0, deliveryBackoffMs: 5 });
	receiver = await startRawServer((socket, { index }) => {
		socket.write(http(statuses[index] ?? 200, { Location: '/elsewhere' }));
	});
});
afterEach(async () => await Promise.all([sandbox.close(), receiver.close()]));

/** Opens a page, or sends a form and follows its redirect. */
async function open(path: string, fields?: Record<string, string>) {
	const { status, data } = await axios.request<string>({
		method: fields ? 'POST' : 'GET',
		url: `${sandbox.url}/console${path}`,
		data: fields && new URLSearchParams(fields),
		validateStatus: null,
	});
	return { status, html: data, text: data.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ') };
}

it.each<[string, RegExp]>([
	['/users', /60 users.* Emma Larsen emma\.larsen@example\.com plan_pro/],
	['/users/user-002', /Noah Fischer.*plan_basic , active, from 2026-11-01/],
	['/users/user-012', /No subscription\./],
	['/resumes/resume-001', /Score: \d+ of 100.*Content of section 5/],
	['/webhooks', /Register a webhook.*Deliveries/],
	['/style.css', /color-scheme: light dark/],
])('the page %s shows its data', async (path, content) => {
	const { status, text } = await open(path);
	expect(status).toBe(200);
	expect(text).toMatch(content);
});

it.each<[string, number, string, Record<string, string>]>([
	['/sections/section-9999', 404, 'There is no section 9999.', { title: 'x', content: '' }],
	['/webhooks', 400, 'Invalid URL', { url: 'nowhere', style: 'none' }],
	['/webhooks', 400, 'needs a secret', { url: 'http://a/', style: 'hmac', secret: ' ' }],
])('the page %s shows an error with HTTP %d: %s', async (path, status, sentence, fields) => {
	const answer = await open(path, fields);
	expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(sentence)]);
	expect(sandbox.webhooks.list()).toEqual([]);
});

it('the pages show what users entered as text, never as markup', async () => {
	const attack = `"'><script>alert(1)</script></textarea>`;
	sandbox.webhooks.register({ url: `http://127.0.0.1:9/#${attack}`, style: 'none' });
	sandbox.webhooks.saveSection(1, { title: attack, content: attack });
	for (const path of ['/resumes/resume-001', '/webhooks', `/users/${encodeURIComponent(attack)}`]) {
		const { html } = await open(path);
		expect(html).toContain('&lt;script&gt;');
		expect(html).not.toContain('<script');
	}
});

it('saving a section sends a signed event until the answer is 2xx, and again on request', async () => {
	statuses = [500, 302];
	const url = `http://127.0.0.1:${receiver.port}/hook`;
	await open('/webhooks', { url, style: 'hmac', secret: 'secret', headerName: '' });
	const fields = { title: 'Profile', content: '\r\nTwo\r\nlines' };
	const { text, html } = await open('/sections/section-0001', fields);
	expect(text).toContain('Saved. 1 delivery queued.');
	expect(html).toContain('>\n\nTwo\nlines</textarea>');
	await sandbox.webhooks.idle();
	const log = await open('/webhooks');
	expect(log.text).toMatch(/delivered to http\S+, 3 attempts, answer HTTP 200/);
	await open('/deliveries/1/redeliver', {});
	await sandbox.webhooks.idle();

	const [{ body, headers }] = receiver.requests as [RawServer['requests'][number]];
	const section = {
		id: 'section-0001',
		type: 'summary',
		title: 'Profile',
		content: '\nTwo\nlines',
	};
	expect(JSON.parse(body)).toEqual({
		event: 'Resume Section Saved',
		id: expect.stringMatching(/^evt_/) as string,
		created: expect.any(Number) as number,
		data: { userId: 'user-001', resumeId: 'resume-001', section },
	});
	expect(headers['x-webhook-signature']).toBe(sign(body, 'secret'));
	expect(receiver.requests.map((request) => request.body)).toEqual(Array(4).fill(body));
});

it('a delivery has failed after eight attempts', async () => {
	sandbox.webhooks.register({ url: 'http://127.0.0.1:1/', style: 'none' });
	sandbox.webhooks.saveSection(1, {});
	await sandbox.webhooks.idle();
	expect((await open('/webhooks')).text).toMatch(/failed to http\S+, 8 attempts The .* no answer/);
});

describe('the command', () => {
	const run = (...options: string[]) => {
		const main = join(import.meta.dirname, '../../sandbox/main.mts');
		return execa(process.execPath, [main, ...options], { all: true, reject: false });
	};

	it('serves as many users as its option says, until Ctrl-C', async () => {
		const child = run('--port', '0', '--in-memory', '--users', '101');
		let output = '';
		child.all!.on('data', (chunk) => (output += String(chunk)));
		while (!output.includes('AI tokens')) await wait(10);
		const { data } = await axios.get<string>(/Web pages +(\S+)/.exec(output)![1]!);
		expect(data).toContain('101 users, of which these are the first 100');
		child.kill('SIGINT');
		expect((await child).exitCode).toBe(0);
	});

	it('refuses a port in use without a stack trace', async () => {
		const { exitCode, all } = await run('--in-memory', '--port', new URL(sandbox.url).port);
		expect(exitCode).toBe(1);
		expect(all).toMatch(/^Port \d+ is in use by another program/);
		expect(all).not.toMatch(/\n\s+at /);
	});
});
