import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import axios from 'axios';
import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { projectRoot } from '../../host/paths.mts';
import type { CredentialDefinition, Execution } from '../../host/rest.mts';
import { start } from '../../host/workflow.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startMailServer, type MailServer } from '../support/mailServer.mts';
import { offered } from '../support/operations.mts';
import { startScriptedModel, type ScriptedModel } from '../support/scriptedModel.mts';
import {
	actionType,
	addExamples,
	joinInstance,
	outputOf,
	tested,
	triggerType,
	webhookSecret,
	type Examples,
	type SharedInstance,
} from './instance.mts';

/** Every workflow of workflows/, run in a real n8n against the sandbox. */

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
	await mail?.close();
	await model?.close();
	await instance?.close();
});

afterEach(() => instance.sandbox.faults.clear());

/** With those that sync.test.mts runs. */
const known = new Set(['nightly-sync', 'large-sync', 'large-sync-batch']);

/** Needs what n8n 2 has and n8n 1 has not. */
const only2 = 'agent-upgrade-after-approval';

/** A test that runs the example to its end. */
function example(file: string, behaviour: string, run: () => Promise<void>): void {
	known.add(file);
	const test = file === only2 && tested === '1' ? it.skip : it;
	test(`${file}.json ${behaviour}`, run, 240_000);
}

const { pro } = SANDBOX_PLANS;
const gone = { status: 404, body: '' };

async function run(file: string, trigger: string): Promise<Execution> {
	const { api, exampleId } = instance;
	return await api.waitForExecution(await api.runWorkflow(exampleId(file), trigger), 110_000);
}

const jsonOf = (execution: Execution, node: string) =>
	outputOf(execution, node).map(({ json }) => json);

/** Changes the nodes of an example. */
async function change(file: string, edit: (node: INode) => INode): Promise<void> {
	const { api, exampleId } = instance;
	const { nodes } = await api.readWorkflow(exampleId(file));
	await api.updateWorkflow(exampleId(file), { nodes: nodes.map(edit) });
}

/** Sets a credential of a type that the launcher has none of. */
async function setCredential(file: string, type: string, data: CredentialDefinition['data']) {
	const { id, name } = await instance.api.createCredential({ name: file, type, data });
	await change(file, (node) =>
		node.credentials?.[type] === undefined
			? node
			: { ...node, credentials: { [type]: { id, name } } },
	);
}

const setModel = async (file: string) =>
	await setCredential(file, 'openAiApi', { apiKey: 'none', url: model.baseUrl });

async function activate(file: string): Promise<void> {
	await instance.api.activateWorkflow(instance.exampleId(file));
}

/** Sends a request to an example that begins with a Webhook node. */
async function post(file: string, body: object, secret = webhookSecret) {
	const { nodes } = await instance.api.readWorkflow(instance.exampleId(file));
	const { path } = nodes.find(({ type }) => type === 'n8n-nodes-base.webhook')!.parameters;
	const options = { headers: { 'X-Webhook-Secret': secret }, proxy: false, validateStatus: null };
	return await axios.post(`${instance.url}/webhook/${String(path)}`, body, options as object);
}

/** A user whom no list begins with. */
const somebody = () => {
	const [user] = instance.query(
		`SELECT users.id AS userId, email, resumes.id AS resumeId
		FROM users JOIN resumes ON users.id = user_id ORDER BY users.id LIMIT 1 OFFSET 70`,
	);
	return user as Record<'userId' | 'email' | 'resumeId', string>;
};

example('plan-upgrade', 'tells for each item whether it was upgraded', async () => {
	const lost = 'noah.fischer@example.com';
	instance.sandbox.faults.add({ email: lost, drop: 'after', times: 1 });
	const execution = await run('plan-upgrade', 'Start');
	expect(execution.status).toBe('success');
	const { premium } = SANDBOX_PLANS;
	expect(jsonOf(execution, 'Outcome')).toEqual([
		{
			...{ email: 'emma.larsen@example.com', planId: premium, outcome: 'upgraded' },
			detail: expect.stringMatching(/^Until \d{4}-\d\d-\d\d$/),
		},
		{
			...{ email: lost, planId: pro, outcome: 'unknown' },
			detail: expect.stringMatching(/^Outcome unknown: /),
		},
		{
			...{ email: 'olivia.martin@example.com', planId: 'plan_that_does_not_exist' },
			...{ outcome: 'refused', detail: expect.stringContaining('wrong plan ID (plan-upgrade-2)') },
		},
	]);
	expect(instance.query('SELECT email FROM upgrades')).toHaveLength(2);
});

