import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import type { INode } from 'n8n-workflow';
import { projectRoot } from '../../host/paths.mts';
import type { CredentialDefinition, Execution } from '../../host/rest.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startMailServer, type MailServer } from '../support/mailServer.mts';
import { startScriptedModel, type ScriptedModel } from '../support/scriptedModel.mts';
import {
	actionType,
	addExamples,
	joinInstance,
	outputOf,
	tested,
	webhookSecret,
	type Examples,
	type SharedInstance,
} from './instance.mts';

/** The workflows of workflows/ in a real n8n, against the sandbox. */

let instance: Examples & SharedInstance;
let model: ScriptedModel;
let mail: MailServer;

beforeAll(async () => {
	const joined = await joinInstance();
	instance = { ...joined, ...(await addExamples(joined)) };
	model = await startScriptedModel();
	mail = await startMailServer();
});

afterAll(async () => {
	mail?.close();
	await model?.close();
	await instance?.close();
});

afterEach(() => instance.sandbox.faults.clear());

/** Files of the examples that have a test. sync.test.mts runs the first three. */
const known = new Set(['nightly-sync', 'large-sync', 'large-sync-batch']);

/** An example that n8n 1 can't run. */
const only2 = 'agent-upgrade-after-approval';

/** Declares a test that runs an example to its end. */
function example(file: string, behaviour: string, run: () => Promise<void>): void {
	known.add(file);
	const test = file === only2 && tested === '1' ? it.skip : it;
	test(`${file}.json ${behaviour}`, run, 240_000);
}

const { pro } = SANDBOX_PLANS;

async function run(file: string, trigger: string): Promise<Execution> {
	const { api, exampleId } = instance;
	return await api.waitForExecution(await api.runWorkflow(exampleId(file), trigger), 110_000);
}

const jsonOf = (execution: Execution, node: string) =>
	outputOf(execution, node).map(({ json }) => json);

async function change(file: string, edit: (node: INode) => INode): Promise<void> {
	const { api, exampleId } = instance;
	const { nodes } = await api.readWorkflow(exampleId(file));
	await api.updateWorkflow(exampleId(file), { nodes: nodes.map(edit) });
}

/** Sets a credential of a type that the launcher does not create. */
async function setCredential(file: string, type: string, data: CredentialDefinition['data']) {
	const { id, name } = await instance.api.createCredential({ name: file, type, data });
	await change(file, (node) =>
		node.credentials?.[type] ? { ...node, credentials: { [type]: { id, name } } } : node,
	);
}

const setModel = async (file: string) =>
	await setCredential(file, 'openAiApi', { apiKey: 'none', url: model.baseUrl });

async function activate(file: string): Promise<void> {
	await instance.api.activateWorkflow(instance.exampleId(file));
}

const http = axios.create({ proxy: false, validateStatus: null });

/** Sends a request to an example's Webhook node, at the path `/webhook/<file or other path>`. */
async function post(path: string, body: object, secret = webhookSecret) {
	const headers = { 'X-Webhook-Secret': secret };
	return await http.post(`${instance.url}/webhook/${path}`, body, { headers });
}

/** Returns a user who is on no first page of a list. */
const somebody = () => {
	const [user] = instance.query(
		`SELECT users.id AS userId, email, resumes.id AS resumeId
		FROM users JOIN resumes ON users.id = user_id ORDER BY users.id LIMIT 1 OFFSET 70`,
	);
	return user as Record<'userId' | 'email' | 'resumeId', string>;
};

example('plan-upgrade', 'returns the outcome of each item', async () => {
	const [upgraded, lost] = ['emma.larsen@example.com', 'noah.fischer@example.com'] as const;
	instance.sandbox.faults.add({ email: lost, drop: 'after' });
	const execution = await run('plan-upgrade', 'Start');
	expect(jsonOf(execution, 'Outcome')).toMatchObject([
		{ email: upgraded, outcome: 'upgraded' },
		{ email: lost, outcome: 'unknown', detail: expect.stringMatching(/^Outcome unknown: /) },
		{ outcome: 'refused', detail: expect.stringContaining('(plan-upgrade-2)') },
	]);
	expect([upgraded, lost].map(instance.billed)).toEqual([1, 1]);
});

