import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import axios from 'axios';
import { PDFDocument } from 'pdf-lib';

import { SANDBOX_AI_TOKENS, SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startSandbox, type Fault, type Sandbox } from '../../sandbox/server.mts';
import {
	call,
	requiredHeaders,
	type CallOptions,
	type CallResult,
} from '../support/sandboxClient.mts';

const EMAIL = 'emma.larsen@example.com';
const DAY_IN_SECONDS = 24 * 60 * 60;

let sandbox: Sandbox;
beforeEach(async () => {
	sandbox = await startSandbox({ port: 0, record: true });
});
afterEach(() => sandbox.close());

/** A call whose request and answer are both as the OpenAPI document has them. */
async function callAsDocumented(
	method: 'GET' | 'POST',
	path: string,
	options?: CallOptions,
): Promise<CallResult> {
	const result = await call(sandbox, method, path, options);
	expect(result.requestProblems).toEqual([]);
	expect(result.answerProblems).toEqual([]);
	return result;
}

/** The `data` of a successful answer. */
async function read<Data>(path: string): Promise<Data> {
	const result = await callAsDocumented('GET', path);
	expect(result.json()).toMatchObject({ status: 'success' });
	return result.json().data as Data;
}

function upgrade(body: object, options: CallOptions = {}): Promise<CallResult> {
	return callAsDocumented('POST', '/plan/upgrade', { body, ...options });
}

function countUpgrades(): number {
	return Number(sandbox.database.prepare('SELECT count(*) AS count FROM upgrades').get()?.count);
}

async function userToken(): Promise<string> {
	const { json } = await callAsDocumented('POST', '/user/token', { body: { email: EMAIL } });
	return String(json().token);
}

describe('reading', () => {
	it('lists 60 users, most of them with a subscription', async () => {
		const users = await read<Array<{ id: string; subscription: object | null }>>('/users');
		expect(users).toHaveLength(60);
		expect(users.filter(({ subscription }) => subscription !== null)).toHaveLength(45);
		expect(new Set(users.map(({ id }) => id)).size).toBe(60);
	});

	it('lists a part of the users on request', async () => {
		const users = await read<Array<{ id: string }>>('/users?limit=2&offset=3');
		expect(users.map(({ id }) => id)).toEqual(['user-004', 'user-005']);
		expect(await read('/users?search=ZOE.')).toMatchObject([{ firstName: 'Zoë' }]);
		expect(await read('/users?offset=60')).toEqual([]);
	});

	it('refuses a limit that is no number', async () => {
		const { status, json } = await callAsDocumented('GET', '/users?limit=many');
		expect(status).toBe(200);
		expect(json()).toMatchObject({ status: 'error', errorCode: 'sandbox-query' });
	});

	it('reads a user', async () => {
		expect(await read('/user/user-001')).toMatchObject({
			id: 'user-001',
			email: EMAIL,
			subscription: { status: 'active', plan_id: SANDBOX_PLANS.pro },
		});
	});

	it('lists about 150 resumes, none to five a user', async () => {
		const users = await read<Array<{ id: string }>>('/users');
		const counts: number[] = [];
		for (const { id } of users) {
			const resumes = await read<Array<{ userId: string }>>(`/user/${id}/resumes`);
			expect(resumes.every(({ userId }) => userId === id)).toBe(true);
			counts.push(resumes.length);
		}
		expect(counts.reduce((sum, count) => sum + count)).toBe(150);
		expect([Math.min(...counts), Math.max(...counts)]).toEqual([0, 5]);
	});

	it('has the same first users and resumes, however many follow', async () => {
		const many = await startSandbox({ port: 0, users: 10_000 });
		try {
			const rows = (from: Sandbox, sql: string) => from.database.prepare(sql).all();
			const counts = `SELECT (SELECT count(*) FROM users) AS users, count(*) AS resumes,
				count(DISTINCT id) AS ids FROM resumes`;
			expect(rows(many, counts)).toEqual([{ users: 10_000, resumes: 25_000, ids: 25_000 }]);
			for (const [table, count] of [
				['users', 60],
				['resumes', 150],
				['sections', 600],
				['subscriptions', 45],
			]) {
				const first = `SELECT * FROM ${table} ORDER BY rowid LIMIT ${count}`;
				expect([table, rows(many, first)]).toEqual([table, rows(sandbox, first)]);
			}
		} finally {
			await many.close();
		}
	});

	it('reads a resume with its sections in order', async () => {
		const resume = await read<{ sections: Array<{ type: string; content: string }> }>(
			'/resume/resume-001',
		);
		expect(resume).toMatchObject({ id: 'resume-001', userId: 'user-001' });
		expect(resume.sections.map(({ type }) => type)).toEqual([
			'summary',
			'experience',
			'education',
			'skills',
			'languages',
		]);
		expect(resume.sections.every(({ content }) => content.length > 0)).toBe(true);
	});

	it.each([
		['/user/nobody', 'sandbox-unknown-user'],
		['/user/nobody/resumes', 'sandbox-unknown-user'],
		['/resume/nothing', 'sandbox-unknown-resume'],
		['/resume/nothing/score', 'sandbox-unknown-resume'],
		['/resume/nothing/download', 'sandbox-unknown-resume'],
	])('answers %s with HTTP 200 and an error', async (path, errorCode) => {
		const { status, json } = await callAsDocumented('GET', path);
		expect(status).toBe(200);
		expect(json()).toMatchObject({ status: 'error', errorCode });
	});

	it('decodes an id and knows a bad encoding', async () => {
		expect(await read('/user/user%2D001')).toMatchObject({ id: 'user-001' });
		const { json } = await call(sandbox, 'GET', '/user/a%2Fb');
		expect(json()).toMatchObject({ errorMessage: 'There is no user a/b.' });
		const answer = await axios.get(`${sandbox.baseUrl}/user/%E0%A4%A`);
		expect(answer.data).toMatchObject({ status: 'error', errorCode: 'sandbox-bad-request' });
	});

	it('has no other address', async () => {
		for (const url of [`${sandbox.baseUrl}/nothing`, `${sandbox.url}/users`]) {
			const answer = await axios.get(url, { validateStatus: () => true });
			expect(answer.status).toBe(404);
			expect(answer.data).toMatchObject({ status: 'error' });
		}
		expect(sandbox.requests.map(({ url }) => url)).toEqual(['/v1/nothing', '/users']);
	});
});

