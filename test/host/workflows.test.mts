import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import axios, { type AxiosResponse } from 'axios';
import type { INode, INodeParameters } from 'n8n-workflow';
import { connectExamples } from '../../host/events.mts';
import { projectRoot } from '../../host/paths.mts';
import type { CredentialDefinition, Execution } from '../../host/rest.mts';
import { prepareWorkspace } from '../../host/workspace.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startMailServer, type MailServer } from '../support/mailServer.mts';
import { startScriptedModel, type ScriptedModel } from '../support/scriptedModel.mts';
import {
	outputOf,
	startInstance,
	startMilliseconds,
	webhookSecret,
	type Instance,
} from './instance.mts';

/** Every workflow of workflows/, run in a real n8n against the sandbox. */

let instance: Instance;
let model: ScriptedModel;
let mail: MailServer;

beforeAll(async () => {
	instance = await startInstance();
	model = await startScriptedModel();
	mail = await startMailServer();
}, startMilliseconds);

afterAll(async () => {
	await mail?.close();
	await model?.close();
	await instance?.close();
}, 60_000);

const tested = new Set<string>();

/** Examples that need what n8n 2 has and n8n 1 has not. */
const only2 = ['agent-upgrade-after-approval'];

/** A test that runs the example to its end. */
function example(file: string, behaviour: string, run: () => Promise<void>): void {
	tested.add(file);
	const test = only2.includes(file) && process.env.TESTED_N8N === '1' ? it.skip : it;
	test(`${file}.json ${behaviour}`, run, 120_000);
}

/** Rows of the sandbox's database. */
function query(sql: string, ...values: string[]): Array<Record<string, unknown>> {
	const rows = instance.sandbox.database.prepare(sql).all(...values);
	return rows.map((row) => ({ ...row }));
}

async function run(file: string, trigger: string): Promise<Execution> {
	const { api, exampleId } = instance;
	return await api.waitForExecution(await api.runWorkflow(exampleId(file), trigger), 110_000);
}

/** A node Settings of an example with other values. */
function withSettings(node: INode, values: Record<string, unknown>): INode {
	if (node.name !== 'Settings') return node;
	const { assignments } = node.parameters.assignments as unknown as {
		assignments: Array<{ name: string; value: unknown }>;
	};
	const changed = assignments.map((one) => ({ ...one, value: values[one.name] ?? one.value }));
	return {
		...node,
		parameters: { ...node.parameters, assignments: { assignments: changed } as INodeParameters },
	};
}

/** Sets a credential of a type that the launcher has none of. */
async function setCredential(
	file: string,
	type: string,
	data: CredentialDefinition['data'],
): Promise<void> {
	const { api, exampleId } = instance;
	const { id, name } = await api.createCredential({ name: file, type, data });
	const { nodes } = await api.readWorkflow(exampleId(file));
	const set = (node: INode) =>
		node.credentials?.[type] === undefined
			? node
			: { ...node, credentials: { [type]: { id, name } } };
	await api.updateWorkflow(exampleId(file), { nodes: nodes.map(set) });
}

const setModel = async (file: string) =>
	await setCredential(file, 'openAiApi', { apiKey: 'none', url: model.baseUrl });

/** Calls the production URL of an example that begins with a Webhook node. */
async function post(file: string, body: object, secret = webhookSecret): Promise<AxiosResponse> {
	const { api, exampleId, n8n } = instance;
	const id = exampleId(file);
	const { active, nodes } = await api.readWorkflow(id);
	if (!active) await api.activateWorkflow(id);
	const path = nodes.find(({ type }) => type === 'n8n-nodes-base.webhook')!.parameters.path;
	const headers = { 'X-Webhook-Secret': secret };
	const options = { headers, proxy: false, validateStatus: null } as const;
	return await axios.post(`${n8n.url}/webhook/${String(path)}`, body, options);
}