example('users-resumes-scores', 'keeps one row for each resume in repeated runs', async () => {
	const resumes = instance.query(
		`SELECT resumes.id AS resumeId, title, users.id AS userId, email
		FROM resumes JOIN users ON users.id = user_id ORDER BY resumes.id`,
	);
	for (const time of ['first', 'second']) {
		const execution = await run('users-resumes-scores', 'Start');
		expect([time, execution.status]).toEqual([time, 'success']);
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
		const rows = await instance.readTable('Resume scores');
		rows.sort((one, other) => (String(one.resumeId) < String(other.resumeId) ? -1 : 1));
		const score: unknown = expect.any(Number);
		expect(rows).toMatchObject(resumes.map((row) => ({ ...row, score })));
	}
});

example('section-saved-score', 'writes one row, though the event is delivered twice', async () => {
	const { api, exampleId, readTable, sandbox } = instance;
	sandbox.webhooks.saveSection(1, {});
	await api.waitForExecutions(exampleId('section-saved-score'), 1);
	const [delivery] = sandbox.webhooks.deliveries();
	sandbox.webhooks.redeliver(delivery!.id);
	for (const execution of await api.waitForExecutions(exampleId('section-saved-score'), 2)) {
		expect(execution.status).toBe('success');
		const { eventId: deliveryId } = delivery!;
		expect(jsonOf(execution, 'Section saved')).toMatchObject([{ deliveryId }]);
	}
	const rows = (await readTable('Resume scores')).filter((row) => row.resumeId === 'resume-001');
	expect(rows).toMatchObject([{ userId: 'user-001', verdict: expect.any(String) }]);
});

example('upgrade-after-payment', 'bills a payment once, and loses none', async () => {
	const file = 'upgrade-after-payment';
	const { api, exampleId, sandbox } = instance;
	const [paid, refused, lost] = instance.emails.slice(40) as [string, string, string];
	const saved: string[] = [];
	const ended: string[] = [];
	type Payment = Partial<Record<'id' | 'email' | 'planId', string>>;
	/** Sends a payment once for each of the states, all at once, and expects these states. */
	async function pay(payment: Payment, answer: number, ...states: string[]) {
		const body = { planId: pro, ...payment };
		const answers = await Promise.all(states.map(() => post('payment-received', body)));
		const statuses = answers.map(({ status }) => status);
		expect([payment, statuses]).toEqual([payment, states.map(() => answer)]);
		saved.push(...states.map((state) => `${payment.id ?? null} ${state} ${answer}`));
		ended.push(...states.map((state) => (/upgraded|repeated/.test(state) ? 'success' : 'error')));
	}
	await activate(file);
	const payment = { id: 'pay_1', email: paid };
	expect((await post('payment-received', payment, 'a guess')).status).toBe(403);
	await pay(payment, 200, 'upgraded', 'repeated', 'repeated');
	for (const [failing, fault, answer, state] of [
		[{ id: 'pay_2', email: refused, planId: 'plan_unknown' }, {}, 200, 'refused'],
		[{ id: 'pay_3', email: refused, planId: SANDBOX_PLANS.failingPayment }, {}, 200, 'held'],
		[{ id: 'pay_4', email: lost }, { drop: 'after' }, 200, 'unknown'],
		[{ id: 'pay_5', email: 'no address' }, {}, 400, 'not sent'],
		[{ email: refused }, {}, 400, 'not sent'],
		[{ id: 'pay_6', email: refused }, { answer: { status: 401 } }, 200, 'refused'],
		[{ id: 'pay_6', email: refused }, { answer: { status: 429 } }, 503, 'refused'],
	] as const) {
		sandbox.faults.add({ path: '/plan/upgrade', ...fault });
		await pay(failing, answer, state);
		sandbox.faults.clear();
	}

	const { nodes } = await api.readWorkflow(exampleId(file));
	// Nothing listens at this address.
	const down = await instance.addCredential({ baseUrl: 'http://127.0.0.1:1/v1' });
	await change(file, (node) => (node.type === actionType ? { ...node, credentials: down } : node));
	await activate(file);
	await pay({ id: 'pay_6', email: refused }, 503, 'refused');
	await api.updateWorkflow(exampleId(file), { nodes });
	await activate(file);
	await pay({ id: 'pay_6', email: refused }, 200, 'upgraded');
	expect([paid, refused, lost].map(instance.billed)).toEqual([1, 1, 1]);

	const rows = await instance.readTable('Plan upgrades');
	const lines = rows.map(({ paymentId, state, answer }) => `${paymentId} ${state} ${answer}`);
	expect(lines.sort()).toEqual(saved.sort());
	const executions = await api.waitForExecutions(exampleId(file), saved.length);
	expect(executions.map(({ status }) => status)).toEqual(ended);
});

