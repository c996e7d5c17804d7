import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

import execa from 'execa';

import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startSandbox, type Sandbox } from '../../sandbox/server.mts';
import { judgeAnswer, offeredOperations } from '../support/openapi.mts';
import { sign } from '../support/proofs.mts';
import { http, startRawServer } from '../support/rawServer.mts';

/** The sandbox: its API, faults, data file, web pages, webhooks and command. */

const EMAIL = 'emma.larsen@example.com';
const UPGRADE = { planId: SANDBOX_PLANS.pro, email: EMAIL };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const HEADERS = { ...JSON_TYPE, Authentication: `Bearer ${SANDBOX_KEYS.live}` };

let sandbox: Sandbox;
beforeEach(async () => {
	sandbox = await startSandbox({ port: 0, deliveryBackoffMs: 5 });
});
afterEach(async () => await sandbox.close());

/** Sends an object as JSON and a string as it is, both by POST. */
async function call(path: string, body?: object | string, headers: object = HEADERS) {
	const answer = await fetch(sandbox.baseUrl + path, {
		method: body === undefined ? 'GET' : 'POST',
		headers: { ...headers },
		body: typeof body === 'object' ? JSON.stringify(body) : body,
	});
	return { answer, status: answer.status, text: await answer.text() };
}

async function read(path: string): Promise<unknown> {
	const { data } = JSON.parse((await call(path)).text) as { data: unknown };
	return data;
}

const upgrade = async (fields: object = {}) =>
	await call('/plan/upgrade', { ...UPGRADE, ...fields });

/** Opens a web page, or sends a form and follows its redirect. */
async function open(path: string, fields?: Record<string, string>) {
	const form = fields && { method: 'POST', body: new URLSearchParams(fields) };
	const answer = await fetch(`${sandbox.url}/console${path}`, form);
	const html = await answer.text();
	const text = html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
	return { status: answer.status, html, text };
}

const bills = () => sandbox.database.prepare('SELECT * FROM upgrades').all();

it.each(offeredOperations())(
	'$operationId answers as the document describes',
	async (operation) => {
		const isUpgrade = operation.operationId === 'plan.upgrade';
		const path = operation.path.replace('{userID}', 'user-001').replace('{resumeID}', 'resume-001');
		const valid = operation.requestBody && UPGRADE;
		const ask = async (headers: object, body: object | string | undefined = valid) => {
			const { answer, status, text } = await call(path, body, headers);
			expect(judgeAnswer(operation, answer, text)).toBe('');
			return `${status} ${text}`;
		};
		expect(await ask(HEADERS)).toMatch(/^200 (%PDF-|\{"status":"success",)/);

		const refused = (code: string) => expect.stringMatching(`^${isUpgrade ? 401 : 200} .*${code}`);
		const unauthorized = refused(isUpgrade ? 'plan-upgrade-3' : 'sandbox-unauthorized');
		const tokenType = refused(isUpgrade ? 'plan-upgrade-4' : 'sandbox-token-type');
		const { Authentication } = HEADERS;
		expect(await ask({ Authentication })).toEqual(refused('sandbox-content-type'));
		expect(await ask({ ...JSON_TYPE, Authorization: Authentication })).toEqual(unauthorized);
		expect(await ask({ ...JSON_TYPE, Authentication: 'Bearer unknown' })).toEqual(unauthorized);
		expect(await ask({ ...JSON_TYPE, Authentication: 'Bearer a.b.c' })).toEqual(tokenType);
		if (valid) expect(await ask(HEADERS, '{"title":')).toEqual(refused('sandbox-malformed-body'));

		const log = jest.spyOn(console, 'error').mockImplementation(() => {});
		sandbox.database.exec('PRAGMA foreign_keys = OFF; DROP TABLE users; DROP TABLE sections');
		expect(await ask(HEADERS)).toMatch(/^500 /);
		log.mockRestore();
		expect(bills()).toHaveLength(isUpgrade ? 1 : 0);
	},
);

it('a new resume is read back, and is downloaded as a PDF with its title', async () => {
	const sections = [{ type: 'skills', content: 'emoji 🎉\n', level: [1] }, { title: '' }];
	const resume = { title: '(1) "*" 履', language: 'en', sections };
	await call('/user/user-006/resume', resume);
	expect(await read('/resume/resume-151')).toMatchObject(resume);
	const { answer, text } = await call('/resume/resume-151/download');
	const name = "attachment; filename*=UTF-8''_1_%20%22_%22%20%E5%B1%A5.pdf";
	expect(answer.headers.get('content-disposition')).toBe(name);
	expect(text).toContain(`(\\(1\\) "*" ?) '`);
});

it('an upgrade puts the user on the plan and bills, each time that it is sent', async () => {
	const [planId, aiTokenId] = [SANDBOX_PLANS.premium, 'ai_tokens_100'];
	const { text } = await upgrade({ planId, aiTokenId });
	const { data } = JSON.parse(text) as { data: Record<string, number> };
	const { current_period_start: start, current_period_end: end } = data;
	expect([data.plan_id, end]).toEqual([planId, start! + 365 * 24 * 60 * 60]);
	expect(await read('/user/user-001')).toMatchObject({ aiCredits: 100, subscription: data });
	const bill = { id: 1, email: EMAIL, plan_id: planId, ai_token_id: aiTokenId, created: start };
	expect(bills()).toEqual([bill]);
	await upgrade();
	expect(bills()).toHaveLength(2);
	expect(await read('/user/user-004')).toMatchObject({ subscription: null });
	await upgrade({ email: 'liam.novak@example.com' });
	expect(await read('/user/user-004')).toMatchObject({ subscription: { status: 'active' } });
});

it.each([
	[{ planId: SANDBOX_PLANS.failingPayment }, 'plan-upgrade-1'],
	[{ planId: 'unknown' }, 'plan-upgrade-2'],
	[{ email: 'nobody@example.com' }, 'sandbox-unknown-email'],
	[{ aiTokenId: 'unknown' }, 'sandbox-unknown-ai-token'],
])('an upgrade with %j is HTTP 401 and bills nothing', async (fields, errorCode) => {
	const { status, text } = await upgrade(fields);
	expect([status, JSON.parse(text)]).toMatchObject([401, { errorCode }]);
	expect(bills()).toEqual([]);
});

it.each([
	['before', 0],
	['after', 1],
] as const)('a fault cuts the connection %s the request is handled', async (drop, billed) => {
	sandbox.faults.add({ drop, delayMs: 50, times: 1 });
	await expect(upgrade()).rejects.toThrow('fetch failed');
	expect(bills()).toHaveLength(billed);
	expect((await upgrade()).status).toBe(200);
});

it('faults are set and cleared over HTTP, and answer the requests that they match', async () => {
	const url = `${sandbox.url}/_sandbox/faults`;
	const set = async (fault: unknown) =>
		(await fetch(url, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(fault) })).status;
	const answer = { status: 502, body: '<h1>' };
	expect(await set({ path: '/user/*', answer })).toBe(200);
	expect(await set({ path: '/plan/upgrade', email: EMAIL.toUpperCase(), answer })).toBe(200);
	expect(await set({ drop: 'after', patj: '/users' })).toBe(400);
	expect((await call('/users')).status).toBe(200);
	expect((await call('/user/user-001')).text).toBe('<h1>');
	expect((await upgrade({ email: 'noah.fischer@example.com' })).status).toBe(200);
	expect((await upgrade()).status).toBe(502);
	await fetch(url, { method: 'DELETE' });
	expect((await upgrade()).status).toBe(200);
});