it('is set up once, however often the launcher runs', async () => {
	const { api, n8n, sandbox, examples } = instance;
	const { webhooks } = sandbox;
	const access = {
		baseUrl: sandbox.baseUrl,
		privateKey: SANDBOX_KEYS.live,
		webhookSecret: '',
	};
	expect(await prepareWorkspace(api, access)).toEqual(examples);
	expect(await api.listWorkflows()).toHaveLength(examples.length);
	expect(await api.listCredentials()).toHaveLength(2);
	expect(await api.listDataTables()).toHaveLength(process.env.TESTED_N8N === '1' ? 6 : 4);

	const route = { api, editorUrl: n8n.url, webhooks, secret: webhookSecret };
	const registered = webhooks.list();
	expect(await connectExamples(route, examples)).toEqual([]);
	expect(webhooks.list()).toEqual(registered);
	expect(registered).toEqual([
		expect.objectContaining({ style: 'header', headerName: 'X-Webhook-Secret' }),
	]);

	// n8n on another port: the address from before would reach nobody.
	const editorUrl = 'http://127.0.0.1:1';
	await connectExamples({ ...route, editorUrl }, examples);
	expect(webhooks.list().map(({ url }) => new URL(url).origin)).toEqual([editorUrl]);
	await connectExamples(route, examples);
});

example('plan-upgrade', 'upgrades whom it can and says why it could not', async () => {
	const execution = await run('plan-upgrade', 'Start');
	expect(execution.status).toBe('success');
	expect(query('SELECT email, plan_id FROM upgrades ORDER BY id')).toEqual([
		{ email: 'emma.larsen@example.com', plan_id: SANDBOX_PLANS.premium },
		{ email: 'noah.fischer@example.com', plan_id: SANDBOX_PLANS.pro },
	]);
	expect(outputOf(execution, 'Upgraded').map(({ json }) => json.summary)).toEqual([
		expect.stringMatching(/^emma\.larsen@example\.com is on plan_premium until \d{4}-\d\d-\d\d\.$/),
		expect.stringMatching(/^noah\.fischer@example\.com is on plan_pro until \d{4}-\d\d-\d\d\.$/),
	]);
	expect(outputOf(execution, 'Not upgraded').map(({ json }) => json)).toEqual([
		expect.objectContaining({
			code: 'plan-upgrade-2',
			summary: expect.stringMatching(
				/^olivia\.martin@example\.com was not upgraded to plan_that_does_not_exist: .*wrong plan ID/,
			),
		}),
	]);
});

example('users-resumes-scores', 'keeps one row a resume, however often it runs', async () => {
	const resumes = query(
		`SELECT resumes.id AS resumeId, title, users.id AS userId, email
		FROM resumes JOIN users ON users.id = user_id ORDER BY resumes.id`,
	);
	for (const time of ['first', 'second']) {
		const execution = await run('users-resumes-scores', 'Start');
		expect([time, execution.status]).toEqual([time, 'success']);
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
		const rows = await instance.readTable('Resume scores');
		const kept = rows
			.map(({ resumeId, title, userId, email }) => ({ resumeId, title, userId, email }))
			.sort((a, b) => (String(a.resumeId) < String(b.resumeId) ? -1 : 1));
		expect(kept).toEqual(resumes);
		expect(rows.every(({ score }) => typeof score === 'number' && score > 0)).toBe(true);
	}
});

example('section-saved-score', 'writes a verdict down when a section is saved', async () => {
	const [section] = query("SELECT id FROM sections WHERE resume_id = 'resume-001'");
	instance.sandbox.webhooks.saveSection(String(section!.id), { content: 'To be written.' });
	for (;;) {
		const rows = await instance.readTable('Resume scores');
		const row = rows.find(({ resumeId }) => resumeId === 'resume-001');
		if (row?.verdict) return expect(row).toMatchObject({ userId: 'user-001' });
		await sleep(100);
	}
});

