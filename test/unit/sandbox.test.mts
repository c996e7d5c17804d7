import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import execa from 'execa';
import { createTransport } from 'nodemailer';
import { PAGES } from '../../sandbox/console/console.mts';
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

async function open(path: string, fields?: Record<string, string>) {
	const form = fields && { method: 'POST', body: new URLSearchParams(fields) };
	const response = await fetch(`${sandbox.url}/console${path}`, form);
	const html = await response.text();
	const text = html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
	return { status: response.status, html, text };
}

const TIME = `${new Date().toISOString().slice(0, 10)} [\\d:]{8}`;
const bills = () => sandbox.database.prepare('SELECT * FROM upgrades').all();

it.each(documentedOperations())('$request responds as documented', async (operation) => {
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
});

it('Upgrades shows each request, its key by name, and what it billed', async () => {
	await upgrade({ planId: SANDBOX_PLANS.premium, aiTokenId: 'ai_tokens_100' });
	for (const [fields, errorCode, row] of [
		[{}, undefined, `${EMAIL} plan_pro yes`],
		[{ planId: SANDBOX_PLANS.failingPayment }, 'plan-upgrade-1'],
		[{ planId: 'unknown' }, 'plan-upgrade-2', `${EMAIL} unknown no: plan-upgrade-2`],
		[{ email: 'nobody@example.com' }, 'sandbox-unknown-email'],
		[{ aiTokenId: 'unknown' }, 'sandbox-unknown-ai-token'],
	] as const) {
		expect(await upgrade(fields)).toEqual([errorCode ? 401 : 200, errorCode]);
		if (row) expect((await open('/upgrades')).text).toMatch(RegExp(`${TIME} ${row} live`));
	}
	await upgrade({ email: { a: 1 } }, { Authentication: 'Bearer a-real-key' });
	const { text } = await open('/upgrades');
	expect(text).toMatch(RegExp(`2 upgrades billed.*${TIME} plan_pro no: plan-upgrade-3 unknown`));
	const premium = RegExp(`${TIME} ${EMAIL} plan_premium, ai_tokens_100 yes live`);
	expect(text).toMatch(premium);
	const found = (await open('/upgrades?search=AI_tokens_100')).text;
	expect(found).toMatch(premium);
	expect(found).not.toContain('plan_pro');
	expect(bills()).toMatchObject([{ email: EMAIL, ai_token_id: 'ai_tokens_100' }, { email: EMAIL }]);
});

it('Faults switches faults on and off, and shows those of other programs too', async () => {
	const others = `${sandbox.url}/_sandbox/faults`;
	const post = async (fault: object) =>
		(await fetch(others, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(fault) }))
			.status;
	const cut = 'Carried out, but the connection is lost';
	const fault = RegExp(`value="(\\d)">${cut}<`).exec((await open('/faults')).html)![1]!;
	const { text } = await open('/faults', { fault, path: 'plan/upgrade', email: '', times: '1' });
	expect(text).toContain(`1 ${cut} plan/upgrade all Switch off`);
	expect((await open('/faults', { fault, times: '-1' })).status).toBe(400);
	const email = EMAIL.toUpperCase();
	expect(await post({ email, response: { status: 502, body: '{}' } })).toBe(200);
	expect(await post({ drop: 'after', patj: '/users' })).toBe(400);
	await expect(upgrade()).rejects.toThrow('fetch failed');
	expect(bills()).toHaveLength(1);
	expect(await upgrade()).toEqual([502, undefined]);
	expect(await upgrade({ email: 'noah.fischer@example.com' })).toEqual([200, undefined]);
	expect((await open('/faults')).text).toContain(`Email all HTTP 502 Bad Gateway {} all ${email} `);
	expect((await open('/faults/2/remove', {})).text).toContain('No fault is on.');
	expect(await upgrade()).toEqual([200, undefined]);
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
	['/users?search=nobody', /No user has “nobody” in the name, email, ID or plan\./],
	['/upgrades', /No request has arrived\./],
	['/upgrades?search=nobody', /No request has “nobody” in its email, plan or error\./],
	['/emails', /No email has arrived\./],
	['/users/user-002', /Noah Fischer.*plan_basic , active, from 2026-11-01/],
	['/resumes/resume-001', /Score: \d+ of 100.*Content of section 5/],
	['/webhooks', /Register a webhook.*Deliveries/],
	['/style.css', /pico.*--pico-/i],
])('the page %s shows its data', async (path, content) => {
	const { status, text } = await open(path);
	expect(status).toBe(200);
	expect(text).toMatch(content);
});

it.each(PAGES)('/%s leads to the page', async (name) => {
	const { url } = await fetch(`${sandbox.url}/${name}`);
	expect(url).toBe(`${sandbox.url}/console/${name}`);
});

it('Emails shows the emails that arrive over SMTP, the newest first, with links and without scripts', async () => {
	const receiving = await startSandbox({ port: 0, mailPort: 0 });
	const transport = createTransport({ host: '127.0.0.1', port: receiving.mailPort });
	const mail = { from: 'n8n@example.com', to: 'team@example.com' };
	await transport.sendMail({ ...mail, subject: 'First “ü”', text: '1 < 2' });
	const html = `<a href="http://127.0.0.1/approve">Approve</a><script>alert("1")</script>`;
	await transport.sendMail({ ...mail, cc: 'b@example.com', subject: 'Second', html });
	const response = await fetch(`${receiving.url}/emails`);
	expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
	const page = await response.text();
	expect(page).toMatch(
		/<h2>Second<.*from n8n@example\.com to team@example\.com, b@example\.com.*<h2>First “ü”<.*<pre>1 &lt; 2\s*<\/pre>/s,
	);
	const escaped = html.replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
	expect(page).toContain(escaped);
	expect(page).not.toContain('allow-scripts');
	await receiving.close();
});

it('an address without a page or an operation is a page in a browser, and JSON elsewhere', async () => {
	const response = async (accept: string) =>
		await fetch(`${sandbox.url}/nowhere`, { headers: { accept } });
	expect(await (await response('text/html,*/*')).text()).toContain('has no page /nowhere');
	const json: unknown = await (await response('*/*')).json();
	expect(json).toMatchObject({ status: 'error', errorCode: 'sandbox-unknown-address' });
});

it('the pages show what users entered as text, never as markup', async () => {
	const attack = `"'><script>alert(1)</script></textarea>`;
	sandbox.webhooks.register({ url: `http://127.0.0.1:9/#${attack}`, style: 'none' });
	sandbox.webhooks.saveSection(1, { title: attack, content: attack });
	sandbox.faults.add({ path: attack, response: { status: 200, body: attack } });
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
	const webhook = { url, style: 'hmac', secret: 'secret' };
	const nameless = await open('/webhooks', { ...webhook, headerName: '' });
	expect(nameless.text).toContain('This style needs a header name.');
	await open('/webhooks', { ...webhook, headerName: 'X-Webhook-Signature' });
	const fields = { title: 'Profile', content: '\r\nTwo\r\nlines' };
	const saved = await open('/sections/section-0001', fields);
	await sandbox.webhooks.idle();
	const log = await open('/webhooks');
	await open('/deliveries/1/redeliver', {});
	await sandbox.webhooks.idle();
	await receiver.close();
	expect(saved.text).toContain('Saved. 1 delivery queued.');
	sandbox.webhooks.register({ url, name: 'Score a resume', style: 'none' });
	expect((await open('/webhooks')).text).toMatch(/Score a resume \(none\) .*delivered to Score a/);
	expect(log.text).toMatch(RegExp(`${TIME}: delivered to http\\S+, 3 attempts, HTTP 200`));
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
