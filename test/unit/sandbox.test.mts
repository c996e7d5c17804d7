import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

import axios from 'axios';
import { PDFDocument } from 'pdf-lib';

import { SANDBOX_AI_TOKENS, SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startSandbox, type Fault, type Sandbox } from '../../sandbox/server.mts';
import { operationsOf, readOpenApi } from '../support/openapi.mts';
import { call, requiredHeaders, type CallOptions } from '../support/sandboxClient.mts';

/** The partner API of the sandbox, over real HTTP: each answer is also judged by the OpenAPI document. */

const EMAIL = 'emma.larsen@example.com';
const UPGRADE = { planId: SANDBOX_PLANS.pro, email: EMAIL };

let sandbox: Sandbox;
beforeEach(async () => {
	sandbox = await startSandbox({ port: 0, record: true });
});
afterEach(async () => await sandbox.close());

/** Every operation of the document, with a request that succeeds. */
const operations = operationsOf(readOpenApi()).map(
	({ operationId, method, path, requestBody }) => ({
		operationId,
		method: method.toUpperCase() as 'GET' | 'POST',
		path: path.replace('{userID}', 'user-001').replace('{resumeID}', 'resume-001'),
		unknown: path.includes('{') ? path.replace(/\{\w+\}/, 'nobody') : undefined,
		body: requestBody && UPGRADE,
		failure: operationId === 'plan.upgrade' ? 401 : 200,
	}),
);
type Operation = (typeof operations)[number];

async function send({ method, path, body }: Operation, options: CallOptions = {}) {
	const result = await call(sandbox, method, path, { body, ...options });
	expect(result.answerProblems).toEqual([]);
	return result;
}

/** What an error is called, behind the sentence of the connect operation too (specification §2 rule 5). */
function codeOf(answer: Record<string, unknown>): string {
	expect(answer.status).toBe('error');
	return String(answer.errorCode).replace(/^error code: (.*), please contact administrator$/, '$1');
}

async function read<Data>(path: string): Promise<Data> {
	const { json } = await call(sandbox, 'GET', path);
	expect(json().status).toBe('success');
	return json().data as Data;
}

const upgrade = async (body: object = UPGRADE) =>
	await call(sandbox, 'POST', '/plan/upgrade', { body });

const bills = () => sandbox.database.prepare('SELECT * FROM upgrades').all();

describe.each(operations)('$operationId', (operation) => {
	const isUpgrade = operation.operationId === 'plan.upgrade';

	it('succeeds', async () => {
		const { status, requestProblems, body } = await send(operation);
		expect([status, requestProblems]).toEqual([200, []]);
		const start = operation.operationId === 'resume.download' ? '%PDF-' : '{"status":"success",';
		expect(body.toString('latin1').startsWith(start)).toBe(true);
	});

	it('refuses what lacks a content type, a key, a body or what it names', async () => {
		const { Authentication, ...type } = requiredHeaders(SANDBOX_KEYS.live);
		const unauthorized = isUpgrade ? 'plan-upgrade-3' : 'sandbox-unauthorized';
		const wrongType = isUpgrade ? 'plan-upgrade-4' : 'sandbox-token-type';
		const { json } = await call(sandbox, 'POST', '/user/token', { body: { email: EMAIL } });
		const refused: Array<[CallOptions & { path?: string }, string | RegExp]> = [
			[{ headers: { Authentication: Authentication! } }, 'sandbox-content-type'],
			[{ headers: type }, unauthorized],
			[{ headers: { ...type, Authorization: Authentication! } }, unauthorized],
			[{ key: 'unknown' }, unauthorized],
			[{ key: String(json().token) }, wrongType],
		];
		if (isUpgrade) refused.push([{ key: SANDBOX_KEYS.unarranged }, unauthorized]);
		else expect((await send(operation, { key: SANDBOX_KEYS.unarranged })).status).toBe(200);
		if (operation.unknown) {
			refused.push([{ path: operation.unknown }, /^sandbox-unknown-(user|resume)$/]);
		}
		for (const body of operation.body ? ['', '{"title":', '[]', 'null'] : []) {
			refused.push([{ body }, 'sandbox-malformed-body']);
		}
		for (const [{ path = operation.path, ...options }, code] of refused) {
			const { status, json } = await send({ ...operation, path }, options);
			expect([options, status]).toEqual([options, operation.failure]);
			expect(codeOf(json())).toMatch(code);
		}
		expect(bills()).toEqual([]);
	});

	it('answers HTTP 500 where the service fails', async () => {
		const log = jest.spyOn(console, 'error').mockImplementation(() => {});
		sandbox.database.exec('PRAGMA foreign_keys = OFF; DROP TABLE users; DROP TABLE sections');
		expect((await send(operation)).status).toBe(500);
		log.mockRestore();
	});
});