example('users-resumes-scores', 'keeps one row a resume, however often it runs', async () => {
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
		expect(rows).toMatchObject(resumes.map((row) => ({ ...row })));
		expect(rows.every(({ score }) => Number(score) > 0)).toBe(true);
	}
});

example('section-saved-score', 'writes score and verdict into one row a resume', async () => {
	const { api, exampleId, query, readTable, sandbox } = instance;
	const rows = async () =>
		(await readTable('Resume scores')).filter(({ resumeId }) => resumeId === 'resume-001');
	const sample = await run('section-saved-score', 'Section saved');
	expect(jsonOf(sample, 'Row')).toMatchObject([{ resumeId: 'resume-001', userId: 'user-001' }]);
	let count = 1;
	const execution = async () => {
		const executions = await api.waitForExecutions(exampleId('section-saved-score'), ++count);
		return executions.at(-1)!;
	};
	const good = '- Led eight people, and cut the time of delivery by 40 percent\n'.repeat(8);
	for (const [content, verdict] of [
		['To be written.', 'needs work'],
		[good, 'good enough'],
	] as const) {
		query("UPDATE sections SET content = ? WHERE resume_id = 'resume-001'", content);
		sandbox.webhooks.saveSection(1, {});
		expect((await execution()).status).toBe('success');
		expect(await rows()).toMatchObject([{ userId: 'user-001', verdict }]);
	}

	// Delivered twice, it writes the same.
	const [delivery] = sandbox.webhooks.deliveries();
	sandbox.webhooks.redeliver(delivery!.id);
	const [{ deliveryId }] = jsonOf(await execution(), 'Section saved') as [IDataObject];
	expect(deliveryId).toBe(delivery!.eventId);
	expect(await rows()).toMatchObject([{ userId: 'user-001', verdict: 'good enough' }]);
});