example('onboarding', 'creates one resume, and stores no token', async () => {
	/** The seed gives this user no resume. */
	const user = { id: 'user-012', email: 'oliver.horvat@example.com' };
	const title = 'My first resume';
	await activate('onboarding');
	instance.sandbox.faults.add({ path: `/user/${user.id}/resume`, drop: 'after', times: 1 });
	const call = async (email: string) => {
		const { status, data } = await post('onboarding', { email, title });
		return [status, data];
	};
	const message = expect.stringMatching(/^Outcome unknown: /) as unknown;
	expect(await call(user.email)).toEqual([502, { message, outcome: 'unknown' }]);
	for (const email of [user.email, user.email.toUpperCase()]) {
		const answer = await call(email);
		const resumes = instance.query('SELECT id, title FROM resumes WHERE user_id = ?', user.id);
		expect(resumes).toMatchObject([{ title }]);
		const token = expect.any(String) as unknown;
		expect(answer).toEqual([200, { userId: user.id, resumeId: resumes[0]!.id, token }]);
	}
	const nobody = { message: 'No user has this email address' };
	expect(await call('nobody@example.com')).toEqual([502, nobody]);
	// n8n deletes an execution some time after its response.
	const { api, exampleId } = instance;
	while ((await api.listExecutions(exampleId('onboarding'))).length > 0) await sleep(100);
});

example('export-pdfs', 'writes a file for each resume that can be downloaded', async () => {
	const broken = 'resume-007';
	instance.sandbox.faults.add({ path: `/resume/${broken}/download`, answer: { status: 404 } });
	const execution = await run('export-pdfs', 'Start');
	expect(execution.status).toBe('success');
	const ids = instance.query('SELECT id FROM resumes ORDER BY id').map(({ id }) => String(id));
	const files = (await readdir(instance.filesFolder)).sort();
	expect(files).toEqual(ids.filter((id) => id !== broken).map((id) => `${id}.pdf`));
	expect(await readFile(join(instance.filesFolder, files[0]!), 'latin1')).toMatch(/^%PDF-/);
	const reason = expect.stringContaining('nothing at this address') as string;
	expect(jsonOf(execution, 'Not exported')).toEqual([{ resumeId: broken, reason }]);
});

/** Expects tool results in the model's last request, in this order. */
function expectToolResults(...texts: string[]): void {
	const { messages } = model.requests.at(-1)!;
	const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
	expect(results).toEqual(texts.map((text) => expect.stringContaining(text) as string));
}

example('agent-user-questions', 'answers with the results of its tools', async () => {
	const file = 'agent-user-questions';
	await setModel(file);
	const { userId, email, resumeId } = somebody();
	const json = { chatInput: `Which score has ${email}?`, sessionId: 'one' };
	await instance.api.updateWorkflow(instance.exampleId(file), { pinData: { Chat: [{ json }] } });
	model.script([
		[{ name: 'Find_a_user', arguments: { email } }],
		[{ name: 'List_resumes', arguments: { userId } }],
		[{ name: 'Get_a_score', arguments: { resumeId } }],
		'The answer.',
	]);
	const execution = await run(file, 'Chat');
	expect(jsonOf(execution, 'Agent')).toMatchObject([{ output: 'The answer.' }]);
	expectToolResults(userId, resumeId, 'score');
	expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
});