describe('a resume score', () => {
	it('follows the sections', async () => {
		const before = await read<{ score: number; parts: Array<{ points: number }> }>(
			'/resume/resume-001/score',
		);
		expect(before.score).toBe(before.parts.reduce((sum, { points }) => sum + points, 0));
		sandbox.database.exec(
			"UPDATE sections SET content = 'none' WHERE resume_id = 'resume-001' AND type = 'skills'",
		);
		const after = await read<{ score: number }>('/resume/resume-001/score');
		expect(after.score).toBeLessThan(before.score);
		expect(await read('/resume/resume-001/score')).toEqual(after);
	});

	it('is between 0 and 100 and differs between resumes', async () => {
		const scores: number[] = [];
		for (let number = 1; number <= 20; number++) {
			const id = `resume-${String(number).padStart(3, '0')}`;
			scores.push((await read<{ score: number }>(`/resume/${id}/score`)).score);
		}
		expect(scores.every((score) => score > 0 && score <= 100)).toBe(true);
		expect(new Set(scores).size).toBeGreaterThan(4);
	});
});

describe('a download', () => {
	it('is a PDF of the resume', async () => {
		const { headers, body } = await callAsDocumented('GET', '/resume/resume-001/download');
		expect(headers).toMatchObject({
			'content-type': 'application/pdf',
			'content-length': String(body.length),
			'content-disposition': expect.stringContaining(
				'filename="Emma Larsen, Software Engineer.pdf"',
			),
		});
		const pdf = await PDFDocument.load(body);
		expect(pdf.getTitle()).toBe('Emma Larsen, Software Engineer');
		expect(pdf.getPageCount()).toBe(1);
		const again = await callAsDocumented('GET', '/resume/resume-001/download');
		expect(again.body.equals(body)).toBe(true);
	});

	it('copes with any letters, long words and many pages', async () => {
		const created = await callAsDocumented('POST', '/user/user-001/resume', {
			body: {
				title: 'Łukasz "Ł" 履歴書/2026\n',
				sections: [
					{ type: 'experience', content: 'long '.repeat(5_000) },
					{ type: 'skills', content: `tab\tnul\0 emoji 🎉 ${'x'.repeat(100_000)}` },
				],
			},
		});
		const { id } = created.json().data as { id: string };
		const { headers, body } = await callAsDocumented('GET', `/resume/${id}/download`);
		expect((await PDFDocument.load(body)).getPageCount()).toBeGreaterThan(20);
		expect(headers['content-disposition']).toBe(
			'attachment; filename="_ukasz ___ ____2026_.pdf"; ' +
				"filename*=UTF-8''%C5%81ukasz%20_%C5%81_%20%E5%B1%A5%E6%AD%B4%E6%9B%B8_2026_.pdf",
		);
	});
});