describe('upgrade-after-payment.json', () => {
	/** Sends a payment; answers its rows. */
	async function pay(id: string, email: string, planId: string) {
		const answer = await post('upgrade-after-payment', { id, email, planId });
		expect([answer.status, answer.data]).toEqual([200, { status: 'success' }]);
		return await ledger(id);
	}

	async function ledger(paymentId: string) {
		const rows = await instance.readTable('Plan upgrades');
		return rows
			.filter((row) => row.paymentId === paymentId)
			.sort((one, other) => Number(one.id) - Number(other.id));
	}

	const billed = (email: string) => query('SELECT plan_id FROM upgrades WHERE email = ?', email);
	const ava = 'ava.rossi@example.com';
	const ethan = 'ethan.dubois@example.com';
	const sophia = 'sophia.keller@example.com';
	const mason = 'mason.silva@example.com';

	example('upgrade-after-payment', 'upgrades once for a payment that comes twice', async () => {
		expect(await pay('pay_1', ava, SANDBOX_PLANS.pro)).toEqual([
			expect.objectContaining({
				email: ava,
				planId: SANDBOX_PLANS.pro,
				state: 'upgraded',
				detail: expect.stringMatching(/^plan_pro until \d{4}-\d\d-\d\d$/),
			}),
		]);
		const rows = await pay('pay_1', ava, SANDBOX_PLANS.pro);
		expect(rows.map(({ state }) => state)).toEqual(['upgraded', 'repeated']);
		expect(billed(ava)).toEqual([{ plan_id: SANDBOX_PLANS.pro }]);
	});

	example('upgrade-after-payment', 'upgrades once for deliveries at the same moment', async () => {
		const payment = { id: 'pay_5', email: mason, planId: SANDBOX_PLANS.pro };
		const deliveries = Array.from({ length: 5 }, () => post('upgrade-after-payment', payment));
		await Promise.all(deliveries);
		const states = (await ledger('pay_5')).map(({ state }) => state);
		expect(states.sort()).toEqual([...Array<string>(4).fill('repeated'), 'upgraded']);
		expect(billed(mason)).toHaveLength(1);
	});

	example('upgrade-after-payment', 'notes why an upgrade was refused', async () => {
		const [row] = await pay('pay_2', ethan, 'plan_unknown');
		expect(row).toMatchObject({
			state: 'refused',
			detail: expect.stringContaining('wrong plan ID (plan-upgrade-2)'),
		});
		expect(billed(ethan)).toEqual([]);
	});

	example('upgrade-after-payment', 'notes that the outcome is unknown', async () => {
		instance.sandbox.faults.add({ path: '/plan/upgrade', drop: 'after', times: 1 });
		const [row] = await pay('pay_3', sophia, SANDBOX_PLANS.pro);
		expect(row).toMatchObject({
			state: 'unknown',
			detail: expect.stringContaining('Outcome unknown'),
		});
		expect(billed(sophia)).toHaveLength(1);
	});

	example('upgrade-after-payment', 'takes nothing from a caller without the secret', async () => {
		const body = { id: 'pay_4', email: ethan, planId: SANDBOX_PLANS.pro };
		expect((await post('upgrade-after-payment', body, 'a guess')).status).toBe(403);
		expect(await ledger('pay_4')).toEqual([]);
		expect(billed(ethan)).toEqual([]);
	});
});

describe('onboarding.json', () => {
	/** The seed gives this user no resume. */
	const user = { id: 'user-012', email: 'oliver.horvat@example.com' };
	const resumes = () => query('SELECT id, title FROM resumes WHERE user_id = ?', user.id);

	example('onboarding', 'creates one resume, and a token for each call', async () => {
		expect(resumes()).toEqual([]);
		const body = { email: user.email.toUpperCase(), title: 'CV' };
		for (const call of ['first', 'second']) {
			const { status, data } = await post('onboarding', body);
			expect([call, status]).toEqual([call, 200]);
			const [resume, ...others] = resumes();
			expect([resume!.title, others]).toEqual(['CV', []]);
			expect(data).toEqual({ userId: user.id, resumeId: resume!.id, token: expect.any(String) });
			const claims = Buffer.from(data.token.split('.')[1], 'base64url').toString();
			expect(JSON.parse(claims)).toMatchObject({ sub: user.id, email: user.email });
		}
	});

	example('onboarding', 'answers that a user is unknown, and keeps no token', async () => {
		const { status, data } = await post('onboarding', { email: 'nobody@example.com' });
		expect([status, data]).toEqual([404, { message: 'The service has no user with this e-mail.' }]);
		const { api, exampleId } = instance;
		// n8n removes an execution once it has answered.
		while ((await api.listExecutions(exampleId('onboarding'))).length > 0) await sleep(100);
	});
});

example('export-pdfs', 'writes a file for each resume that can be downloaded', async () => {
	const broken = 'resume-007';
	instance.sandbox.faults.add({
		path: `/resume/${broken}/download`,
		answer: { status: 404, body: '' },
	});
	const execution = await run('export-pdfs', 'Start');
	instance.sandbox.faults.clear();
	expect(execution.status).toBe('success');

	const resumes = query('SELECT id FROM resumes ORDER BY id').map(({ id }) => String(id));
	const files = (await readdir(instance.filesFolder)).sort();
	expect(files).toEqual(resumes.filter((id) => id !== broken).map((id) => `${id}.pdf`));
	for (const file of files) {
		const content = await readFile(join(instance.filesFolder, file), 'latin1');
		expect([file, content.slice(0, 5)]).toEqual([file, '%PDF-']);
	}
	expect(outputOf(execution, 'Not exported').map(({ json }) => json)).toEqual([
		{ resumeId: broken, reason: expect.stringContaining('nothing at this address') },
	]);
});