example(only2, 'sends an upgrade once, and only after an approval', async () => {
	const { userId, email } = somebody();
	const upgrade = { toolParameters: { email, planId: pro }, hitlParameters: {} };
	const { api, exampleId, sandbox, url } = instance;
	const sent = () => sandbox.requests.filter(({ url }) => url === '/v1/plan/upgrade').length;
	await setModel(only2);
	const server = { host: '127.0.0.1', port: mail.port, secure: false, disableStartTls: true };
	await setCredential(only2, 'smtp', server);
	await activate(only2);
	sandbox.requests.length = 0;
	const { nodes } = await api.readWorkflow(exampleId(only2));
	const { webhookId } = nodes.find(({ name }) => name === 'Request')!;

	for (const [presses, outcome, upgrades] of [
		[['Decline'], 'User rejected the tool call to Upgrade a plan', 0],
		[['Approve', 'Approve'], pro, 1],
	] as const) {
		model.script([
			[{ name: 'Find_a_user', arguments: { email } }],
			[{ name: 'Upgrade_a_plan', arguments: upgrade }],
			'The outcome.',
		]);
		const form = new FormData();
		form.set('field-0', `Please upgrade ${email} to ${pro}.`);
		await http.post(`${url}/form/${webhookId}`, form);
		// n8n sends the email just before it waits for the answer.
		const newest = async () => (await api.listExecutions(exampleId(only2)))[0]!;
		while (mail.mails.length === 0 || (await newest()).status !== 'waiting') await sleep(100);
		expect(sent()).toBe(0);
		const text = mail.mails.pop()!;
		expect(text).toContain('To: billing@example.com\n');
		expect(text).toContain(`The agent wants to upgrade ${email} to the plan ${pro}.`);
		const press = async (label: string) => {
			const [, link] = new RegExp(`href="([^"]+)"[^>]*>${label}</a>`).exec(text)!;
			// n8n does nothing for robots.
			const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
			await http.get(link!.replaceAll('&amp;', '&'), { headers: { 'User-Agent': agent } });
		};
		await Promise.all(presses.map(press));
		const execution = await api.waitForExecution((await newest()).id);
		expect(jsonOf(execution, 'Agent')).toMatchObject([{ output: 'The outcome.' }]);
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
		expectToolResults(userId, outcome);
		// A later press changes nothing.
		await press('Approve');
		expect([sent(), instance.billed(email)]).toEqual([upgrades, upgrades]);
	}
});

example('mcp-server-read-only', 'lets an MCP client read, and do nothing else', async () => {
	const file = 'mcp-server-read-only';
	const token = 'a long random token';
	await setCredential(file, 'httpBearerAuth', { token });
	await activate(file);
	const headers: Record<string, string> = { Accept: 'application/json, text/event-stream' };
	const send = async (method: string, params: object = {}) => {
		const message = { jsonrpc: '2.0', id: 1, method, params };
		return await http.post<string>(`${instance.url}/mcp/resume-management`, message, { headers });
	};
	const clientInfo = { name: 'test', version: '1.0.0' };
	const client = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
	headers.Authorization = 'Bearer a guess';
	expect((await send('initialize', client)).status).toBe(403);
	headers.Authorization = `Bearer ${token}`;
	headers['Mcp-Session-Id'] = (await send('initialize', client)).headers['mcp-session-id'];

	instance.sandbox.requests.length = 0;
	// The response is an event stream.
	const [, list] = /^data: (.*)$/m.exec((await send('tools/list')).data)!;
	const changesNothing = { description: expect.stringMatching(/Changes nothing\.$/) };
	expect(JSON.parse(list!).result.tools).toMatchObject(Array(4).fill(changesNothing));
	const { userId, email } = somebody();
	const call = { name: 'Find_a_user', arguments: { email } };
	expect((await send('tools/call', call)).data).toContain(userId);
	await instance.api.deactivateWorkflow(instance.exampleId(file));
	expect(new Set(instance.sandbox.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
	for (const { storedData } of await instance.api.waitForExecutions(instance.exampleId(file), 1)) {
		expect(storedData).not.toContain(SANDBOX_KEYS.live);
		expect(storedData).not.toContain(token);
	}
});

example('new-or-changed-users', 'passes each change on until its step succeeds', async () => {
	const file = 'new-or-changed-users';
	/** Runs the example, and expects these users at the step for changes. */
	const poll = async (status: string, ...users: unknown[]) => {
		const execution = await run(file, 'Every 15 minutes');
		const changed = jsonOf(execution, 'Your step').map(({ userId }) => userId);
		expect([execution.status, changed.sort()]).toEqual([status, users]);
	};
	const all = instance.query('SELECT id FROM users ORDER BY id').map(({ id }) => id);
	await poll('success', ...all);
	await poll('success');

	instance.query("UPDATE users SET last_name = 'Changed' WHERE id = 'user-020'");
	instance.query("INSERT INTO users VALUES ('user-new', 'new@example.com', 'New', 'User', 0, 0)");
	const setStep = async (type: string, parameters = {}) =>
		await change(file, (node) =>
			node.name === 'Your step' ? { ...node, type, parameters } : node,
		);
	await setStep('n8n-nodes-base.stopAndError', { errorMessage: 'The step fails' });
	await poll('error');
	await setStep('n8n-nodes-base.noOp');
	await poll('success', 'user-020', 'user-new');
	await poll('success');
});

it('runs every workflow of the folder', async () => {
	const files = await readdir(join(projectRoot, 'workflows'));
	expect(files.sort()).toEqual(Array.from(known, (file) => `${file}.json`).sort());
});