it('has the same first users and resumes, however many follow', async () => {
	const many = await startSandbox({ port: 0, users: 10_000 });
	const count = 'SELECT count(*) AS users, (SELECT count(*) FROM resumes) AS resumes FROM users';
	expect(sandbox.database.prepare(count).get()).toEqual({ users: 60, resumes: 150 });
	expect(many.database.prepare(count).get()).toEqual({ users: 10_000, resumes: 25_000 });
	for (const [table, rows] of Object.entries({ users: 60, resumes: 150, sections: 600 })) {
		const sql = `SELECT * FROM ${table} ORDER BY rowid LIMIT ${rows}`;
		const first = many.database.prepare(sql).all();
		expect([table, first]).toEqual([table, sandbox.database.prepare(sql).all()]);
	}
	await many.close();
});

it('scores a resume by its sections', async () => {
	const score = async () => (await read<{ score: number }>('/resume/resume-001/score')).score;
	const before = await score();
	sandbox.database.exec("UPDATE sections SET content = 'none' WHERE type = 'skills'");
	expect(await score()).toBeLessThan(before);
});

it('refuses a bad encoding, and has no other address', async () => {
	for (const [url, status, errorCode] of [
		[`${sandbox.baseUrl}/user/%E0%A4%A`, 200, 'sandbox-bad-request'],
		[`${sandbox.baseUrl}/nothing`, 404, 'sandbox-unknown-address'],
		[`${sandbox.url}/users`, 404, 'sandbox-unknown-address'],
	] as const) {
		const answer = await axios.get(url, { validateStatus: () => true });
		expect([url, answer.status, answer.data.errorCode]).toEqual([url, status, errorCode]);
	}
});

it('keeps what a new resume is given, and makes a PDF of it, whatever its letters and length', async () => {
	const sections = [
		{ type: 'experience', content: 'long '.repeat(20_000) },
		{ type: 'skills', content: `tab\tnul\0 emoji 🎉\n\n ${'x'.repeat(1_000)}`, level: [1] },
		{ title: '' },
	];
	const body = { id: 'mine', title: 'Łukasz "Ł" 履歴書/2026\n', language: 'en', sections };
	const created = await call(sandbox, 'POST', '/user/user-006/resume', { body });
	const resume = created.json().data as { id: string };
	expect(resume).toMatchObject({ ...body, id: 'resume-151', userId: 'user-006' });
	expect(await read(`/resume/${resume.id}`)).toEqual(resume);
	expect(await read('/user/user-006/resumes')).toMatchObject([{ id: resume.id }]);
	const file = await call(sandbox, 'GET', `/resume/${resume.id}/download`);
	expect((await PDFDocument.load(file.body)).getPageCount()).toBeGreaterThan(20);
	expect(file.headers['content-disposition']).toContain(
		"filename*=UTF-8''%C5%81ukasz%20_%C5%81_%20%E5%B1%A5%E6%AD%B4%E6%9B%B8_2026_.pdf",
	);
});

