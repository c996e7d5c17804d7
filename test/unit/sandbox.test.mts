import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import axios from 'axios';
import { PDFDocument } from 'pdf-lib';

import { SANDBOX_AI_TOKENS, SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startSandbox, type Fault, type Sandbox } from '../../sandbox/server.mts';
import { createJudge, operationsOf, readOpenApi } from '../support/openapi.mts';

/** The partner API of the sandbox, over real HTTP: each answer is also judged by the OpenAPI document. */

const EMAIL = 'emma.larsen@example.com';
const UPGRADE = { planId: SANDBOX_PLANS.pro, email: EMAIL };
const TYPE = { 'Content-Type': 'application/json' };
const judge = createJudge();

let sandbox: Sandbox;
beforeEach(async () => {
	sandbox = await startSandbox({ port: 0, record: true });
});
afterEach(async () => await sandbox.close());

interface Call {
	/** Sent by POST, an object as JSON, a string as it is. */
	body?: object | string;
	/** In place of the two required headers (specification §4 and §5). */
	headers?: Record<string, string>;
	key?: string;
}

/** Sends a request, and holds the answer against the document. */
async function call(path: string, { body, key = SANDBOX_KEYS.live, headers }: Call = {}) {
	const { status, data, ...answer } = await axios.request<Buffer>({
		method: body === undefined ? 'GET' : 'POST',
		url: sandbox.baseUrl + path,
		data: typeof body === 'object' ? JSON.stringify(body) : body,
		headers: {
			'Content-Type': false,
			...(headers ?? { ...TYPE, Authentication: `Bearer ${key}` }),
		},
		responseType: 'arraybuffer',
		validateStatus: null,
	});
	const contentType = String(answer.headers['content-type']);
	const received = { status, contentType, body: data };
	expect(judge.judgeAnswer(sandbox.requests.at(-1)!, received)).toEqual([]);
	return {
		...received,
		headers: answer.headers,
		json: () => JSON.parse(data.toString()) as Record<string, unknown>,
	};
}

async function read<Data>(path: string): Promise<Data> {
	const { status, data } = (await call(path)).json();
	expect(status).toBe('success');
	return data as Data;
}

/** What an error is called, behind the sentence of the connect operation too (specification §2 rule 5). */
function codeOf({ status, errorCode }: Record<string, unknown>): string {
	expect(status).toBe('error');
	return String(errorCode).replace(/^error code: (.*), please contact administrator$/, '$1');
}

const upgrade = async (fields: object = {}) =>
	await call('/plan/upgrade', { body: { ...UPGRADE, ...fields } });

const bills = () => sandbox.database.prepare('SELECT * FROM upgrades').all();

/** Every operation of the document, with a request that succeeds. */
const operations = operationsOf(readOpenApi()).map(({ operationId, path, requestBody }) => ({
	operationId,
	path: path.replace('{userID}', 'user-001').replace('{resumeID}', 'resume-001'),
	unknown: path.includes('{') ? path.replace(/\{\w+\}/, 'nobody') : undefined,
	body: requestBody && UPGRADE,
	isUpgrade: operationId === 'plan.upgrade',
}));

describe.each(operations)('$operationId', ({ operationId, path, unknown, body, isUpgrade }) => {
	it('succeeds', async () => {
		const answer = await call(path, { body });
		expect([answer.status, judge.judgeRequest(sandbox.requests[0]!)]).toEqual([200, []]);
		const start = operationId === 'resume.download' ? '%PDF-' : '{"status":"success",';
		expect(answer.body.toString('latin1').startsWith(start)).toBe(true);
	});

	it('refuses what lacks a content type, a key, a body or what it names', async () => {
		const unauthorized = isUpgrade ? 'plan-upgrade-3' : 'sandbox-unauthorized';
		const { token } = (await call('/user/token', { body: { email: EMAIL } })).json();
		const key = `Bearer ${SANDBOX_KEYS.live}`;
		const refused: Array<[Call & { path?: string }, string | RegExp]> = [
			[{ headers: { Authentication: key } }, 'sandbox-content-type'],
			[{ headers: TYPE }, unauthorized],
			[{ headers: { ...TYPE, Authorization: key } }, unauthorized],
			[{ key: 'unknown' }, unauthorized],
			[{ key: String(token) }, isUpgrade ? 'plan-upgrade-4' : 'sandbox-token-type'],
		];
		const unarranged = { body, key: SANDBOX_KEYS.unarranged };
		if (isUpgrade) refused.push([unarranged, unauthorized]);
		else expect((await call(path, unarranged)).status).toBe(200);
		if (unknown) refused.push([{ path: unknown }, /^sandbox-unknown-(user|resume)$/]);
		for (const malformed of body ? ['', '{"title":', '[]', 'null'] : []) {
			refused.push([{ body: malformed }, 'sandbox-malformed-body']);
		}
		for (const [given, code] of refused) {
			const { status, json } = await call(given.path ?? path, { body, ...given });
			expect([given, status]).toEqual([given, isUpgrade ? 401 : 200]);
			expect(codeOf(json())).toMatch(code);
		}
		expect(bills()).toEqual([]);
	});

	it('answers HTTP 500 where the service fails', async () => {
		const log = jest.spyOn(console, 'error').mockImplementation(() => {});
		sandbox.database.exec('PRAGMA foreign_keys = OFF; DROP TABLE users; DROP TABLE sections');
		expect((await call(path, { body })).status).toBe(500);
		log.mockRestore();
	});
});