describe('creating a resume', () => {
	it('keeps what it is given, known and unknown', async () => {
		const created = await callAsDocumented('POST', '/user/user-006/resume', {
			body: {
				id: 'mine',
				title: 'New',
				language: 'en',
				sections: [{ type: 'skills', content: 'a, b', level: { senior: true } }],
			},
		});
		const resume = created.json().data as { id: string };
		expect(resume).toMatchObject({
			id: 'resume-151',
			userId: 'user-006',
			title: 'New',
			language: 'en',
			sections: [{ type: 'skills', title: 'skills', content: 'a, b', level: { senior: true } }],
		});
		expect(await read(`/resume/${resume.id}`)).toEqual(resume);
		expect(await read('/user/user-006/resumes')).toMatchObject([{ id: resume.id, title: 'New' }]);
	});

	it('needs nothing', async () => {
		const { json } = await callAsDocumented('POST', '/user/user-001/resume', { body: {} });
		expect(json().data).toMatchObject({ title: 'Untitled resume', sections: [] });
	});

	it.each([
		[{ title: 1 }, 'title must be a text.'],
		[{ sections: {} }, 'sections must be a list.'],
		[{ sections: ['x'] }, 'sections[0] must be an object.'],
		[{ sections: [{}, { content: {} }] }, 'sections[1].content must be a text.'],
	])('refuses %j', async (body, errorMessage) => {
		const { status, json } = await callAsDocumented('POST', '/user/user-001/resume', { body });
		expect(status).toBe(200);
		expect(json()).toEqual({ status: 'error', errorCode: 'sandbox-invalid-resume', errorMessage });
	});

	it.each(['', '{"title":', '[]', 'null', '"text"'])('refuses the body %j', async (body) => {
		const result = await call(sandbox, 'POST', '/user/user-001/resume', { body });
		const { status, json } = result;
		expect(result.requestProblems).not.toEqual([]);
		expect(result.answerProblems).toEqual([]);
		expect(status).toBe(200);
		expect(json()).toMatchObject({ status: 'error', errorCode: 'sandbox-malformed-body' });
	});

	it('refuses a body of more than a megabyte', async () => {
		const body = { title: 'x'.repeat(2 ** 20) };
		const { data } = await axios.post(`${sandbox.baseUrl}/user/user-001/resume`, body, {
			headers: requiredHeaders(SANDBOX_KEYS.live),
		});
		expect(data).toMatchObject({ status: 'error', errorCode: 'sandbox-bad-request' });
	});

	it('does not create one for an unknown user', async () => {
		const { json } = await callAsDocumented('POST', '/user/nobody/resume', { body: {} });
		expect(json()).toMatchObject({ status: 'error', errorCode: 'sandbox-unknown-user' });
	});
});

describe.each(['/user/token', '/connect'])('POST %s', (path) => {
	it('returns a token that names the user', async () => {
		const { json } = await callAsDocumented('POST', path, { body: { email: EMAIL.toUpperCase() } });
		const [header, claims] = String(json().token)
			.split('.')
			.map((part) => Buffer.from(part, 'base64url').toString());
		expect(JSON.parse(String(header))).toEqual({ alg: 'HS256', typ: 'JWT' });
		expect(JSON.parse(String(claims))).toMatchObject({ sub: 'user-001', email: EMAIL });
	});

	it.each([[{ email: 'nobody@example.com' }], [{}], [{ email: 5 }]])(
		'answers %j with the code in a sentence and nothing else',
		async (body) => {
			const { status, json } = await callAsDocumented('POST', path, { body });
			expect(status).toBe(200);
			expect(json()).toEqual({
				status: 'error',
				errorCode: 'error code: connect-01, please contact administrator',
			});
		},
	);

	it('answers a wrong key with a sentence as well', async () => {
		const { json } = await callAsDocumented('POST', path, { body: { email: EMAIL }, key: 'wrong' });
		expect(json()).toEqual({
			status: 'error',
			errorCode: 'error code: sandbox-unauthorized, please contact administrator',
		});
	});
});