/** What a published workflow calls has to be published, too; n8n 1 neither asks for it nor allows it. */
async function publishBatch(): Promise<void> {
	tested.add('nightly-sync-batch');
	if (process.env.TESTED_N8N === '1') return;
	await instance.api.activateWorkflow(instance.exampleId('nightly-sync-batch'));
}

describe('nightly-sync.json', () => {
	const outcome = (execution: Execution) => outputOf(execution, 'Summary')[0]?.json;
	const sync = async () => await run('nightly-sync', 'Every night');
	const rowsBy = async () => {
		const rows = await instance.readTable('Synced resumes');
		return new Map(rows.map((row) => [row.resumeId, row]));
	};
	const resumes = () => query('SELECT id FROM resumes').map(({ id }) => id);

	example('nightly-sync', 'lists what failed, and tries it again in the next run', async () => {
		const { faults } = instance.sandbox;
		const gone = { status: 404, body: '' };
		faults.add({ path: '/user/user-001/resumes', answer: gone });
		faults.add({ path: '/resume/resume-010', answer: gone });
		faults.add({ path: '/resume/resume-020/score', answer: gone });
		const first = await sync();
		faults.clear();
		expect(first.status).toBe('error');
		expect(first.data.resultData.error?.message).toMatch(/^3 of the users and resumes could not/);
		expect(outcome(first)).toMatchObject({
			state: 'done in part',
			users: 60,
			resumes: resumes().length - 2,
			saved: resumes().length - 3,
			gone: '',
			failures: 3,
		});
		expect(String(outcome(first)!.failed).split('\n')).toEqual([
			expect.stringMatching(/^Their resumes of user-001: .*nothing at this address/),
			expect.stringMatching(/^Whole resume of resume-010: .*nothing at this address/),
			expect.stringMatching(/^Score of resume-020: .*nothing at this address/),
		]);

		const second = await sync();
		expect(second.status).toBe('success');
		expect(outcome(second)).toMatchObject({
			state: 'done',
			users: 60,
			resumes: resumes().length,
			saved: 3,
			gone: '',
			failures: 0,
		});
		expect(Array.from((await rowsBy()).keys()).sort()).toEqual(resumes().sort());
	});

	example('nightly-sync', 'writes nothing when nothing has changed', async () => {
		const before = await rowsBy();
		const execution = await sync();
		expect(execution.status).toBe('success');
		expect(outcome(execution)).toMatchObject({ resumes: resumes().length, saved: 0 });
		expect(await rowsBy()).toEqual(before);

		// Of a batch, the night keeps one item, however many resumes there are.
		const { runData } = execution.data.resultData;
		const batches = runData['Sync a batch']!.map(({ data }) => data?.main?.[0]?.length);
		expect(batches).toEqual([1]);
	});

	example('nightly-sync', 'saves what has changed, whatever the order of its fields', async () => {
		const before = await rowsBy();
		const [section] = query("SELECT id FROM sections WHERE resume_id = 'resume-030'");
		instance.sandbox.webhooks.saveSection(String(section!.id), { content: 'Rewritten.' });
		// The same content, in another order and with another `updated`.
		const data = instance.sandbox.database
			.prepare("SELECT created, title, user_id AS userId, id FROM resumes WHERE id = 'resume-031'")
			.get();
		const sections = query(
			"SELECT content, title, type, id FROM sections WHERE resume_id = 'resume-031' ORDER BY position",
		);
		const body = JSON.stringify({ data: { sections, updated: 1, ...data }, status: 'success' });
		instance.sandbox.faults.add({ path: '/resume/resume-031', answer: { status: 200, body } });
		const execution = await sync();
		instance.sandbox.faults.clear();

		expect(outcome(execution)).toMatchObject({ saved: 1, failures: 0 });
		const after = await rowsBy();
		const changed = Array.from(after.values()).filter(
			({ resumeId, hash }) => before.get(resumeId)?.hash !== hash,
		);
		expect(changed.map(({ resumeId }) => resumeId)).toEqual(['resume-030']);
		expect(after.size).toBe(before.size);
	});

	example('nightly-sync', 'runs by its schedule once it is active', async () => {
		const { api, exampleId } = instance;
		const id = exampleId('nightly-sync');
		const { nodes } = await api.readWorkflow(id);
		const soon = { rule: { interval: [{ field: 'seconds', secondsInterval: 15 }] } };
		await api.updateWorkflow(id, {
			nodes: nodes.map((node) =>
				node.name === 'Every night' ? { ...node, parameters: soon } : node,
			),
		});
		const nights = async () =>
			(await instance.readTable('Sync nights')).filter(({ state }) => state === 'done').length;
		const known = await nights();
		await publishBatch();
		await api.activateWorkflow(id);
		// n8n keeps no execution of it that has succeeded.
		while ((await nights()) === known) await sleep(200);
		await api.deactivateWorkflow(id);
	});
});