it.each<[path: string, status: number, errorCode: string, body?: object]>([
	['/v1/user/%E0%A4%A', 200, 'sandbox-bad-request', undefined],
	['/v1/nothing', 404, 'sandbox-unknown-address', undefined],
	['/users', 404, 'sandbox-unknown-address', undefined],
	['/v1/user/user-001/resume', 200, 'sandbox-bad-request', { sections: [{ content: {} }] }],
	['/v1/user/user-001/resume', 200, 'sandbox-bad-request', { title: 'x'.repeat(2 ** 20) }],
])('%s is answered with HTTP %d and %s, if nothing fits', async (path, status, errorCode, data) => {
	const answer = await axios.request<object>({
		method: data ? 'POST' : 'GET',
		url: sandbox.url + path,
		data,
		headers: { Authentication: `Bearer ${SANDBOX_KEYS.live}` },
		validateStatus: null,
	});
	expect(answer).toMatchObject({ status, data: { status: 'error', errorCode } });
});

it('keeps what a new resume is given, and makes a PDF of it, whatever its letters and length', async () => {
	const sections = [
		{ type: 'experience', content: 'long '.repeat(20_000) },
		{ type: 'skills', content: `tab\tnul\0 emoji 🎉\n\n ${'x'.repeat(1_000)}`, level: [1] },
		{ title: '' },
	];
	const body = { id: 'mine', title: 'Łukasz "Ł" 履歴書/2026\n', language: 'en', sections };
	const { data } = (await call('/user/user-006/resume', { body })).json();
	expect(data).toMatchObject({ ...body, id: 'resume-151', userId: 'user-006' });
	expect(await read('/resume/resume-151')).toEqual(data);
	expect(await read('/user/user-006/resumes')).toMatchObject([{ id: 'resume-151' }]);
	const file = await call('/resume/resume-151/download');
	expect((await PDFDocument.load(file.body)).getPageCount()).toBeGreaterThan(20);
	expect(file.headers['content-disposition']).toContain(
		"filename*=UTF-8''%C5%81ukasz%20_%C5%81_%20%E5%B1%A5%E6%AD%B4%E6%9B%B8_2026_.pdf",
	);
});

it.each(['/user/token', '/connect'])('%s returns a token that names the user', async (path) => {
	const token = async (email: unknown) => (await call(path, { body: { email } })).json();
	const [, claims] = String((await token(EMAIL.toUpperCase())).token).split('.');
	const read = JSON.parse(Buffer.from(claims!, 'base64url').toString()) as object;
	expect(read).toMatchObject({ sub: 'user-001', email: EMAIL });
	for (const email of ['nobody@example.com', undefined, 5]) {
		expect(codeOf(await token(email))).toBe('connect-01');
	}
});

describe('plan upgrade', () => {
	it('puts the user on the plan, counts what was billed, and answers the specified record', async () => {
		const before = await read<{ subscription: { created: number } }>('/user/user-001');
		const [planId, aiTokenId] = [SANDBOX_PLANS.premium, SANDBOX_AI_TOKENS.small];
		const data = (await upgrade({ planId, aiTokenId })).json().data as Record<string, number>;
		const start = data.current_period_start!;
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
		for (const _ of [1, 2]) expect((await upgrade({ email })).status).toBe(200);
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
		const { status, json } = await upgrade(fields);
		expect([status, codeOf(json()), bills()]).toEqual([401, errorCode, []]);
	});
});

describe('faults', () => {
	it('answer in place of the service, so often as asked, with any headers and body', async () => {
		const headers = { 'content-type': 'text/html', 'retry-after': '1' };
		const answer = { status: 502, headers, body: '<h1>Bad gateway' };
		sandbox.faults.add({ path: '/plan/upgrade', times: 2, answer });
		const url = `${sandbox.baseUrl}/plan/upgrade`;
		for (const _ of [1, 2]) {
			const answered = await axios.post(url, UPGRADE, { validateStatus: null });
			expect(answered).toMatchObject({ status: 502, headers, data: answer.body });
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
		expect([sandbox.requests.length, bills().length]).toEqual([1, billed]);
	});

	it('are set, refused and cleared over HTTP, and meet only the requests that they name', async () => {
		const address = `${sandbox.url}/_sandbox/faults`;
		const set = async (fault: unknown) =>
			(await axios.post(address, fault, { validateStatus: null })).status;
		const answer = { status: 500, body: '{}' };
		expect(await set({ path: '/user/*', answer })).toBe(200);
		expect(await set({ method: 'post', email: EMAIL.toUpperCase(), answer })).toBe(200);
		for (const fault of [{ times: 1 }, { drop: 'after', patj: '/users' }, '{"drop":']) {
			expect(await set(fault)).toBe(400);
		}
		const statuses = async () => [
			(await call('/users')).status,
			(await call('/user/user-001')).status,
			(await upgrade({ email: 'noah.fischer@example.com' })).status,
			(await upgrade()).status,
		];
		expect(await statuses()).toEqual([200, 500, 200, 500]);
		await axios.delete(address);
		expect(await statuses()).toEqual([200, 200, 200, 200]);
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
		await upgrade({ planId: SANDBOX_PLANS.premium });
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
		expect(database.prepare('SELECT * FROM notes').all()).toHaveLength(1);
		database.close();
	});
});
