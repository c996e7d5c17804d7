import { createHmac } from 'node:crypto';

import axios, { type AxiosResponse } from 'axios';

import { SANDBOX_AI_TOKENS, SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startSandbox, type Delivery, type Sandbox } from '../../sandbox/server.mts';
import { call } from '../support/sandboxClient.mts';
import { startReceiver, type Receiver } from '../support/sandboxReceiver.mts';

const SECTION = '/resumes/resume-001/sections/section-0001';

let sandbox: Sandbox;
beforeEach(async () => {
	sandbox = await startSandbox({ port: 0, record: true, deliveryBackoffMs: 5 });
});
afterEach(() => sandbox.close());

async function receive(): Promise<Receiver & AsyncDisposable> {
	const receiver = await startReceiver();
	return { ...receiver, [Symbol.asyncDispose]: receiver.close };
}

function request(
	method: 'GET' | 'POST',
	path: string,
	{ fields, headers }: { fields?: Record<string, string>; headers?: Record<string, string> } = {},
): Promise<AxiosResponse<string>> {
	return axios.request<string>({
		method,
		url: `${sandbox.url}/console${path}`,
		data: fields && new URLSearchParams(fields),
		headers,
		responseType: 'text',
		maxRedirects: 0,
		validateStatus: () => true,
	});
}

/** The HTML of a page that is there. */
async function open(path: string): Promise<string> {
	const { status, headers, data } = await request('GET', path);
	expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
	return data;
}

/** Sends a form and opens the page that it leads to. */
async function submit(path: string, fields: Record<string, string> = {}): Promise<string> {
	const { status, headers } = await request('POST', path, { fields });
	expect(status).toBe(303);
	return await open(String(headers.location).slice('/console'.length));
}

