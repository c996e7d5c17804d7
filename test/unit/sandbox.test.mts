import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

import execa from 'execa';

import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startSandbox, type Sandbox } from '../../sandbox/server.mts';
import { documentedOperations, judgeResponse } from '../support/openapi.mts';
import { sign } from '../support/proofs.mts';
import { http, startRawServer } from '../support/rawServer.mts';

/** What users of the sandbox rely on: the API of the OpenAPI document, the web pages, the data file and the command. */

const EMAIL = 'emma.larsen@example.com';
const UPGRADE = { planId: SANDBOX_PLANS.pro, email: EMAIL };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const HEADERS = { ...JSON_TYPE, Authentication: `Bearer ${SANDBOX_KEYS.live}` };

let sandbox: Sandbox;
beforeEach(async () => {
	sandbox = await startSandbox({ port: 0, deliveryBackoffMs: 5 });
});
afterEach(async () => await sandbox.close());

/** Sends a plan upgrade with some other fields or headers, and returns its HTTP status and error code. */
async function upgrade(fields: object = {}, headers: object = {}) {
	const response = await fetch(`${sandbox.baseUrl}/plan/upgrade`, {
		method: 'POST',
		headers: { ...HEADERS, ...headers },
		body: JSON.stringify({ ...UPGRADE, ...fields }),
	});
	const { errorCode } = (await response.json()) as { errorCode?: string };
	return [response.status, errorCode];
}

/** Opens a web page, or sends a form and follows its redirect. */
async function open(path: string, fields?: Record<string, string>) {
	const form = fields && { method: 'POST', body: new URLSearchParams(fields) };
	const response = await fetch(`${sandbox.url}/console${path}`, form);
	const html = await response.text();
	const text = html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
	return { status: response.status, html, text };
}

const bills = () => sandbox.database.prepare('SELECT * FROM upgrades').all();

