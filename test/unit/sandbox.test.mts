import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startSandbox, type Sandbox } from '../../sandbox/server.mts';
import { judgeAnswer, offeredOperations } from '../support/openapi.mts';

/** The partner API of the sandbox, compared with the OpenAPI document. */

const EMAIL = 'emma.larsen@example.com';
const UPGRADE = { planId: SANDBOX_PLANS.pro, email: EMAIL };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const HEADERS = { ...JSON_TYPE, Authentication: `Bearer ${SANDBOX_KEYS.live}` };

let sandbox: Sandbox;
beforeEach(async () => {
	sandbox = await startSandbox({ port: 0 });
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

it('a new resume is read back, and is downloaded as a PDF with its title and user', async () => {
	const sections = [{ type: 'skills', content: 'emoji 🎉\n', level: [1] }, { title: '' }];
	const resume = { id: 'mine', title: 'Ü (1) "*" 履', language: 'en', sections };
	await call('/user/user-006/resume', resume);
	expect(await read('/resume/resume-151')).toMatchObject({ ...resume, id: 'resume-151' });
	expect(await read('/user/user-006/resumes')).toMatchObject([{ id: 'resume-151' }]);
	const { answer, text } = await call('/resume/resume-151/download');
	const name = "attachment; filename*=UTF-8''%C3%9C%20_1_%20%22_%22%20%E5%B1%A5.pdf";
	expect(answer.headers.get('content-disposition')).toBe(name);
	expect(text).toMatch(/\(\ufffd \\\(1\\\) "\*" \?\) '\n\(\w+ \w+\) '/);
});

it('an upgrade puts the user on the plan and bills, each time that it is sent', async () => {
	const [planId, aiTokenId] = [SANDBOX_PLANS.premium, 'ai_tokens_100'];
	const { text } = await upgrade({ planId, aiTokenId });
	const { data } = JSON.parse(text) as { data: Record<string, number> };
	const { created, current_period_start: start, current_period_end: end } = data;
	expect(data).toMatchObject({ status: 'active', plan_id: planId });
	expect([created! < start!, end]).toEqual([true, start! + 365 * 24 * 60 * 60]);
	expect(Math.abs(Date.now() / 1000 - start!)).toBeLessThan(60);
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
	const answer = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>' };
	expect(await set({ path: '/user/*', answer })).toBe(200);
	expect(await set({ path: '/plan/upgrade', email: EMAIL.toUpperCase(), answer })).toBe(200);
	expect(await set({ drop: 'after', patj: '/users' })).toBe(400);
	const statuses = async () => {
		const others = upgrade({ email: 'noah.fischer@example.com' });
		const answers = await Promise.all([call('/users'), call('/user/user-001'), others, upgrade()]);
		return answers.map(({ status }) => status);
	};
	expect(await statuses()).toEqual([200, 502, 200, 502]);
	const { answer: sent, text } = await upgrade();
	expect([sent.headers.get('content-type'), text]).toEqual(['text/html', '<h1>']);
	await fetch(url, { method: 'DELETE' });
	expect(await statuses()).toEqual([200, 200, 200, 200]);
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
	sandbox.database.exec('PRAGMA user_version = 99');
	await expect(startSandbox({ port: 0, file })).rejects.toThrow('--reset fills it again');

	const foreign = join(folder, 'foreign.sqlite');
	const database = new DatabaseSync(foreign);
	database.exec('CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES (1)');
	const start = startSandbox({ port: 0, file: foreign, reset: true });
	await expect(start).rejects.toThrow('belongs to another program');
	expect(database.prepare('SELECT * FROM notes').all()).toHaveLength(1);
	database.close();
	rmSync(folder, { recursive: true });
});