example('upgrade-after-payment', 'upgrades once a payment, and reports each failure', async () => {
	const file = 'upgrade-after-payment';
	const { api, exampleId, sandbox } = instance;
	await activate(file);
	const rowsOf = async (id: unknown) =>
		(await instance.readTable('Plan upgrades')).filter(({ paymentId }) => paymentId === id);
	let count = 0;
	/**
	 * Sends payments at the same moment, all of one ID.
	 * @returns the states of their rows, the HTTP statuses of the answers, and whether each execution failed
	 */
	async function pay(id: string | null, emails: string[], planId = pro) {
		const answers = await Promise.all(
			emails.map(async (email) => await post(file, { ...(id && { id }), email, planId })),
		);
		count += emails.length;
		const executions = (await api.waitForExecutions(exampleId(file), count)).slice(-emails.length);
		const rows = (await rowsOf(id)).slice(-emails.length);
		const statuses = answers.map(({ status }) => status);
		expect(rows.map(({ answer }) => answer)).toEqual(statuses);
		return [
			rows.map(({ state }) => String(state)).sort(),
			new Set(statuses),
			new Set(executions.map(({ status }) => status)),
		];
	}
	const outcome = (state: string, answer: number, execution = 'error') => [
		[state],
		new Set([answer]),
		new Set([execution]),
	];

	const [ava, ethan, sophia] = ['ava.rossi', 'ethan.dubois', 'sophia.keller'].map(
		(name) => `${name}@example.com`,
	) as [string, string, string];
	const { status } = await post(file, { id: 'pay_1', email: ava, planId: pro }, 'a guess');
	expect(status).toBe(403);

	expect(await pay('pay_1', [ava, ava, ava])).toEqual([
		['repeated', 'repeated', 'upgraded'],
		new Set([200]),
		new Set(['success']),
	]);
	expect(await rowsOf('pay_1')).toContainEqual(
		expect.objectContaining({
			...{ email: ava, planId: pro, state: 'upgraded' },
			detail: expect.stringMatching(/^plan_pro until \d{4}-\d\d-\d\d$/),
		}),
	);
	expect(await pay('pay_2', [ethan], 'plan_unknown')).toEqual(outcome('refused', 200));
	expect(await pay('pay_3', [ethan], SANDBOX_PLANS.failingPayment)).toEqual(outcome('held', 200));
	sandbox.faults.add({ path: '/plan/upgrade', drop: 'after', times: 1 });
	expect(await pay('pay_4', [sophia])).toEqual(outcome('unknown', 200));
	expect(await pay('pay_5', ['no address'])).toEqual(outcome('not sent', 400));
	expect(await pay(null, [ethan])).toEqual(outcome('not sent', 400));
	for (const [status, answer] of [
		[401, 200],
		[429, 503],
	] as const) {
		sandbox.faults.add({ path: '/plan/upgrade', answer: { status } });
		expect(await pay('pay_6', [ethan])).toEqual(outcome('refused', answer));
		sandbox.faults.clear();
	}

	// Nothing listens at this address.
	const down = await instance.addCredential({ baseUrl: 'http://127.0.0.1:1/v1' });
	const { nodes } = await api.readWorkflow(exampleId(file));
	await change(file, (node) => (node.type === actionType ? { ...node, credentials: down } : node));
	await activate(file);
	expect(await pay('pay_6', [ethan])).toEqual(outcome('refused', 503));
	await api.updateWorkflow(exampleId(file), { nodes });
	await activate(file);
	expect([ava, ethan, sophia].map(instance.billed)).toEqual([1, 0, 1]);
	expect(await pay('pay_6', [ethan])).toEqual(outcome('upgraded', 200, 'success'));

	/** Runs the pinned sample. */
	const sample = async () => {
		count++;
		const execution = await run(file, 'Payment received');
		const [{ email, state, answer }] = jsonOf(execution, 'Outcome') as [IDataObject];
		return { state, answer, status: execution.status, billed: instance.billed(String(email)) };
	};
	const setPreview = async (preview: boolean) =>
		await change(file, (node) =>
			node.type === actionType ? { ...node, parameters: { ...node.parameters, preview } } : node,
		);
	await setPreview(true);
	const { billed, ...previewed } = await sample();
	expect(previewed).toEqual({ state: 'preview', answer: 503, status: 'success' });
	await setPreview(false);
	const upgraded = { state: 'upgraded', answer: 200, status: 'success', billed: billed + 1 };
	expect(await sample()).toEqual(upgraded);
	// No answer of the sandbox is confirmed and can't be shown.
	const { pinData } = await api.readWorkflow(exampleId(file));
	const error = { message: 'It was carried out', description: '', outcome: 'applied' };
	const pinned = { ...pinData, 'Upgrade plan': [{ json: { error } }] };
	await api.updateWorkflow(exampleId(file), { pinData: pinned });
	expect(await sample()).toMatchObject({ state: 'applied', answer: 200, status: 'error' });
});

example('onboarding', 'creates one resume, and keeps no token, one for each call', async () => {
	/** The seed gives this user no resume. */
	const user = { id: 'user-012', email: 'oliver.horvat@example.com' };
	const { api, exampleId, sandbox } = instance;
	const { pinData } = await api.readWorkflow(exampleId('onboarding'));
	const [{ json: sample }] = pinData!['User to onboard'] as [INodeExecutionData];
	const { email, title } = sample.body as Record<'email' | 'title', string>;
	expect(email).toBe(user.email);
	await activate('onboarding');
	sandbox.faults.add({ path: `/user/${user.id}/resume`, drop: 'after', times: 1 });
	const lost = await post('onboarding', { email, title });
	expect([lost.status, lost.data]).toEqual([
		502,
		{ message: expect.stringMatching(/^Outcome unknown: /), outcome: 'unknown' },
	]);
	for (const call of ['first', 'second']) {
		const { status, data } = await post('onboarding', { email: email.toUpperCase(), title });
		expect([call, status]).toEqual([call, 200]);
		const resumes = instance.query('SELECT id, title FROM resumes WHERE user_id = ?', user.id);
		expect(resumes).toMatchObject([{ title }]);
		const [{ id: resumeId }] = resumes as [Record<string, string>];
		expect(data).toEqual({ userId: user.id, resumeId, token: expect.any(String) });
		const claims = Buffer.from(data.token.split('.')[1], 'base64url').toString();
		expect(JSON.parse(claims)).toMatchObject({ sub: user.id, email: user.email });
	}
	const { status, data } = await post('onboarding', { email: 'nobody@example.com' });
	expect([status, data]).toEqual([502, { message: 'No user has this email address' }]);
	// n8n removes an execution once it has answered.
	while ((await api.listExecutions(exampleId('onboarding'))).length > 0) await sleep(100);
});