describe('authentication', () => {
	it('lets both keys read', async () => {
		for (const key of Object.values(SANDBOX_KEYS)) {
			const { json } = await callAsDocumented('GET', '/user/user-001', { key });
			expect(json()).toMatchObject({ status: 'success' });
		}
	});

	it('wants both headers on GET, and Authentication by this name', async () => {
		const { Authentication, 'Content-Type': type } = requiredHeaders(SANDBOX_KEYS.live) as {
			Authentication: string;
			'Content-Type': string;
		};
		for (const [headers, errorCode, problem] of [
			[{ Authentication }, 'sandbox-content-type', 'the header Content-type is missing'],
			[{ 'Content-Type': type }, 'sandbox-unauthorized', 'the header Authentication is missing'],
			[
				{ 'Content-Type': type, Authorization: Authentication },
				'sandbox-unauthorized',
				'the header Authentication is missing',
			],
		] as const) {
			const result = await call(sandbox, 'GET', '/users', { headers: { ...headers } });
			expect(result.requestProblems).toEqual([problem]);
			expect(result.answerProblems).toEqual([]);
			expect(result.status).toBe(200);
			expect(result.json()).toMatchObject({ status: 'error', errorCode });
		}
	});

	it('refuses a wrong key, and a user token in place of the key', async () => {
		const wrong = await callAsDocumented('GET', '/users', { key: 'wrong' });
		expect(wrong.json()).toMatchObject({ errorCode: 'sandbox-unauthorized' });
		const token = await callAsDocumented('GET', '/users', { key: await userToken() });
		expect(token.json()).toMatchObject({ errorCode: 'sandbox-token-type' });
	});
});