it.each(documentedOperations())(
	'$request responds as the document describes',
	async (operation) => {
		const { method, operationId, request, requestBody } = operation;
		const isUpgrade = operationId === 'plan.upgrade';
		const path = operation.path.replace('{userID}', 'user-001').replace('{resumeID}', 'resume-001');
		const send = async (headers: object, body = requestBody && JSON.stringify(UPGRADE)) => {
			const init = { method, headers: { ...headers }, body };
			const response = await fetch(sandbox.baseUrl + path, init);
			const text = await response.text();
			expect([request, judgeResponse(operation, response, text)]).toEqual([request, '']);
			return `${response.status} ${text}`;
		};
		expect(await send(HEADERS)).toMatch(/^200 (%PDF-|\{"status":"success",)/);

		const refused = (code: string) => expect.stringMatching(`^${isUpgrade ? 401 : 200} .*${code}`);
		const unauthorized = refused(isUpgrade ? 'plan-upgrade-3' : 'sandbox-unauthorized');
		const tokenType = refused(isUpgrade ? 'plan-upgrade-4' : 'sandbox-token-type');
		const { Authentication } = HEADERS;
		expect(await send({ Authentication })).toEqual(refused('sandbox-content-type'));
		expect(await send({ ...JSON_TYPE, Authorization: Authentication })).toEqual(unauthorized);
		expect(await send({ ...JSON_TYPE, Authentication: 'Bearer unknown' })).toEqual(unauthorized);
		expect(await send({ ...JSON_TYPE, Authentication: 'Bearer a.b.c' })).toEqual(tokenType);
		if (requestBody) expect(await send(HEADERS, '{"title":')).toEqual(refused('malformed-body'));

		const log = jest.spyOn(console, 'error').mockImplementation(() => {});
		sandbox.database.exec('PRAGMA foreign_keys = OFF; DROP TABLE users; DROP TABLE sections');
		expect(await send(HEADERS)).toMatch(/^500 /);
		log.mockRestore();
		expect(bills()).toHaveLength(isUpgrade ? 1 : 0);
	},
);

it('Upgrades shows each request, its key by name, and what it billed', async () => {
	expect(await upgrade({ planId: SANDBOX_PLANS.premium, aiTokenId: 'ai_tokens_100' })).toEqual([
		200,
	]);
	expect(await upgrade()).toEqual([200, undefined]);
	for (const [fields, errorCode, headers] of [
		[{ planId: SANDBOX_PLANS.failingPayment }, 'plan-upgrade-1'],
		[{ planId: 'unknown' }, 'plan-upgrade-2'],
		[{ email: { a: 1 } }, 'plan-upgrade-3', { Authentication: 'Bearer a-real-key' }],
		[{ email: 'nobody@example.com' }, 'sandbox-unknown-email'],
		[{ aiTokenId: 'unknown' }, 'sandbox-unknown-ai-token'],
	] as const) {
		expect(await upgrade(fields, headers)).toEqual([401, errorCode]);
	}
	expect(bills()).toMatchObject([{ email: EMAIL, ai_token_id: 'ai_tokens_100' }, { email: EMAIL }]);
	const { text } = await open('/upgrades');
	expect(text).toContain('2 upgrades billed');
	const rows = text.match(/\d{4}-\d\d-\d\d .*?(live|unknown) (?=\d{4}-|The)/g)!;
	const [time] = rows[0]!.match(/^\S+ \S+/)!;
	expect(Math.abs(Date.now() - Date.parse(`${time}Z`))).toBeLessThan(60_000);
	expect(rows.map((row) => row.slice(time.length + 1))).toEqual([
		`${EMAIL} plan_pro nothing: sandbox-unknown-ai-token live `,
		'nobody@example.com plan_pro nothing: sandbox-unknown-email live ',
		'plan_pro nothing: plan-upgrade-3 unknown ',
		`${EMAIL} unknown nothing: plan-upgrade-2 live `,
		`${EMAIL} plan_failing_payment nothing: plan-upgrade-1 live `,
		`${EMAIL} plan_pro plan_pro live `,
		`${EMAIL} plan_premium plan_premium, ai_tokens_100 live `,
	]);
});

it('Faults switches faults on and off, and shows those of other programs too', async () => {
	const others = `${sandbox.url}/_sandbox/faults`;
	const post = async (fault: object) =>
		(await fetch(others, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(fault) }))
			.status;
	expect((await open('/faults')).text).toContain('No fault is on.');
	const names = Array.from((await open('/faults')).html.matchAll(/<option value="(\d)">(.*)</g));
	const choose = async (name: string, fields: object) => {
		const fault = names.find(([, , text]) => text === name)![1]!;
		return (await open('/faults', { fault, path: '', email: '', times: '', ...fields })).text;
	};
	const cut = 'Connection cut after the request is handled';
	expect(await choose(cut, { path: '/plan/upgrade', times: '1' })).toContain(
		`1 ${cut} /plan/upgrade all`,
	);
	expect(await choose('HTTP 503', { email: EMAIL.toUpperCase() })).toContain(
		'all HTTP 503 all EMMA',
	);
	expect(await post({ path: '/user/*', answer: { status: 502, body: '<h1>' } })).toBe(200);
	expect(await post({ drop: 'after', patj: '/users' })).toBe(400);
	expect((await open('/faults')).text).toContain('all HTTP 502 &lt;h1&gt; /user/* all');

	await expect(upgrade()).rejects.toThrow('fetch failed');
	expect(bills()).toHaveLength(1);
	expect((await open('/faults')).text).not.toContain(`1 ${cut}`);
	await expect(upgrade()).rejects.toThrow('Unexpected end of JSON input');
	expect(await upgrade({ email: 'noah.fischer@example.com' })).toEqual([200, undefined]);
	await open('/faults/2/remove', {});
	expect(await upgrade()).toEqual([200, undefined]);
	expect((await fetch(`${sandbox.baseUrl}/user/user-001`)).status).toBe(502);
	await fetch(others, { method: 'DELETE' });
	expect((await open('/faults')).text).toContain('No fault is on.');
	expect((await open('/faults', { fault: '0', times: '-1' })).status).toBe(400);
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
	['/users?search=%20NOVAK', /1 user Name Email Plan Liam Novak liam\.novak@\S+ no plan The/],
	['/users?search=no+plan', /15 users /],
	['/users/user-002', /Noah Fischer.*plan_basic , active, from 2026-11-01/],
	['/resumes/resume-001', /Score: \d+ of 100.*Content of section 5/],
	['/webhooks', /Register a webhook.*Deliveries/],
	['/style.css', /pico.*--pico-/i],
])('the page %s shows its data', async (path, content) => {
	const { status, text } = await open(path);
	expect(status).toBe(200);
	expect(text).toMatch(content);
});

