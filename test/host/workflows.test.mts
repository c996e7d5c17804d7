import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import axios from 'axios';
import type { INode } from 'n8n-workflow';
import { projectRoot } from '../../host/paths.mts';
import type { CredentialDefinition, Execution } from '../../host/rest.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startMailServer, type MailServer } from '../support/mailServer.mts';
import { startScriptedModel, type ScriptedModel } from '../support/scriptedModel.mts';
import {
	addExamples,
	joinInstance,
	outputOf,
	tested,
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

/** With those that sync.test.mts runs, and that others call. */
const known = new Set(['nightly-sync', 'nightly-sync-batch']);

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

/** The production URL of an example that begins with a Webhook node. */
async function urlOf(file: string): Promise<string> {
	const { nodes } = await instance.api.readWorkflow(instance.exampleId(file));
	const { path } = nodes.find(({ type }) => type === 'n8n-nodes-base.webhook')!.parameters;
	return `${instance.url}/webhook/${String(path)}`;
}

async function post(file: string, body: object, secret = webhookSecret) {
	const headers = { 'X-Webhook-Secret': secret };
	const options = { headers, proxy: false, validateStatus: null } as const;
	return await axios.post(await urlOf(file), body, options);
}

example('plan-upgrade', 'upgrades whom it can and says why it could not', async () => {
	const execution = await run('plan-upgrade', 'Start');
	expect(execution.status).toBe('success');
	expect(instance.query('SELECT email, plan_id AS plan FROM upgrades ORDER BY id')).toMatchObject([
		{ email: 'emma.larsen@example.com', plan: SANDBOX_PLANS.premium },
		{ email: 'noah.fischer@example.com', plan: pro },
	]);
	expect(jsonOf(execution, 'Upgraded').map(({ summary }) => summary)).toEqual([
		expect.stringMatching(/^emma\.larsen@example\.com is on plan_premium until \d{4}-\d\d-\d\d\.$/),
		expect.stringMatching(/^noah\.fischer@example\.com is on plan_pro until \d{4}-\d\d-\d\d\.$/),
	]);
	const summary =
		/^olivia\.martin@example\.com was not upgraded to plan_that_does_not_exist: .*wrong plan ID/;
	expect(jsonOf(execution, 'Not upgraded')).toEqual([
		expect.objectContaining({ code: 'plan-upgrade-2', summary: expect.stringMatching(summary) }),
	]);
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

describe('section-saved-score.json', () => {
	const file = 'section-saved-score';
	const good = '- Led eight people, and cut the time of delivery by 40 percent\n'.repeat(8);
	const rowsOf = async (...resumes: string[]) =>
		(await instance.readTable('Resume scores')).filter(({ resumeId }) =>
			resumes.includes(String(resumeId)),
		);
	let count = 0;
	/** Waits for so many more executions; answers them. */
	const executions = async (more: number) => {
		const all = await instance.api.waitForExecutions(instance.exampleId(file), (count += more));
		return all.slice(-more);
	};

	example(file, 'writes score and verdict into one row a resume', async () => {
		const sql = "SELECT id FROM sections WHERE resume_id = 'resume-001'";
		const sections = instance.query(sql).map(({ id }) => String(id));
		for (const [content, verdict] of [
			['To be written.', 'needs work'],
			[good, 'good enough'],
		] as const) {
			for (const id of sections) {
				instance.sandbox.webhooks.saveSection(id, { title: 'Experience', content });
			}
			for (const { status } of await executions(sections.length)) expect(status).toBe('success');
			expect(await rowsOf('resume-001')).toMatchObject([{ userId: 'user-001', verdict }]);
		}

		// Delivered twice, it writes the same.
		const [{ updatedAt: _, ...before }] = (await rowsOf('resume-001')) as [Record<string, unknown>];
		const [delivery] = instance.sandbox.webhooks.deliveries();
		instance.sandbox.webhooks.redeliver(delivery!.id);
		const [again] = await executions(1);
		expect(jsonOf(again!, 'Section saved')).toMatchObject([{ deliveryId: delivery!.eventId }]);
		expect(await rowsOf('resume-001')).toMatchObject([before]);
	});
});

describe('upgrade-after-payment.json', () => {
	const file = 'upgrade-after-payment';
	const [ava, mason, ethan, sophia] = [
		...['ava.rossi@example.com', 'mason.silva@example.com'],
		...['ethan.dubois@example.com', 'sophia.keller@example.com'],
	] as [string, string, string, string];

	beforeAll(async () => await activate(file));

	/** Sends a payment; answers its rows. */
	async function pay(id: string, email: string, planId = pro) {
		const { status, data } = await post(file, { id, email, planId });
		expect([status, data]).toEqual([200, { status: 'success' }]);
		return await ledger(id);
	}

	async function ledger(id: string) {
		const rows = await instance.readTable('Plan upgrades');
		const own = rows.filter(({ paymentId }) => paymentId === id);
		return own.sort((one, other) => Number(one.id) - Number(other.id));
	}

	example(file, 'upgrades once for a payment that comes twice', async () => {
		const detail = expect.stringMatching(/^plan_pro until \d{4}-\d\d-\d\d$/) as string;
		const row = { email: ava, planId: pro, state: 'upgraded', detail };
		expect(await pay('pay_1', ava)).toEqual([expect.objectContaining(row)]);
		expect(await pay('pay_1', ava)).toMatchObject([row, { state: 'repeated' }]);
		expect(instance.billed(ava)).toBe(1);
	});

	example(file, 'upgrades once for deliveries at the same moment', async () => {
		await Promise.all(Array.from({ length: 5 }, () => pay('pay_5', mason)));
		const states = (await ledger('pay_5')).map(({ state }) => state);
		expect(states.sort()).toEqual([...Array<string>(4).fill('repeated'), 'upgraded']);
		expect(instance.billed(mason)).toBe(1);
	});

	example(file, 'notes why an upgrade was refused, or that its outcome is unknown', async () => {
		const [refused] = await pay('pay_2', ethan, 'plan_unknown');
		expect(refused!.state).toBe('refused');
		expect(refused!.detail).toContain('wrong plan ID (plan-upgrade-2)');
		instance.sandbox.faults.add({ path: '/plan/upgrade', drop: 'after', times: 1 });
		const [unknown] = await pay('pay_3', sophia);
		expect(unknown!.state).toBe('unknown');
		expect(unknown!.detail).toContain('Outcome unknown');
		expect([ethan, sophia].map(instance.billed)).toEqual([0, 1]);
	});

	example(file, 'takes nothing from a caller without the secret', async () => {
		const { status } = await post(file, { id: 'pay_4', email: ethan, planId: pro }, 'a guess');
		expect([status, await ledger('pay_4'), instance.billed(ethan)]).toEqual([403, [], 0]);
	});
});

describe('onboarding.json', () => {
	/** The seed gives this user no resume. */
	const user = { id: 'user-012', email: 'oliver.horvat@example.com' };
	const resumes = () => instance.query('SELECT id, title FROM resumes WHERE user_id = ?', user.id);

	beforeAll(async () => await activate('onboarding'));

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
	const question = { chatInput: 'Which score has Emma?', sessionId: 'one' };
	const pinData = { Chat: [{ json: question }] };
	await instance.api.updateWorkflow(instance.exampleId(file), { pinData });
	model.script([
		[{ name: 'List_users', arguments: { search: 'emma' } }],
		[{ name: 'List_resumes', arguments: { userId: 'user-001' } }],
		[{ name: 'Get_a_score', arguments: { resumeId: 'resume-001' } }],
		'The answer.',
	]);
	const execution = await run(file, 'Chat');
	expect(jsonOf(execution, 'Agent')).toMatchObject([{ output: 'The answer.' }]);
	const answers = ['user-001', 'resume-001', 'score'];
	expect(told()).toEqual(answers.map((text) => expect.stringContaining(text) as string));
	expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
});

describe('agent-upgrade-after-approval.json', () => {
	const email = 'lucas.weber@example.com';
	const upgrade = { toolParameters: { email, planId: pro }, hitlParameters: {} };
	const sent = () => instance.sandbox.requests.filter(({ url }) => url === '/v1/plan/upgrade');

	/** Sends the form, for which the agent then wants an upgrade; answers what the mail's buttons do. */
	async function ask() {
		const { api, exampleId, url } = instance;
		const { active, nodes } = await api.readWorkflow(exampleId(only2));
		if (!active) {
			await setModel(only2);
			const server = { host: '127.0.0.1', port: mail.port, secure: false, disableStartTls: true };
			await setCredential(only2, 'smtp', server);
			await activate(only2);
		}
		model.script([
			[{ name: 'List_users', arguments: { search: 'lucas' } }],
			[{ name: 'Upgrade_a_plan', arguments: upgrade }],
			'The outcome.',
		]);
		instance.sandbox.requests.length = 0;
		mail.mails.length = 0;
		const form = new FormData();
		form.set('field-0', `Please upgrade ${email} to ${pro}.`);
		const { webhookId } = nodes.find(({ name }) => name === 'Request')!;
		await axios.post(`${url}/form/${webhookId}`, form, { proxy: false });
		while (mail.mails.length === 0) await sleep(100);
		// n8n sends the mail just before it waits for the answer.
		while ((await api.listExecutions(exampleId(only2)))[0]?.status !== 'waiting') await sleep(100);
		expect(sent()).toEqual([]);
		const [{ to, html }] = mail.mails as [MailServer['mails'][number]];
		expect(to).toMatchObject([{ address: 'billing@example.com' }]);
		expect(html).toContain(
			`The agent wants to upgrade ${email} to the plan ${pro}. This may charge a payment.`,
		);
		return async (label: string) => {
			const [, link] = new RegExp(`href="([^"]+)"[^>]*>${label}</a>`).exec(html!)!;
			// n8n does nothing for robots.
			const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
			const options = { headers: { 'User-Agent': agent }, proxy: false, validateStatus: null };
			await axios.get(link!.replaceAll('&amp;', '&'), options as object);
		};
	}

	/** Waits for the end of the last run; answers what the agent was told of its upgrade. */
	async function outcome() {
		const [newest] = await instance.api.listExecutions(instance.exampleId(only2));
		const execution = await instance.api.waitForExecution(newest!.id);
		expect(jsonOf(execution, 'Agent')).toMatchObject([{ output: 'The outcome.' }]);
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
		return told().at(-1);
	}

	example(only2, 'sends nothing before an answer, nor after a refusal', async () => {
		const press = await ask();
		await press('Decline');
		expect(await outcome()).toContain('User rejected the tool call to Upgrade a plan');
		// The answer is given.
		await press('Approve');
		expect(sent()).toEqual([]);
	});

	example(only2, 'upgrades once after an approval, however often it is given', async () => {
		const press = await ask();
		await Promise.all([press('Approve'), press('Approve')]);
		expect(await outcome()).toContain(pro);
		await press('Approve');
		expect([sent().length, instance.billed(email)]).toEqual([1, 1]);
	});
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
	const calls: Array<[tool: string, given: Record<string, string>, answer: string]> = [
		['Get_a_resume', { resumeId: 'resume-001' }, 'sections'],
		['Get_a_score', { resumeId: 'resume-001' }, 'score'],
		['Get_a_user', { userId: 'user-001' }, 'emma.larsen@example.com'],
		['List_resumes', { userId: 'user-001' }, 'resume-001'],
		['List_users', { search: 'emma' }, 'user-001'],
	];
	const { tools } = await client.listTools();
	expect(tools.map(({ name }) => name).sort()).toEqual(calls.map(([name]) => name));
	for (const { description } of tools) expect(description).toMatch(/Changes nothing\.$/);
	calls.push(['Get_a_user', { userId: 'nobody' }, 'There is no user nobody.']);
	for (const [name, given, answer] of calls) {
		const { content } = await client.callTool({ name, arguments: given });
		expect(JSON.stringify(content)).toContain(answer);
	}
	await client.callTool({ name: 'Upgrade', arguments: {} }).catch(() => {});
	await client.close();
	await instance.api.deactivateWorkflow(instance.exampleId(file));
	const methods = instance.sandbox.requests.map(({ method }) => method);
	expect(methods).toEqual(calls.map(() => 'GET'));
	for (const { storedData } of await instance.api.waitForExecutions(instance.exampleId(file), 1)) {
		expect(storedData).not.toContain(SANDBOX_KEYS.live);
		expect(storedData).not.toContain(token);
	}
});

describe('new-or-changed-users.json', () => {
	const file = 'new-or-changed-users';
	const poll = async () => await run(file, 'Every 15 minutes');
	/** What came to the step for changes. */
	const found = (...executions: Execution[]) =>
		executions
			.flatMap((execution) => jsonOf(execution, 'Your step'))
			.map(({ userId, change }) => [userId, change])
			.sort();
	const rename = (id: string, name: string) =>
		instance.query('UPDATE users SET last_name = ? WHERE id = ?', name, id);
	const runs = async () => (await instance.readTable('User checks')).map(({ state }) => state);

	example(file, 'only remembers at first, then hands on each change once', async () => {
		const first = await poll();
		expect([first.status, found(first)]).toEqual(['success', []]);
		const ids = instance.query('SELECT id FROM users ORDER BY id').map(({ id }) => id);
		const users = (await instance.readTable('Known users')).map(({ userId }) => userId);
		expect(users.sort()).toEqual(ids);
		expect(found(await poll())).toEqual([]);

		rename('user-020', 'Changed');
		instance.query("INSERT INTO users VALUES ('user-new', 'new@example.com', 'New', 'User', 0, 0)");
		expect(found(await poll())).toEqual([
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
		const { nodes } = await instance.api.readWorkflow(instance.exampleId(file));
		const step = nodes.find(({ name }) => name === 'Your step')!;
		const put = async (other: INode) =>
			await change(file, (node) => (node.name === step.name ? other : node));
		const parameters = { errorMessage: 'The step fails' };
		rename('user-022', 'Changed');
		await put({ ...step, type: 'n8n-nodes-base.stopAndError', parameters });
		expect((await poll()).status).toBe('error');
		await put(step);

		// The failed run counts as at work until its row is deleted, as the note says.
		expect(found(await poll())).toEqual([]);
		await instance.deleteRows('User checks', 'state', 'running');
		expect(found(await poll())).toEqual([['user-022', 'changed']]);
	});

	example(file, 'hands on a change once when two runs are at work at once', async () => {
		for (let round = 0; round < 2; round++) {
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
	expect(files.sort()).toEqual(Array.from(known, (file) => `${file}.json`).sort());
});