describe('nightly-sync-across-workers.json', () => {
	example('nightly-sync-across-workers', 'has each batch done by a request to itself', async () => {
		const { api, exampleId, n8n } = instance;
		const id = exampleId('nightly-sync-across-workers');
		const { nodes } = await api.readWorkflow(id);
		const hook = nodes.find(({ type }) => type === 'n8n-nodes-base.webhook')!.parameters.path;
		const set: Record<string, unknown> = {
			usersPerBatch: 20,
			batchesAtOnce: 2,
			batchUrl: `${n8n.url}/webhook/${String(hook)}`,
		};
		await api.updateWorkflow(id, { nodes: nodes.map((node) => withSettings(node, set)) });
		await publishBatch();
		await api.activateWorkflow(id);
		const [section] = query("SELECT id FROM sections WHERE resume_id = 'resume-040'");
		instance.sandbox.webhooks.saveSection(String(section!.id), { content: 'Written once more.' });
		instance.sandbox.faults.add({
			path: '/user/user-002/resumes',
			answer: { status: 404, body: '' },
		});
		const execution = await run('nightly-sync-across-workers', 'Every night');
		instance.sandbox.faults.clear();
		await api.deactivateWorkflow(id);
		expect(outputOf(execution, 'Summary')[0]?.json).toMatchObject({
			users: 60,
			saved: 1,
			gone: '',
			failures: 1,
			failed: expect.stringMatching(/^Their resumes of user-002: /),
		});
		const { runData } = execution.data.resultData;
		const sent = runData['Send a batch']!.map(({ data }) => data?.main?.[0]?.length);
		expect(sent).toEqual([2, 1]);
	});
});

example('agent-user-questions', 'answers with what its tools have looked up', async () => {
	const { api, exampleId } = instance;
	const id = exampleId('agent-user-questions');
	await setModel('agent-user-questions');
	await api.updateWorkflow(id, {
		pinData: { Chat: [{ json: { chatInput: 'Which score has Emma?', sessionId: 'one' } }] },
	});
	model.script([
		[{ name: 'List_users', arguments: { search: 'emma' } }],
		[{ name: 'List_resumes', arguments: { userId: 'user-001' } }],
		[{ name: 'Get_a_score', arguments: { resumeId: 'resume-001' } }],
		'The answer.',
	]);
	const execution = await run('agent-user-questions', 'Chat');
	expect(execution.status).toBe('success');
	expect(outputOf(execution, 'Agent')[0]?.json.output).toBe('The answer.');

	const answers = model.requests.at(-1)!.messages.filter(({ role }) => role === 'tool');
	expect(answers.map(({ content }) => content)).toEqual([
		expect.stringContaining('user-001'),
		expect.stringContaining('resume-001'),
		expect.stringContaining('score'),
	]);
	expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
});