it.each([
	[{ sections: [{}, { content: {} }] }, 'body/sections/1/content must be string'],
	[{ title: 'x'.repeat(2 ** 20) }, 'Request body is too large'],
])('refuses a new resume of another shape', async (body, errorMessage) => {
	const headers = requiredHeaders(SANDBOX_KEYS.live);
	const { data } = await axios.post(`${sandbox.baseUrl}/user/user-001/resume`, body, { headers });
	expect(data).toEqual({ status: 'error', errorCode: 'sandbox-bad-request', errorMessage });
});

it.each(['/user/token', '/connect'])('%s returns a token that names the user', async (path) => {
	const token = async (email: unknown) => await call(sandbox, 'POST', path, { body: { email } });
	const [, claims] = String((await token(EMAIL.toUpperCase())).json().token).split('.');
	const read = JSON.parse(Buffer.from(claims!, 'base64url').toString()) as object;
	expect(read).toMatchObject({ sub: 'user-001', email: EMAIL });
	const errorCode = 'error code: connect-01, please contact administrator';
	for (const email of ['nobody@example.com', undefined, 5]) {
		expect((await token(email)).json()).toEqual({ status: 'error', errorCode });
	}
});

describe('plan upgrade', () => {
	it('puts the user on the plan, counts what was billed, and answers the specified record', async () => {
		const before = await read<{ subscription: { created: number } }>('/user/user-001');
		const [planId, aiTokenId] = [SANDBOX_PLANS.premium, SANDBOX_AI_TOKENS.small];
		const { json } = await upgrade({ planId, email: EMAIL, aiTokenId });
		const data = json().data as { current_period_start: number };
		const start = data.current_period_start;
		expect(data).toEqual({
			created: before.subscription.created,
			current_period_start: start,
			current_period_end: start + 365 * 24 * 60 * 60,
			status: 'active',
			plan_id: planId,
		});
		expect(Math.abs(Date.now() / 1000 - start)).toBeLessThan(60);
		expect(await read('/user/user-001')).toMatchObject({ aiCredits: 100, subscription: data });
		expect(bills()).toEqual([
			{ id: 1, email: EMAIL, plan_id: planId, ai_token_id: aiTokenId, created: start },
		]);
	});

	it('gives a user without a subscription one, and bills again when sent again', async () => {
		const { email, subscription } = await read<Record<string, unknown>>('/user/user-004');
		expect(subscription).toBeNull();
		for (const _ of [1, 2]) expect((await upgrade({ ...UPGRADE, email })).status).toBe(200);
		expect(await read('/user/user-004')).toMatchObject({ subscription: { status: 'active' } });
		expect(bills()).toHaveLength(2);
	});

	it.each([
		[{ planId: SANDBOX_PLANS.failingPayment }, 'plan-upgrade-1'],
		[{ planId: 'unknown' }, 'plan-upgrade-2'],
		[{ planId: undefined }, 'plan-upgrade-2'],
		[{ email: 'nobody@example.com' }, 'sandbox-unknown-email'],
		[{ aiTokenId: 'unknown' }, 'sandbox-unknown-ai-token'],
	])('answers %j with HTTP 401 and bills nothing', async (fields, errorCode) => {
		const { status, answerProblems, json } = await upgrade({ ...UPGRADE, ...fields });
		expect([status, answerProblems, codeOf(json())]).toEqual([401, [], errorCode]);
		expect(bills()).toEqual([]);
	});
});