/** The text of a page without its markup, in one line. */
function textOf(html: string): string {
	return html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

async function read<Data>(path: string): Promise<Data> {
	return (await call(sandbox, 'GET', path)).json().data as Data;
}

describe('pages', () => {
	it('begin at the root of the port', async () => {
		const { status, data } = await axios.get<string>(sandbox.url);
		expect(status).toBe(200);
		expect(data).toContain('<h1>Users</h1>');
	});

	it('are styled by what the sandbox itself serves', async () => {
		const sheets = (await open('/users')).matchAll(/"stylesheet" href="\/console([^"]+)"/g);
		const served = Array.from(sheets, ([, path]) => request('GET', path!));
		const answers = (await Promise.all(served)).map(({ status, headers }) => [
			status,
			headers['content-type'],
		]);
		expect(answers).toEqual([
			[200, expect.stringMatching(/^text\/css/)],
			[200, expect.stringMatching(/^text\/css/)],
		]);
	});

	it('list users, a part at a time', async () => {
		const [first, last] = [await open('/users'), await open('/users?page=3')];
		expect(textOf(first)).toMatch(/60 users .*plan_pro emma\.larsen@example\.com .*Page 1 of 3/);
		expect(first).toContain('href="?page=2"');
		expect(textOf(last)).toMatch(/Łukasz Zieliński .*Page 3 of 3/);
		expect(await open('/users?page=99')).toContain('Page 3 of 3');
	});

	it('find users, and keep the search from page to page', async () => {
		expect(textOf(await open('/users?search=ZOE.'))).toMatch(/1 user found for “ZOE\.”.*Zoë Maes/);
		expect(await open('/users?search=e%26f')).toContain('0 users');
		expect(await open('/users?search=%40example')).toContain(
			'href="?search=%40example&amp;page=2"',
		);
	});

	it('show a user with subscription and resumes', async () => {
		const text = textOf(await open('/users/user-002'));
		expect(text).toMatch(/Noah Fischer .*Basic plan_basic .*active .*1 Nov 2026 to 1 Dec 2026/);
		expect(text).toMatch(/Noah Fischer, Product Manager .*Score \d+/);
		expect(textOf(await open('/users/user-012'))).toMatch(/No subscription\..*No resumes\./);
	});

	it('show a resume with its score and a form for each section', async () => {
		const { score } = await read<{ score: number }>('/resume/resume-001/score');
		const html = await open('/resumes/resume-001');
		expect(textOf(html)).toContain(`${score} of 100`);
		expect(html.match(/<form /g)).toHaveLength(5);
		expect(html).toContain('value="Experience"');
	});

	it('show base URL, keys, plans and AI tokens', async () => {
		const html = await open('/keys');
		const values = [SANDBOX_KEYS, SANDBOX_PLANS, SANDBOX_AI_TOKENS].flatMap((group) =>
			Object.values(group),
		);
		for (const value of [sandbox.baseUrl, ...values]) expect(html).toContain(`<code>${value}`);
	});

	it.each(['/users', '/users/user-002', '/resumes/resume-001', '/keys', '/webhooks'])(
		'need no script and nothing from elsewhere, and label what they ask for (%s)',
		async (path) => {
			sandbox.webhooks.register({ url: 'http://127.0.0.1:9/', style: 'none' });
			sandbox.webhooks.saveSection(1, {});
			const html = await open(path);
			expect(html).not.toMatch(/<script|style=|\son\w+=|(src|href)="(https?:)?\/\//);
			expect(html).toMatch(/^<!doctype html>\s*<html lang="en">/);
			expect(html).toMatch(/<a class="skip" href="#main">.*<main id="main"/s);
			expect(html).not.toMatch(/>undefined<|="undefined"/);

			const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
			expect(new Set(ids).size).toBe(ids.length);
			for (const [, id] of html.matchAll(/\s(?:for|aria-labelledby|aria-describedby)="([^"]*)"/g)) {
				expect(ids).toContain(id);
			}
			const labels = [...html.matchAll(/<label[^>]*>(.*?)<\/label>/gs)].map(([, label = '']) =>
				textOf(label).trim(),
			);
			expect(new Set(labels).size).toBe(labels.length);
			const labelled = [...html.matchAll(/\sfor="([^"]*)"/g)].map(([, id]) => id);
			for (const [, id] of html.matchAll(/<(?:input|textarea|select|meter)[^>]*\sid="([^"]*)"/g)) {
				expect(labelled).toContain(id);
			}
		},
	);

	it.each([
		['GET', '/users/nobody', 404, 'There is no user nobody.'],
		['GET', '/resumes/nothing', 404, 'There is no resume nothing.'],
		['GET', '/nothing', 404, 'There is no such page.'],
		['GET', '/users?page=two', 400, 'There is no page "two".'],
		['POST', '/resumes/resume-001/sections/section-0099', 404, 'has no section section-0099.'],
		['POST', SECTION, 400, 'A section needs a title.'],
		['POST', '/deliveries/7/redeliver', 400, 'There is no delivery 7.'],
		['POST', '/deliveries/x/redeliver', 404, 'There is no such page.'],
	] as const)('say what is wrong (%s %s)', async (method, path, status, sentence) => {
		const answer = await request(method, path);
		expect(answer.status).toBe(status);
		expect(answer.headers['content-type']).toContain('text/html');
		expect(answer.data.replaceAll('&quot;', '"')).toContain(sentence);
	});

	it('say so when a form is too large', async () => {
		const { status, data } = await request('POST', SECTION, {
			fields: { title: 'Large', content: 'x'.repeat(5_000_000) },
		});
		expect(status).toBe(413);
		expect(data).toContain('larger than the sandbox takes');
	});

	it('print what was entered as text, never as markup', async () => {
		const attack = `"'><script>alert(1)</script></textarea>`;
		const user = await call(sandbox, 'POST', '/user/user-001/resume', {
			body: { title: attack, sections: [{ type: attack, title: attack, content: attack }] },
		});
		const { id } = user.json().data as { id: string };
		sandbox.webhooks.register({
			url: `http://127.0.0.1:9/${encodeURIComponent(attack)}`,
			style: 'hmac',
			secret: attack,
			prefix: attack,
		});
		sandbox.webhooks.saveSection(1, { title: attack });
		const query = new URLSearchParams({ search: attack, saved: attack, done: attack });
		const bad = await request('POST', '/webhooks', { fields: { url: attack, secret: attack } });
		const pages = [
			bad.data,
			await open(`/users?${query}`),
			await open('/users/user-001'),
			await open(`/resumes/${id}?${query}`),
			await open('/resumes/resume-001'),
			await open(`/webhooks?${query}`),
			(await request('GET', `/users/${encodeURIComponent(attack)}`)).data,
		];
		for (const html of pages) {
			expect(html).toContain('&lt;script&gt;');
			expect(html).not.toContain('<script');
		}
	});
});