describe('agent-upgrade-after-approval.json', () => {
	const file = 'agent-upgrade-after-approval';
	const email = 'lucas.weber@example.com';
	const upgrade = { toolParameters: { email, planId: SANDBOX_PLANS.pro }, hitlParameters: {} };

	/** Sends the form, for which the agent then wants an upgrade; answers what the mail's buttons do. */
	async function ask() {
		const { api, exampleId, n8n } = instance;
		const { active, nodes } = await api.readWorkflow(exampleId(file));
		if (!active) {
			await setModel(file);
			const server = { host: '127.0.0.1', port: mail.port, secure: false, disableStartTls: true };
			await setCredential(file, 'smtp', server);
			await api.activateWorkflow(exampleId(file));
		}
		model.script([
			[{ name: 'List_users', arguments: { search: 'lucas' } }],
			[{ name: 'Upgrade_a_plan', arguments: upgrade }],
			'The outcome.',
		]);
		const before = mail.mails.length;
		const form = new FormData();
		form.set('field-0', `Please upgrade ${email} to ${SANDBOX_PLANS.pro}.`);
		const { webhookId } = nodes.find(({ name }) => name === 'Request')!;
		await axios.post(`${n8n.url}/form/${webhookId}`, form, { proxy: false });
		while (mail.mails.length === before) await sleep(100);
		// n8n sends the mail just before it waits for the answer.
		while ((await api.listExecutions(exampleId(file)))[0]?.status !== 'waiting') await sleep(100);
		const { to, html } = mail.mails.at(-1)!;
		expect(to).toEqual([expect.objectContaining({ address: 'billing@example.com' })]);
		expect(html).toContain(
			`The agent wants to upgrade ${email} to the plan ${SANDBOX_PLANS.pro}. This may charge a payment.`,
		);
		const press = async (label: string) => {
			const [, link] = new RegExp(`href="([^"]+)"[^>]*>${label}</a>`).exec(html!)!;
			// n8n does nothing for robots.
			const headers = {
				'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
			};
			const url = link!.replaceAll('&amp;', '&');
			return await axios.get<string>(url, { headers, proxy: false, validateStatus: null });
		};
		return press;
	}

	/** Waits for the end of the last run; answers what the agent was told of its upgrade. */
	async function told(): Promise<string> {
		const { api, exampleId } = instance;
		const [newest] = await api.listExecutions(exampleId(file));
		const execution = await api.waitForExecution(newest!.id);
		expect(execution.status).toBe('success');
		expect(outputOf(execution, 'Agent')[0]?.json.output).toBe('The outcome.');
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
		const answers = model.requests.at(-1)!.messages.filter(({ role }) => role === 'tool');
		return answers.at(-1)!.content!;
	}

	const bills = () => query('SELECT plan_id FROM upgrades WHERE email = ?', email);
	const requests = () => instance.sandbox.requests.filter(({ url }) => url === '/v1/plan/upgrade');

	example(file, 'sends nothing before an answer, nor after a refusal', async () => {
		const before = requests().length;
		const press = await ask();
		expect(requests()).toHaveLength(before);
		await press('Decline');
		expect(await told()).toContain('User rejected the tool call to Upgrade a plan');
		// The answer is given.
		await press('Approve');
		expect(requests()).toHaveLength(before);
		expect(bills()).toEqual([]);
	});

	example(file, 'upgrades once after an approval, however often it is given', async () => {
		const before = requests().length;
		const press = await ask();
		expect(requests()).toHaveLength(before);
		await Promise.all([press('Approve'), press('Approve')]);
		expect(await told()).toContain(SANDBOX_PLANS.pro);
		await press('Approve');
		expect(requests()).toHaveLength(before + 1);
		expect(bills()).toEqual([{ plan_id: SANDBOX_PLANS.pro }]);
	});
});

describe('mcp-server-read-only.json', () => {
	const file = 'mcp-server-read-only';
	const token = 'a long random token';

	async function connect(given: string): Promise<Client> {
		const client = new Client({ name: 'test', version: '1.0.0' });
		const requestInit = { headers: { Authorization: `Bearer ${given}` } };
		const url = new URL(`${instance.n8n.url}/mcp/resume-management`);
		await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
		return client;
	}

	example(file, 'lets an MCP client read, and nothing else', async () => {
		const { api, exampleId, sandbox } = instance;
		await setCredential(file, 'httpBearerAuth', { token });
		await api.activateWorkflow(exampleId(file));
		await expect(connect('a guess')).rejects.toThrow('Authorization data is wrong!');

		const client = await connect(token);
		const { tools } = await client.listTools();
		expect(tools.map(({ name }) => name).sort()).toEqual([
			'Get_a_resume',
			'Get_a_score',
			'Get_a_user',
			'List_resumes',
			'List_users',
		]);
		for (const { description } of tools) expect(description).toMatch(/Changes nothing\.$/);

		const before = sandbox.requests.length;
		const call = async (name: string, args: Record<string, string>) => {
			const { content } = await client.callTool({ name, arguments: args });
			return JSON.stringify(content);
		};
		expect(await call('List_users', { search: 'emma' })).toContain('user-001');
		expect(await call('Get_a_user', { userId: 'user-001' })).toContain('emma.larsen@example.com');
		expect(await call('List_resumes', { userId: 'user-001' })).toContain('resume-001');
		expect(await call('Get_a_resume', { resumeId: 'resume-001' })).toContain('sections');
		expect(await call('Get_a_score', { resumeId: 'resume-001' })).toContain('score');
		expect(await call('Get_a_user', { userId: 'nobody' })).toContain('There is no user nobody.');
		await client.callTool({ name: 'Upgrade', arguments: {} }).catch(() => {});
		await client.close();
		await api.deactivateWorkflow(exampleId(file));
		const sent = sandbox.requests.slice(before).map(({ method }) => method);
		expect(sent).toEqual(Array(6).fill('GET'));
		for (const execution of await api.waitForExecutions(exampleId(file), 1)) {
			expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
			expect(execution.storedData).not.toContain(token);
		}
	});
});