it("the data file survives a restart, is filled again by reset, and is no other program's", async () => {
	const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
	const file = join(folder, 'data', 'sandbox.sqlite');
	const restart = async (reset = false) => {
		await sandbox.close();
		sandbox = await startSandbox({ port: 0, file, reset });
	};
	await restart();
	await upgrade();
	await restart();
	expect(bills()).toHaveLength(1);
	await restart(true);
	expect(bills()).toEqual([]);
	const foreign = join(folder, 'foreign.sqlite');
	const database = new DatabaseSync(foreign);
	database.exec('CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES (1)');
	const start = startSandbox({ port: 0, file: foreign, reset: true });
	await expect(start).rejects.toThrow('belongs to another program');
	expect(database.prepare('SELECT * FROM notes').all()).toHaveLength(1);
	database.close();
	rmSync(folder, { recursive: true });
});

it.each<[string, RegExp]>([
	['/users', /60 users.* Emma Larsen emma\.larsen@example\.com plan_pro/],
	['/users/user-002', /Noah Fischer.*plan_basic , active, from 2026-11-01/],
	['/resumes/resume-001', /Score: \d+ of 100.*Content of section 5/],
	['/webhooks', /Register a webhook.*Deliveries/],
])('the page %s shows its data', async (path, content) => {
	const { status, text } = await open(path);
	expect(status).toBe(200);
	expect(text).toMatch(content);
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
	const receiver = await startRawServer((socket, { index }) => {
		socket.write(http([500, 302][index] ?? 200, { Location: '/elsewhere' }));
	});
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

	const { body, headers } = receiver.requests[0]!;
	const section = {
		id: 'section-0001',
		type: 'summary',
		title: 'Profile',
		content: '\nTwo\nlines',
	};
	const data = { userId: 'user-001', resumeId: 'resume-001', section };
	expect(JSON.parse(body)).toMatchObject({ event: 'Resume Section Saved', data });
	expect(headers['x-webhook-signature']).toBe(sign(body, 'secret'));
	expect(receiver.requests.map((request) => request.body)).toEqual(Array(4).fill(body));
	await receiver.close();
});

it('the command starts a sandbox with as many users as its option says, until Ctrl-C', async () => {
	const main = join(import.meta.dirname, '../../sandbox/main.mts');
	const child = execa(process.execPath, [main, '--port', '0', '--in-memory', '--users', '101']);
	let output = '';
	child.stdout!.on('data', (chunk) => (output += String(chunk)));
	while (!output.includes('AI tokens')) await wait(10);
	const page = await fetch(/Web pages +(\S+)/.exec(output)![1]!);
	expect(await page.text()).toContain('101 users, of which these are the first 100');
	child.kill('SIGINT');
	expect((await child).exitCode).toBe(0);
});