describe('a section', () => {
	it('is saved: data and score of the API change, and the page says how many are told', async () => {
		await using receiver = await receive();
		sandbox.webhooks.register({ url: receiver.url, style: 'none' });
		const before = await read<{ score: number }>('/resume/resume-001/score');

		const html = await submit(SECTION, { title: ' Profile ', content: 'Two\r\nlines' });

		expect(textOf(html)).toContain('Saved. 1 delivery queued.');
		const resume = await read<{ sections: object[] }>('/resume/resume-001');
		const section = {
			id: 'section-0001',
			type: 'summary',
			title: 'Profile',
			content: 'Two\nlines',
		};
		expect(resume.sections[0]).toEqual(section);
		const after = await read<{ score: number }>('/resume/resume-001/score');
		expect(after.score).toBeLessThan(before.score);
		expect(textOf(html)).toContain(`${after.score} of 100`);
		await sandbox.webhooks.idle();
		expect(receiver.received.map(({ json }) => json().data)).toEqual([
			{ userId: 'user-001', resumeId: 'resume-001', section },
		]);
	});

	it('keeps an empty first line through the form', async () => {
		const html = await submit(SECTION, { title: 'Profile', content: '\r\nafter it' });
		expect(html).toMatch(/<textarea[^>]*>\n\nafter it<\/textarea>/);
	});

	it('is saved without a webhook too', async () => {
		const html = await submit(SECTION, { title: 'Profile', content: '' });
		expect(textOf(html)).toContain('Saved. 0 deliveries queued. Register a webhook');
	});
});

describe('webhooks', () => {
	it('are registered, used, listed and removed by forms', async () => {
		await using receiver = await receive();
		const registered = await submit('/webhooks', {
			url: receiver.url,
			style: 'hmac',
			secret: 'a secret',
			headerName: '',
			encoding: 'base64',
			prefix: 'v1=',
			signTimestamp: 'on',
			timestampHeader: 'X-Time',
		});
		expect(textOf(registered)).toContain(
			`${receiver.url} HMAC-SHA256 in X-Webhook-Signature, base64, prefix v1=, timestamp in X-Time`,
		);

		await submit(SECTION, { title: 'Profile', content: '' });
		await sandbox.webhooks.idle();
		const [{ headers, body }] = receiver.received as [Receiver['received'][0]];
		expect(headers['x-webhook-signature']).toBe(
			`v1=${createHmac('sha256', 'a secret').update(`${headers['x-time']}.${body}`).digest('base64')}`,
		);
		const listed = await open('/webhooks');
		expect(textOf(listed)).toMatch(/delivered .* 1 attempt, last one .* UTC ?, answer HTTP 200/);

		const path = /action="\/console(\/webhooks\/\d+\/remove)"/.exec(listed)?.[1];
		expect(textOf(await submit(String(path)))).toContain('Removed, with its deliveries.');
		expect(sandbox.webhooks.list()).toEqual([]);
	});

	it.each([
		['standardWebhooks', 'whsec_c2VjcmV0', 'Standard Webhooks'],
		['timestampedSignature', 'secret', 'Time and HMAC-SHA256 in X-Webhook-Signature'],
	])('are registered in the style %s', async (style, secret, proof) => {
		const url = 'http://127.0.0.1:9/';
		const html = await submit('/webhooks', { url, style, secret, encoding: 'hex' });
		expect(textOf(html)).toContain(`${url} ${proof}`);
		expect(sandbox.webhooks.list()).toMatchObject([{ url, style, secret }]);
		const refused = await request('POST', '/webhooks', { fields: { url, style, secret: '' } });
		expect(refused.data).toMatch(new RegExp(`id="style-${style}"[^>]* checked`));
	});

	it('take a timestamp header only where a timestamp is wanted', async () => {
		const fields = { url: 'http://127.0.0.1:9/', style: 'hmac', secret: 's', encoding: 'hex' };
		await submit('/webhooks', { ...fields, timestampHeader: 'X-Time' });
		expect(sandbox.webhooks.list()).toMatchObject([{ encoding: 'hex', prefix: '' }]);
		expect(sandbox.webhooks.list()[0]).not.toHaveProperty('timestampHeader');
	});

	it('are refused with a reason, and the form keeps what was entered', async () => {
		const { status, data } = await request('POST', '/webhooks', {
			fields: { url: 'ftp://example.com/', style: 'hmac', secret: 'keep me' },
		});
		expect(status).toBe(400);
		expect(data).toMatch(/role="alert"[^<]*is not a web address/);
		expect(data).toContain('value="keep me"');
		expect(data).toMatch(/id="style-hmac"[^>]* checked/);
		expect(sandbox.webhooks.list()).toEqual([]);
	});

	it('show the newest delivery first, with the reason of a failure', async () => {
		sandbox.webhooks.register({ url: 'http://127.0.0.1:9/', style: 'none' });
		sandbox.webhooks.saveSection(1, { title: 'First' });
		await sandbox.webhooks.idle();
		sandbox.webhooks.saveSection(1, { title: 'Second' });
		await sandbox.webhooks.idle();
		const text = textOf(await open('/webhooks'));
		expect(text.indexOf('Second')).toBeGreaterThan(0);
		expect(text.indexOf('Second')).toBeLessThan(text.indexOf('First'));
		expect(text).toMatch(/failed .*8 attempts, .*could not be reached \(ECONNREFUSED\)/);
	});

	it('get the same body again on request', async () => {
		await using receiver = await receive();
		sandbox.webhooks.register({ url: receiver.url, style: 'none' });
		sandbox.webhooks.saveSection(1, {});
		await sandbox.webhooks.idle();
		const [{ id, eventId }] = sandbox.webhooks.deliveries() as [Delivery];
		sandbox.webhooks.saveSection(1, { title: 'Changed since' });
		await sandbox.webhooks.idle();

		expect(textOf(await submit(`/deliveries/${id}/redeliver`))).toContain('Queued.');
		await sandbox.webhooks.idle();
		expect(receiver.received).toHaveLength(3);
		expect(receiver.received[2]?.body).toEqual(receiver.received[0]?.body);
		expect(sandbox.webhooks.deliveries()).toMatchObject([
			{ eventId, status: 'delivered', attempts: 1 },
			{ status: 'delivered' },
			{ id, eventId, status: 'delivered', attempts: 1 },
		]);
	});

	it('get a pending delivery at once on request, and only once', async () => {
		await sandbox.close();
		sandbox = await startSandbox({ port: 0, deliveryBackoffMs: 60_000 });
		let isReady = false;
		const receiver = await startReceiver((response) => {
			response.writeHead(isReady ? 200 : 500).end();
		});
		sandbox.webhooks.register({ url: receiver.url, style: 'none' });
		sandbox.webhooks.saveSection(1, {});
		while (sandbox.webhooks.deliveries()[0]?.attempts === 0) {
			await new Promise((resolve) => setTimeout(resolve, 5));
		}
		isReady = true;
		await submit(`/deliveries/${sandbox.webhooks.deliveries()[0]?.id}/redeliver`);
		await sandbox.webhooks.idle();
		await receiver.close();
		expect(sandbox.webhooks.deliveries()).toMatchObject([{ status: 'delivered', attempts: 2 }]);
	});
});