example('export-pdfs', 'writes a file for each resume that can be downloaded', async () => {
	const broken = 'resume-007';
	instance.sandbox.faults.add({ path: `/resume/${broken}/download`, answer: gone });
	const execution = await run('export-pdfs', 'Start');
	expect(execution.status).toBe('success');
	const ids = instance.query('SELECT id FROM resumes ORDER BY id').map(({ id }) => String(id));
	const files = (await readdir(instance.filesFolder)).sort();
	expect(files).toEqual(ids.filter((id) => id !== broken).map((id) => `${id}.pdf`));
	for (const file of files) {
		const content = await readFile(join(instance.filesFolder, file), 'latin1');
		expect([file, content.slice(0, 5)]).toEqual([file, '%PDF-']);
	}
	const reason = expect.stringContaining('nothing at this address') as string;
	expect(jsonOf(execution, 'Not exported')).toEqual([{ resumeId: broken, reason }]);
});

/** What the model was told of its last calls, in their order. */
const told = () =>
	model.requests
		.at(-1)!
		.messages.filter(({ role }) => role === 'tool')
		.map(({ content }) => content);

example('agent-user-questions', 'answers with what its tools have looked up', async () => {
	const file = 'agent-user-questions';
	await setModel(file);
	const { userId, email, resumeId } = somebody();
	const question = { chatInput: `Which score has ${email}?`, sessionId: 'one' };
	const pinData = { Chat: [{ json: question }] };
	await instance.api.updateWorkflow(instance.exampleId(file), { pinData });
	model.script([
		[{ name: 'Find_a_user', arguments: { email } }],
		[{ name: 'List_resumes', arguments: { userId } }],
		[{ name: 'Get_a_score', arguments: { resumeId } }],
		'The answer.',
	]);
	const execution = await run(file, 'Chat');
	expect(jsonOf(execution, 'Agent')).toMatchObject([{ output: 'The answer.' }]);
	const answers = [userId, resumeId, 'score'];
	expect(told()).toEqual(answers.map((text) => expect.stringContaining(text) as string));
	expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
});