describe('plan upgrade', () => {
	it('puts the user on the plan and counts what was billed', async () => {
		const { subscription: seeded } = await read<{ subscription: { created: number } }>(
			'/user/user-001',
		);
		const before = Math.floor(Date.now() / 1000);
		const { status, json } = await upgrade({
			planId: SANDBOX_PLANS.premium,
			email: EMAIL,
			aiTokenId: SANDBOX_AI_TOKENS.small,
		});
		expect(status).toBe(200);
		const subscription = json().data as Record<string, number>;
		expect(json()).toEqual({
			status: 'success',
			data: {
				created: seeded.created,
				current_period_start: expect.any(Number),
				current_period_end: Number(subscription.current_period_start) + 365 * DAY_IN_SECONDS,
				status: 'active',
				plan_id: SANDBOX_PLANS.premium,
			},
		});
		expect(subscription.current_period_start).toBeGreaterThanOrEqual(before);
		expect(subscription.current_period_start).toBeLessThanOrEqual(Date.now() / 1000);
		expect(await read('/user/user-001')).toMatchObject({ aiCredits: 100, subscription });
		expect(sandbox.database.prepare('SELECT * FROM upgrades').all()).toEqual([
			expect.objectContaining({
				id: 1,
				email: EMAIL,
				plan_id: SANDBOX_PLANS.premium,
				ai_token_id: SANDBOX_AI_TOKENS.small,
			}),
		]);
	});

	it('gives a user without a subscription one, and bills again when sent again', async () => {
		const { email, subscription } = await read<{ email: string; subscription: null }>(
			'/user/user-004',
		);
		expect(subscription).toBeNull();
		expect((await upgrade({ planId: SANDBOX_PLANS.basic, email })).status).toBe(200);
		expect((await upgrade({ planId: SANDBOX_PLANS.basic, email })).status).toBe(200);
		expect(await read('/user/user-004')).toMatchObject({
			subscription: { plan_id: SANDBOX_PLANS.basic },
		});
		expect(countUpgrades()).toBe(2);
	});

	it.each([
		[
			'a plan whose payment fails',
			{ body: { planId: SANDBOX_PLANS.failingPayment, email: EMAIL } },
			{ errorCode: 'plan-upgrade-1', errorMessage: 'stripe error' },
		],
		[
			'an unknown plan',
			{ body: { planId: 'plan_unknown', email: EMAIL } },
			{ errorCode: 'plan-upgrade-2', errorMessage: 'wrong plan ID' },
		],
		[
			'a key without the arrangement',
			{ key: SANDBOX_KEYS.unarranged },
			{ errorCode: 'plan-upgrade-3', errorMessage: 'unauthorized token' },
		],
		[
			'an unknown key',
			{ key: 'unknown' },
			{ errorCode: 'plan-upgrade-3', errorMessage: 'unauthorized token' },
		],
		[
			'a forged user token',
			{ key: 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl' },
			{ errorCode: 'plan-upgrade-3', errorMessage: 'unauthorized token' },
		],
		[
			'an unknown e-mail address',
			{ body: { planId: SANDBOX_PLANS.pro, email: 'nobody@example.com' } },
			{
				errorCode: 'sandbox-unknown-email',
				errorMessage: 'There is no user with this e-mail address.',
			},
		],
		[
			'an unknown AI token',
			{ body: { planId: SANDBOX_PLANS.pro, email: EMAIL, aiTokenId: 'unknown' } },
			{ errorCode: 'sandbox-unknown-ai-token', errorMessage: 'There is no such aiTokenId.' },
		],
	])('answers %s with HTTP 401 and bills nothing', async (_condition, options, error) => {
		const body = { planId: SANDBOX_PLANS.pro, email: EMAIL };
		const { status, json } = await upgrade(body, options);
		expect(status).toBe(401);
		expect(json()).toEqual({ status: 'error', ...error });
		expect(countUpgrades()).toBe(0);
	});

	it('answers a user token in place of the key with plan-upgrade-4', async () => {
		const body = { planId: SANDBOX_PLANS.pro, email: EMAIL };
		const { status, json } = await upgrade(body, { key: await userToken() });
		expect(status).toBe(401);
		expect(json()).toEqual({
			status: 'error',
			errorCode: 'plan-upgrade-4',
			errorMessage: 'token type error',
		});
		expect(countUpgrades()).toBe(0);
	});

	it.each<[CallOptions, string]>([
		[{ headers: { 'Content-Type': 'application/json' } }, 'plan-upgrade-3'],
		[{ headers: { Authentication: `Bearer ${SANDBOX_KEYS.live}` } }, 'sandbox-content-type'],
		[{ body: '' }, 'sandbox-malformed-body'],
		[{ body: '{"planId":' }, 'sandbox-malformed-body'],
		[{ body: { email: EMAIL } }, 'plan-upgrade-2'],
		[{ body: { planId: 5, email: EMAIL } }, 'plan-upgrade-2'],
		[{ body: { planId: SANDBOX_PLANS.pro } }, 'sandbox-unknown-email'],
	])(
		'answers a request that the OpenAPI document does not allow (%j) with HTTP 401',
		async (options, errorCode) => {
			const body = { planId: SANDBOX_PLANS.pro, email: EMAIL };
			const result = await call(sandbox, 'POST', '/plan/upgrade', { body, ...options });
			expect(result.requestProblems).not.toEqual([]);
			expect(result.answerProblems).toEqual([]);
			expect(result.status).toBe(401);
			expect(result.json()).toMatchObject({ status: 'error', errorCode });
			expect(countUpgrades()).toBe(0);
		},
	);
});

describe('a failure of the service', () => {
	it('is HTTP 500', async () => {
		const log = jest.spyOn(console, 'error').mockImplementation(() => {});
		sandbox.database.exec('DROP TABLE sections');
		const { status } = await callAsDocumented('GET', '/resume/resume-001');
		expect(status).toBe(500);
		expect(log).toHaveBeenCalledTimes(1);
		log.mockRestore();
	});
});

describe('faults', () => {
	const body = { planId: SANDBOX_PLANS.pro, email: EMAIL };

	it('answer in place of the service, so often as asked', async () => {
		sandbox.faults.add({ path: '/plan/upgrade', times: 2, answer: { status: 500 } });
		expect((await upgrade(body)).status).toBe(500);
		expect((await upgrade(body)).body).toHaveLength(0);
		expect(countUpgrades()).toBe(0);
		expect((await upgrade(body)).status).toBe(200);
	});

	it('answer with any headers and body', async () => {
		const answer = {
			status: 502,
			headers: { 'Content-Type': 'text/html', 'Retry-After': '1' },
			body: '<h1>Bad gateway',
		};
		sandbox.faults.add({ answer });
		const result = await axios.get(`${sandbox.baseUrl}/users`, { validateStatus: () => true });
		expect(result.status).toBe(502);
		expect(result.headers).toMatchObject({ 'content-type': 'text/html', 'retry-after': '1' });
		expect(result.data).toBe(answer.body);
	});

	it.each<[string, Fault, number]>([
		['before the request is handled', { drop: 'before' }, 0],
		['after it', { drop: 'after' }, 1],
		['in the middle of the answer', { drop: 'midBody' }, 1],
		['late', { drop: 'after', delayMs: 50 }, 1],
	])('drop the connection %s', async (_when, fault, billed) => {
		sandbox.faults.add(fault);
		await expect(upgrade(body)).rejects.toMatchObject({ isAxiosError: true });
		expect(sandbox.requests).toHaveLength(1);
		expect(countUpgrades()).toBe(billed);
	});

	it('send the head and a part of the body before a drop in its middle', async () => {
		sandbox.faults.add({ drop: 'midBody' });
		const answer = await fetch(`${sandbox.baseUrl}/users`, {
			headers: requiredHeaders(SANDBOX_KEYS.live),
		});
		expect(answer.status).toBe(200);
		const chunks: Uint8Array[] = [];
		await expect(async () => {
			for await (const chunk of answer.body ?? []) chunks.push(chunk);
		}).rejects.toThrow();
		const length = Number(answer.headers.get('content-length'));
		expect(Buffer.concat(chunks)).toHaveLength(Math.floor(length / 2));
	});

	it('delay the answer of a request that is handled at once', async () => {
		sandbox.faults.add({ delayMs: 300 });
		const start = performance.now();
		let answered = false;
		const answer = upgrade(body).finally(() => (answered = true));
		while (countUpgrades() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
		expect(answered).toBe(false);
		expect((await answer).status).toBe(200);
		expect(performance.now() - start).toBeGreaterThanOrEqual(295);
	});

	it('do not hold up a close', async () => {
		// Longer than the test may take.
		sandbox.faults.add({ delayMs: 60_000 });
		const answer = upgrade(body).catch(() => undefined);
		while (countUpgrades() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
		await sandbox.close();
		await answer;
		sandbox = await startSandbox({ port: 0 });
	});

	it('meet only the requests that they name', async () => {
		const status = 503;
		const statusOf = async (path: string) => (await call(sandbox, 'GET', path)).status;
		sandbox.faults.add({ path: '/user/*', answer: { status, body: '{}' } });
		expect(await statusOf('/users')).toBe(200);
		expect(await statusOf('/user/user-001')).toBe(status);
		expect(await statusOf('/user/user-001/resumes')).toBe(status);
		sandbox.faults.clear();
		expect(await statusOf('/user/user-001')).toBe(200);

		sandbox.faults.add({ method: 'post', answer: { status, body: '{}' } });
		expect(await statusOf('/users')).toBe(200);
		sandbox.faults.clear();

		sandbox.faults.add({ email: EMAIL.toUpperCase(), answer: { status: 500 } });
		expect(await statusOf('/users?search=' + EMAIL)).toBe(200);
		const { email } = await read<{ email: string }>('/user/user-002');
		expect((await upgrade({ ...body, email })).status).toBe(200);
		expect((await upgrade(body)).status).toBe(500);
	});

	it('are set and cleared over HTTP', async () => {
		const address = `${sandbox.url}/_sandbox/faults`;
		const fault: Fault = { path: '/plan/upgrade', answer: { status: 500 } };
		expect((await axios.post(address, fault)).data).toEqual({ status: 'success' });
		expect((await upgrade(body)).status).toBe(500);
		expect((await axios.delete(address)).data).toEqual({ status: 'success' });
		expect((await upgrade(body)).status).toBe(200);
		expect(sandbox.requests.every(({ url }) => url === '/v1/plan/upgrade')).toBe(true);
	});

	it.each<[unknown, string]>([
		[{}, 'must have required property'],
		[{ times: 1 }, 'must have required property'],
		[{ drop: 'sometimes' }, 'body/drop must be equal to one of the allowed values'],
		[{ delayMs: '5' }, 'body/delayMs must be integer'],
		[{ answer: { status: 99 } }, 'body/answer/status must be >= 200'],
		[{ drop: 'after', path: 'users' }, 'body/path must match pattern'],
		[{ drop: 'after', patj: '/users' }, 'must NOT have additional properties'],
		['{"drop":', 'JSON'],
	])('are refused over HTTP as %j', async (fault, problem) => {
		const answer = await axios.post(`${sandbox.url}/_sandbox/faults`, fault, {
			headers: { 'Content-Type': 'application/json' },
			transformRequest: (data) => (typeof data === 'string' ? data : JSON.stringify(data)),
			validateStatus: () => true,
		});
		expect(answer.status).toBe(400);
		expect(answer.data).toMatchObject({ status: 'error', errorCode: 'sandbox-invalid-fault' });
		expect(answer.data.errorMessage).toContain(problem);
	});
});

describe('recorded requests', () => {
	it('are kept as they came', async () => {
		await upgrade({ planId: SANDBOX_PLANS.pro, email: EMAIL });
		expect(sandbox.requests).toHaveLength(1);
		expect(sandbox.requests[0]).toMatchObject({
			method: 'POST',
			url: '/v1/plan/upgrade',
			headers: { authentication: `Bearer ${SANDBOX_KEYS.live}` },
			rawHeaders: expect.arrayContaining(['Authentication', 'Content-Type']),
			body: JSON.stringify({ planId: SANDBOX_PLANS.pro, email: EMAIL }),
		});
	});

	it('are not kept unless asked for', async () => {
		const other = await startSandbox({ port: 0 });
		await axios.get(`${other.baseUrl}/users`);
		expect(other.requests).toEqual([]);
		await other.close();
	});
});

describe('a data file', () => {
	let folder: string;
	let file: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
		file = join(folder, 'data', 'sandbox.sqlite');
	});
	afterEach(() => rmSync(folder, { recursive: true }));

	/** Replaces the sandbox in memory by one with the file. */
	async function restart(reset = false): Promise<void> {
		await sandbox.close();
		sandbox = await startSandbox({ port: 0, record: true, file, reset });
	}

	it('outlives the sandbox, and starts over with reset', async () => {
		await restart();
		const seeded = await read('/users');
		await upgrade({ planId: SANDBOX_PLANS.premium, email: EMAIL });
		await callAsDocumented('POST', '/user/user-006/resume', { body: { title: 'Kept' } });
		const user = await read('/user/user-001');

		await restart();
		expect(await read('/user/user-001')).toEqual(user);
		expect(await read('/user/user-006/resumes')).toMatchObject([{ title: 'Kept' }]);
		expect(countUpgrades()).toBe(1);

		await restart(true);
		expect(await read('/users')).toEqual(seeded);
		expect(await read('/user/user-006/resumes')).toEqual([]);
		expect(countUpgrades()).toBe(0);
	});

	it('is refused when it belongs to another program, even with reset', async () => {
		const foreign = join(folder, 'foreign.sqlite');
		const database = new DatabaseSync(foreign);
		database.exec('CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES (1)');
		for (const reset of [false, true]) {
			await expect(startSandbox({ port: 0, file: foreign, reset })).rejects.toThrow(
				'belongs to another program. Choose another file',
			);
		}
		expect(database.prepare('SELECT count(*) AS count FROM notes').get()).toEqual({ count: 1 });
		database.close();
	});

	it('is refused when it is from another version, until reset', async () => {
		await restart();
		sandbox.database.exec('PRAGMA user_version = 99');
		await expect(startSandbox({ port: 0, file })).rejects.toThrow('Start once with --reset');
		await restart(true);
		expect(await read('/users')).toHaveLength(60);
	});

	it('is refused when it is no database or cannot be written', async () => {
		const text = join(folder, 'text');
		writeFileSync(text, 'This is not a database.'.repeat(50));
		for (const unusable of [text, folder, join(text, 'below')]) {
			await expect(startSandbox({ port: 0, file: unusable })).rejects.toThrow(
				/cannot be opened for writing .*choose another file/,
			);
		}
	});
});

it('refuses a port that is in use', async () => {
	const port = Number(new URL(sandbox.url).port);
	await expect(startSandbox({ port })).rejects.toThrow(`Port ${port} is in use by another program`);
});