describe('new-or-changed-users.json', () => {
	const file = 'new-or-changed-users';
	const poll = async () => await run(file, 'Every 15 minutes');
	/** What came to the step for changes. */
	const found = (...executions: Execution[]) =>
		executions.flatMap((execution) =>
			outputOf(execution, 'Your step').map(({ json }) => [json.userId, json.change]),
		);
	const rename = (id: string, name: string) =>
		instance.sandbox.database.prepare('UPDATE users SET last_name = ? WHERE id = ?').run(name, id);
	const runs = async () => (await instance.readTable('User checks')).map(({ state }) => state);

	example(file, 'only remembers at first, then hands on each change once', async () => {
		const first = await poll();
		expect([first.status, found(first)]).toEqual(['success', []]);
		const ids = query('SELECT id FROM users ORDER BY id').map(({ id }) => id);
		const known = (await instance.readTable('Known users')).map(({ userId }) => userId);
		expect(known.sort()).toEqual(ids);
		expect(found(await poll())).toEqual([]);

		rename('user-020', 'Changed');
		instance.sandbox.database
			.prepare(
				`INSERT INTO users (id, email, first_name, last_name, created)
				VALUES ('user-new', 'new.user@example.com', 'New', 'User', 0)`,
			)
			.run();
		expect(found(await poll()).sort()).toEqual([
			['user-020', 'changed'],
			['user-new', 'new'],
		]);
		expect(found(await poll())).toEqual([]);
		expect(await runs()).toEqual(['done']);
	});

	example(file, 'loses no change to a list that can not be read', async () => {
		rename('user-021', 'Changed');
		instance.sandbox.faults.add({ path: '/users', answer: { status: 500, body: '' } });
		const failed = await poll();
		instance.sandbox.faults.clear();
		expect([failed.status, found(failed)]).toEqual(['error', []]);
		expect(found(await poll())).toEqual([['user-021', 'changed']]);
	});

	example(file, 'hands on a change again if what follows has failed', async () => {
		const { api, exampleId } = instance;
		const { nodes } = await api.readWorkflow(exampleId(file));
		const failing = nodes.map((node) =>
			node.name === 'Your step'
				? {
						...node,
						type: 'n8n-nodes-base.stopAndError',
						parameters: { errorMessage: 'The step fails' },
					}
				: node,
		);
		rename('user-022', 'Changed');
		await api.updateWorkflow(exampleId(file), { nodes: failing });
		expect((await poll()).status).toBe('error');
		await api.updateWorkflow(exampleId(file), { nodes });

		// The failed run counts as at work until its row is deleted, as the note says.
		expect(found(await poll())).toEqual([]);
		const tables = await api.listDataTables();
		const table = tables.find(({ name }) => name === 'User checks')!;
		await api.deleteRows(table.id, 'state', 'running');
		expect(found(await poll())).toEqual([['user-022', 'changed']]);
	});

	example(file, 'hands on a change once when two runs are at work at once', async () => {
		for (let round = 0; round < 5; round++) {
			rename('user-023', `Round ${round}`);
			const together = await Promise.all([poll(), poll()]);
			// Each may have left it to the other.
			const after = await poll();
			expect(found(...together, after)).toEqual([['user-023', 'changed']]);
		}
		expect(await runs()).toEqual(['done']);
	});
});

it('runs every workflow of the folder', async () => {
	const files = await readdir(join(projectRoot, 'workflows'));
	expect(files.sort()).toEqual(Array.from(tested, (file) => `${file}.json`).sort());
});