it('the pages show what users entered as text, never as markup', async () => {
	const attack = `"'><script>alert(1)</script></textarea>`;
	sandbox.webhooks.register({ url: `http://127.0.0.1:9/#${attack}`, style: 'none' });
	sandbox.webhooks.saveSection(1, { title: attack, content: attack });
	sandbox.faults.add({ path: attack, answer: { status: 200, body: attack } });
	await upgrade({ email: attack, planId: attack });
	const query = encodeURIComponent(attack);
	const pages = ['resumes/resume-001', 'webhooks', 'upgrades', 'faults', `users/${query}`];
	for (const path of [...pages, `users?search=${query}`]) {
		const { html } = await open(`/${path}`);
		expect(html).toContain('&lt;script&gt;');
		expect(html).not.toContain('<script');
	}
});

it('saving a section sends a signed event until the response is 2xx, and again on request', async () => {
	const receiver = await startRawServer((socket, { index }) => {
		socket.write(http([500, 302][index] ?? 200, { Location: '/elsewhere' }));
	});
	const url = `http://127.0.0.1:${receiver.port}/hook`;
	await open('/webhooks', { url, style: 'hmac', secret: 'secret', headerName: '' });
	const fields = { title: 'Profile', content: '\r\nTwo\r\nlines' };
	const saved = await open('/sections/section-0001', fields);
	await sandbox.webhooks.idle();
	const log = await open('/webhooks');
	await open('/deliveries/1/redeliver', {});
	await sandbox.webhooks.idle();
	await receiver.close();

	expect(saved.text).toContain('Saved. 1 delivery queued.');
	expect(saved.html).toContain('>\n\nTwo\nlines</textarea>');
	const today = new Date().toISOString().slice(0, 10);
	expect(log.text).toMatch(
		RegExp(`${today} [\\d:]{8}: delivered to http\\S+, 3 attempts, HTTP 200`),
	);
	const { body, headers } = receiver.requests[0]!;
	const section = { id: 'section-0001', type: 'summary', ...fields, content: '\nTwo\nlines' };
	const data = { userId: 'user-001', resumeId: 'resume-001', section };
	expect(JSON.parse(body)).toMatchObject({ event: 'Resume Section Saved', data });
	expect(headers['x-webhook-signature']).toBe(sign(body, 'secret'));
	expect(receiver.requests.map((request) => request.body)).toEqual(Array(4).fill(body));
});

it('the command starts a sandbox with as many users as its option says, until Ctrl-C', async () => {
	const main = join(import.meta.dirname, '../../sandbox/main.mts');
	const child = execa(process.execPath, [main, '--port', '0', '--in-memory', '--users', '101']);
	let output = '';
	child.stdout!.on('data', (chunk) => (output += String(chunk)));
	while (!output.includes('AI tokens') && child.exitCode === null) await wait(10);
	const page = await fetch(/Web pages +(\S+)/.exec(output)![1]!);
	expect(await page.text()).toContain('101 users, of which these are the first 100');
	child.kill('SIGINT');
	expect((await child).exitCode).toBe(0);
});