example(only2, 'sends an upgrade only after an approval, and once', async () => {
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

	for (const [answers, outcome, upgrades] of [
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
		await axios.post(`${url}/form/${webhookId}`, form, { proxy: false });
		// n8n sends the mail just before it waits for the answer.
		const newest = async () => (await api.listExecutions(exampleId(only2)))[0]!;
		while (mail.mails.length === 0 || (await newest()).status !== 'waiting') await sleep(100);
		expect(sent()).toBe(0);
		const { to, html } = mail.mails.pop()!;
		expect(to).toMatchObject([{ address: 'billing@example.com' }]);
		expect(html).toContain(
			`The agent wants to upgrade ${email} to the plan ${pro}. This may charge a payment.`,
		);
		const press = async (label: string) => {
			const [, link] = new RegExp(`href="([^"]+)"[^>]*>${label}</a>`).exec(html!)!;
			// n8n does nothing for robots.
			const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
			const options = { headers: { 'User-Agent': agent }, proxy: false, validateStatus: null };
			await axios.get(link!.replaceAll('&amp;', '&'), options as object);
		};
		await Promise.all(answers.map(press));
		const execution = await api.waitForExecution((await newest()).id);
		expect(jsonOf(execution, 'Agent')).toMatchObject([{ output: 'The outcome.' }]);
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
		expect(told()).toEqual(
			[userId, outcome].map((text) => expect.stringContaining(text) as string),
		);
		// The answer is given.
		await press('Approve');
		expect([sent(), instance.billed(email)]).toEqual([upgrades, upgrades]);
	}
});

example('mcp-server-read-only', 'lets an MCP client read, and nothing else', async () => {
	const file = 'mcp-server-read-only';
	const token = 'a long random token';
	await setCredential(file, 'httpBearerAuth', { token });
	await activate(file);
	const connect = async (given: string): Promise<Client> => {
		const client = new Client({ name: 'test', version: '1.0.0' });
		const requestInit = { headers: { Authorization: `Bearer ${given}` } };
		const url = new URL(`${instance.url}/mcp/resume-management`);
		await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
		return client;
	};
	await expect(connect('a guess')).rejects.toThrow('Authorization data is wrong!');

	const client = await connect(token);
	instance.sandbox.requests.length = 0;
	const { tools } = await client.listTools();
	const names = ['Find_a_user', 'Get_a_resume', 'Get_a_score', 'List_resumes'];
	expect(tools.map(({ name }) => name).sort()).toEqual(names);
	for (const { description } of tools) expect(description).toMatch(/Changes nothing\.$/);
	const { userId, email: known } = somebody();
	for (const [email, answer] of [
		[known, userId],
		['nobody@example.com', 'No user'],
	]) {
		const { content } = await client.callTool({ name: 'Find_a_user', arguments: { email } });
		expect(JSON.stringify(content)).toContain(answer);
	}
	await client.close();
	await instance.api.deactivateWorkflow(instance.exampleId(file));
	expect(new Set(instance.sandbox.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
	for (const { storedData } of await instance.api.waitForExecutions(instance.exampleId(file), 1)) {
		expect(storedData).not.toContain(SANDBOX_KEYS.live);
		expect(storedData).not.toContain(token);
	}
});

example('new-or-changed-users', 'hands on each change until its step is through', async () => {
	const file = 'new-or-changed-users';
	/** A run, and who came to the step for changes. */
	const poll = async () => {
		const execution = await run(file, 'Every 15 minutes');
		return [
			execution.status,
			jsonOf(execution, 'Your step')
				.map(({ userId }) => userId)
				.sort(),
		];
	};
	const rename = (id: string, name: string) =>
		instance.query('UPDATE users SET last_name = ? WHERE id = ?', name, id);
	const everybody = instance.query('SELECT id FROM users ORDER BY id').map(({ id }) => id);
	expect(await poll()).toEqual(['success', everybody]);
	expect(await poll()).toEqual(['success', []]);

	rename('user-020', 'Changed');
	instance.query("INSERT INTO users VALUES ('user-new', 'new@example.com', 'New', 'User', 0, 0)");
	instance.sandbox.faults.add({ path: '/users', answer: { status: 500, body: '' } });
	expect(await poll()).toEqual(['error', []]);
	instance.sandbox.faults.clear();
	const { nodes } = await instance.api.readWorkflow(instance.exampleId(file));
	const step = nodes.find(({ name }) => name === 'Your step')!;
	const put = async (other: INode) =>
		await change(file, (node) => (node.name === step.name ? other : node));
	const parameters = { errorMessage: 'The step fails' };
	await put({ ...step, type: 'n8n-nodes-base.stopAndError', parameters });
	expect(await poll()).toEqual(['error', []]);
	await put(step);
	expect(await poll()).toEqual(['success', ['user-020', 'user-new']]);
	expect(await poll()).toEqual(['success', []]);
	const rows = await instance.readTable('Known users');
	expect(rows.map(({ userId }) => userId).sort()).toEqual([...everybody, 'user-new']);
	instance.query("DELETE FROM users WHERE id = 'user-new'");
});

(tested === '2' ? it : it.skip)(
	'has nothing that n8n 3 removes, by the report of n8n 2',
	async () => {
		const { api } = instance;
		const nodes = offered().map(({ resource, value, parameters }) => {
			return { name: `${resource} ${value}`, type: actionType, parameters };
		});
		const operations = await instance.createWorkflow([
			start,
			{ name: 'T', type: triggerType },
			...nodes,
		]);
		const each = {
			name: 'Each',
			type: 'n8n-nodes-base.executeWorkflow',
			parameters: { mode: 'each' },
		};
		const outdated = await instance.createWorkflow([start, each]);
		const looked = [operations, outdated, ...instance.examples.map(({ id }) => id)];
		const affected = await api.migrationReport('v3');
		expect(affected.filter(({ workflowId }) => looked.includes(workflowId))).toEqual([
			{ ruleId: 'execute-workflow-each-mode-v3', workflowId: outdated },
		]);
	},
);

it('runs every workflow of the folder', async () => {
	const files = await readdir(join(projectRoot, 'workflows'));
	expect(files.sort()).toEqual(Array.from(known, (file) => `${file}.json`).sort());
});