describe('faults', () => {
	it('answer in place of the service, so often as asked, with any headers and body', async () => {
		const headers = { 'Content-Type': 'text/html', 'Retry-After': '1' };
		const answer = { status: 502, headers, body: '<h1>Bad gateway' };
		sandbox.faults.add({ path: '/plan/upgrade', times: 2, answer });
		const url = `${sandbox.baseUrl}/plan/upgrade`;
		for (const _ of [1, 2]) {
			const answered = await axios.post(url, UPGRADE, { validateStatus: null });
			expect(answered).toMatchObject({ status: 502, data: answer.body });
			expect(answered.headers).toMatchObject({ 'content-type': 'text/html', 'retry-after': '1' });
		}
		expect(bills()).toEqual([]);
		expect((await upgrade()).status).toBe(200);
	});

	it.each<[string, Fault, number]>([
		['before the request is handled', { drop: 'before' }, 0],
		['after it, and late', { drop: 'after', delayMs: 50 }, 1],
		['in the middle of the answer', { drop: 'midBody' }, 1],
	])('drop the connection %s', async (_when, fault, billed) => {
		sandbox.faults.add(fault);
		await expect(upgrade()).rejects.toMatchObject({ isAxiosError: true });
		expect(sandbox.requests).toHaveLength(1);
		expect(bills()).toHaveLength(billed);
	});

	it('delay the answer of a request that is handled at once, but not a close', async () => {
		// Longer than the test may take.
		sandbox.faults.add({ delayMs: 60_000 });
		let answered = false;
		const done = () => (answered = true);
		const answer = upgrade().then(done, done);
		while (bills().length === 0) await wait(5);
		expect(answered).toBe(false);
		await sandbox.close();
		await answer;
		sandbox = await startSandbox({ port: 0 });
	});

	it('meet only the requests that they name', async () => {
		const answer = { status: 503, body: '{}' };
		sandbox.faults.add({ path: '/user/*', answer });
		sandbox.faults.add({ method: 'post', email: EMAIL.toUpperCase(), answer });
		for (const [asked, status] of [
			[call(sandbox, 'GET', '/users'), 200],
			[call(sandbox, 'GET', '/user/user-001'), 503],
			[upgrade({ ...UPGRADE, email: 'noah.fischer@example.com' }), 200],
			[upgrade(), 503],
		] as const) {
			expect((await asked).status).toBe(status);
		}
	});

	it('are set, refused and cleared over HTTP', async () => {
		const address = `${sandbox.url}/_sandbox/faults`;
		const set = async (fault: unknown) =>
			await axios.post(address, fault, { validateStatus: () => true });
		expect((await set({ path: '/plan/upgrade', answer: { status: 500 } })).status).toBe(200);
		expect((await upgrade()).status).toBe(500);
		await axios.delete(address);
		expect((await upgrade()).status).toBe(200);
		for (const fault of [{ times: 1 }, { drop: 'after', patj: '/users' }, '{"drop":']) {
			expect((await set(fault)).status).toBe(400);
		}
	});
});

describe('a data file', () => {
	const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
	const file = join(folder, 'data', 'sandbox.sqlite');
	afterAll(() => rmSync(folder, { recursive: true }));

	/** Replaces the sandbox in memory by one with the file. */
	async function restart(reset = false): Promise<void> {
		await sandbox.close();
		sandbox = await startSandbox({ port: 0, record: true, file, reset });
	}

	it('outlives the sandbox, and starts over with reset', async () => {
		await restart();
		const seeded = await read('/user/user-001');
		await upgrade({ planId: SANDBOX_PLANS.premium, email: EMAIL });
		const user = await read('/user/user-001');
		expect(user).not.toEqual(seeded);
		await restart();
		expect(await read('/user/user-001')).toEqual(user);
		await restart(true);
		expect(await read('/user/user-001')).toEqual(seeded);
		expect(bills()).toEqual([]);
	});

	it('is refused when it is of another program or version, or no database', async () => {
		await restart();
		sandbox.database.exec('PRAGMA user_version = 99');
		const foreign = join(folder, 'foreign.sqlite');
		const database = new DatabaseSync(foreign);
		database.exec('CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES (1)');
		const text = join(folder, 'text');
		writeFileSync(text, 'This is not a database.'.repeat(50));
		for (const [path, reset, sentence] of [
			[file, false, 'Start once with --reset'],
			[foreign, true, 'belongs to another program. Choose another file'],
			[text, false, 'cannot be opened for writing'],
			[folder, false, 'cannot be opened for writing'],
		] as const) {
			await expect(startSandbox({ port: 0, file: path, reset })).rejects.toThrow(sentence);
		}
		expect(database.prepare('SELECT count(*) AS count FROM notes').get()).toEqual({ count: 1 });
		database.close();
	});
});