describe('another web site', () => {
	const fields = { title: 'Taken over', content: '' };

	it.each<Record<string, string>>([
		{ 'sec-fetch-site': 'cross-site' },
		{ 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:3000' },
		{ origin: 'https://example.com' },
		{ origin: 'http://127.0.0.1:3000' },
		{ origin: 'null' },
	])('cannot send a form (%j)', async (headers) => {
		const { status, data } = await request('POST', SECTION, { fields, headers });
		expect(status).toBe(403);
		expect(data).toContain('nothing was changed');
		const { sections } = await read<{ sections: object[] }>('/resume/resume-001');
		expect(sections[0]).toMatchObject({ title: 'Summary' });
	});

	it('is told from the console itself', async () => {
		const own: Array<Record<string, string>> = [
			{ 'sec-fetch-site': 'same-origin' },
			{ origin: sandbox.url },
		];
		for (const headers of own) {
			expect((await request('POST', SECTION, { fields, headers })).status).toBe(303);
		}
	});

	it.each(['evil.example', 'evil.example:8787', '127.0.0.1.evil.example', '10.0.0.1'])(
		'cannot read a page under a name of its own (%j)',
		async (host) => {
			const { status, data } = await request('GET', '/users', { headers: { host } });
			expect(status).toBe(403);
			expect(data).not.toContain('emma.larsen');
		},
	);

	it.each(['localhost:9000', '127.0.0.1', 'resumes.localhost:8787'])(
		'is told from a name of this machine (%s)',
		async (host) => {
			expect((await request('GET', '/users', { headers: { host } })).status).toBe(200);
		},
	);

	it('cannot frame a page or bring a script in', async () => {
		const { headers } = await request('GET', '/users');
		expect(headers['content-security-policy']).toMatch(
			/default-src 'none'.*frame-ancestors 'none'/,
		);
		expect(headers['x-content-type-options']).toBe('nosniff');
	});
});
