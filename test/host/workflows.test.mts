import { once } from 'node:events';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INode } from 'n8n-workflow';
import dataTables from '../../host/dataTables.json' with { type: 'json' };
import { projectRoot } from '../../host/paths.mts';
import type { CredentialDefinition, Execution } from '../../host/rest.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startMailServer, type MailServer } from '../support/mailServer.mts';
import { startScriptedModel, type ScriptedModel } from '../support/scriptedModel.mts';
import { http } from './examples.mts';
import { addExamples, joinInstance, outputOf, success, tested } from './instance.mts';
import type { Examples, SharedInstance } from './instance.mts';
import { webhookSecret } from './sharedN8n.mts';

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

/** Files of the examples that have a test. sync.test.mts runs the first three, and the others have files of their own. */
const known = new Set([
	...['nightly-sync', 'large-sync', 'large-sync-batch'],
	...['upgrade-after-payment', 'upgrade-after-approval'],
	...['settle-open-upgrades', 'upgrades-from-file'],
]);

const onlyInN8n2 = ['create-tables'];

function example(file: string, behaviour: string, run: () => Promise<void>): void {
	known.add(file);
	const test = onlyInN8n2.includes(file) && tested === '1' ? it.skip : it;
	test(`${file}.json ${behaviour}`, run, 240_000);
}

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

const setMail = async (file: string, port = mail.port) => {
	const server = { host: '127.0.0.1', port, secure: false, disableStartTls: true };
	await setCredential(file, 'smtp', server);
};

async function activate(file: string): Promise<void> {
	await instance.api.activateWorkflow(instance.exampleId(file));
}

/** Sends a request to an example's Webhook node, at the path `/webhook/<file or other path>`. */
async function post(path: string, body: object, secret = webhookSecret) {
	const headers = { 'X-Webhook-Secret': secret };
	return await http.post(`${instance.url}/webhook/${path}`, body, { headers });
}

/** All resumes with their users. */
const RESUMES = `SELECT users.id AS userId, email, resumes.id AS resumeId, title
	FROM users JOIN resumes ON users.id = user_id ORDER BY resumes.id`;

/** Returns a user who is on no first page of a list. */
const somebody = () =>
	instance.query(RESUMES)[70] as Record<'userId' | 'email' | 'resumeId', string>;

/** The first test: the others then use the tables that the example has made. */
example('create-tables', 'makes all tables, and keeps those there are', async () => {
	const { api, exampleId, runNode } = instance;
	type Columns = { column: Array<Record<'name' | 'type', string>> };
	const made = (await api.readWorkflow(exampleId('create-tables'))).nodes.flatMap(
		({ parameters: { tableName, columns } }) => {
			if (!tableName) return [];
			const types = (columns as unknown as Columns).column.map(({ name, type }) => [name, type]);
			return [[tableName, types]];
		},
	);
	expect(made).toEqual(
		Object.entries(dataTables).map(([name, types]) => [name, Object.entries(types)]),
	);
	const page = await readFile(join(projectRoot, 'docs', 'examples.md'), 'utf8');
	for (const [name, types] of Object.entries(dataTables)) {
		const columns = Object.entries(types).map(
			([column, type]) => `\`${column}\`${type === 'number' ? ' (number)' : ''}`,
		);
		expect(page).toContain(`- **${name}**: ${columns.join(', ')}\n`);
	}
	const tables = async () => (await api.listDataTables()).map(({ name }) => name).sort();
	for (const value of Object.keys(dataTables)) {
		const dataTableId = { __rl: true, mode: 'name', value } as const;
		const parameters = { resource: 'table', operation: 'delete', dataTableId };
		await runNode({ type: 'n8n-nodes-base.dataTable', typeVersion: 1.1, parameters });
	}
	expect(await tables()).toEqual([]);
	for (const time of ['first', 'second']) {
		expect([time, (await run('create-tables', 'Start')).status]).toEqual([time, 'success']);
		expect(await tables()).toEqual(Object.keys(dataTables).sort());
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
	const rows = (await readTable('Latest scores')).filter((row) => row.resumeId === 'resume-001');
	expect(rows).toMatchObject([{ userId: 'user-001', verdict: expect.any(String) }]);
});

example(
	'section-saved-score',
	'names the resume that has no score, and says what to do',
	async () => {
		const { api, exampleId, readTable, sandbox } = instance;
		const before = await readTable('Latest scores');
		const file = 'section-saved-score';
		const message = async () =>
			(await run(file, 'Section saved')).data.resultData.error!.message.split('\n');
		const { pinData } = await api.readWorkflow(exampleId(file));
		const sample = pinData!['Section saved']![0]!.json.data as { data: Record<string, string> };
		const { resumeId, userId } = sample.data;
		const name = `Resume ${resumeId} of user ${userId} was not scored`;
		sandbox.faults.add({ path: '/resume/*', ...success({ points: 50 }) });
		expect(await message()).toEqual([
			expect.stringMatching(
				`^${name}: the score is no number\\. Your fields are points\\. Enter the one that holds it in Judge the score, line 4\\. The next save`,
			),
		]);
		sandbox.faults.clear();
		sandbox.faults.add({ path: '/resume/*', ...success({ score: null }) });
		expect(await message()).toEqual([
			expect.stringMatching(`^${name}: the score is no number\\. It is null\\. If each resume`),
		]);
		sandbox.faults.clear();
		sandbox.faults.add({ path: '/resume/*', response: { status: 500 } });
		expect(await message()).toEqual([
			expect.stringMatching(
				`^${name}: The service had an internal error \\(HTTP 500\\)\\. When the service is back, the next save scores the resume\\. If this keeps`,
			),
		]);
		sandbox.faults.clear();
		sandbox.faults.add({ path: '/resume/*', response: { status: 404 } });
		expect(await message()).toEqual([
			expect.stringMatching(`^${name}: The service has nothing at this address .*Check the ID`),
		]);
		sandbox.faults.clear();
		const { nodes: asImported } = await api.readWorkflow(exampleId(file));
		const emptied = JSON.parse(JSON.stringify(asImported).replace('"value":60', '"value":""'));
		await api.updateWorkflow(exampleId(file), { nodes: emptied });
		expect(await message()).toEqual([
			expect.stringMatching(`^${name}: Enter your threshold in The resume\\. The next save`),
		]);
		await api.updateWorkflow(exampleId(file), { nodes: asImported });
		const json = structuredClone(pinData!['Section saved']![0]!.json);
		const receive = async (data: object) => {
			Object.assign(json.data as object, { data });
			await api.updateWorkflow(exampleId(file), { pinData: { 'Section saved': [{ json }] } });
		};
		// What the service reports is about the ID or the key.
		for (const [errorMessage, check] of [
			[
				'There is no such resume',
				'If no resume has this ID, check the field resumeId in The resume\\. The next',
			],
			['This key is not known', "Check the credential's Private Key\\. Then"],
		] as const) {
			const body = JSON.stringify({ status: 'error', errorMessage });
			sandbox.faults.add({ path: '/resume/*', response: { status: 200, body } });
			expect(await message()).toEqual([
				expect.stringMatching(`^${name}: The service reported: ${errorMessage}\\. ${check}`),
			]);
			sandbox.faults.clear();
		}
		await receive({ userId });
		const unnamed = `Resume without an ID of user ${userId} was not scored`;
		const enter =
			'Enter your field for the ID in The resume. Then the next save scores the resume. If the event Resume Section Saved is about no resume, choose another one in Section saved.';
		expect(await message()).toEqual([`${unnamed}: ${enter}`]);

		// One resume that can not be scored costs no other its row.
		const several = ['resume-010', 'resume-011', 'resume-012'].map((id) => {
			const copy = structuredClone(json);
			Object.assign(copy.data as object, { data: { resumeId: id, userId } });
			return { json: copy };
		});
		await api.updateWorkflow(exampleId(file), { pinData: { 'Section saved': several } });
		sandbox.faults.add({ path: '/resume/resume-010/score', response: { status: 404 } });
		sandbox.faults.add({ path: '/resume/resume-011/score', ...success({ score: null }) });
		expect(await message()).toEqual([
			expect.stringMatching(/^Resume resume-010 of user .* The next save scores the resume\.$/),
			'And 1 more: see the Error output of Judge the score.',
		]);
		sandbox.faults.clear();
		const kept = await readTable('Latest scores');
		expect(
			kept.filter(({ resumeId }) => !before.some((row) => row.resumeId === resumeId)),
		).toMatchObject([{ resumeId: 'resume-012' }]);
		await instance.deleteRows('Latest scores', 'resumeId', 'resume-012');

		// IDs with other names are entered in one node.
		const { nodes } = await api.readWorkflow(exampleId(file));
		await change(file, (node) => {
			const text = JSON.stringify(node.parameters)
				.replace('data.resumeId', 'resume.uuid')
				.replace('data.userId', 'owner.uuid');
			return node.name === 'The resume' ? { ...node, parameters: JSON.parse(text) } : node;
		});
		Object.assign(json.data as object, { resume: { uuid: resumeId }, owner: { uuid: 42 } });
		await receive({});
		sandbox.faults.add({ path: '/resume/*', response: { status: 500 } });
		expect(await message()).toEqual([
			expect.stringMatching(/^Resume resume-\d+ of user 42 was not scored: .* \(HTTP 500\)\. When/),
		]);
		sandbox.faults.clear();
		expect(await readTable('Latest scores')).toEqual(before);
		const saved = await run(file, 'Section saved');
		expect(jsonOf(saved, 'Save row')).toMatchObject([{ resumeId, userId: '42' }]);
		Object.assign(json.data as object, { owner: { uuid: '\0' } });
		await receive({});
		const cleaned = await run(file, 'Section saved');
		expect(jsonOf(cleaned, 'Save row')).toMatchObject([{ resumeId, userId: '\ufffd' }]);
		await api.updateWorkflow(exampleId(file), { nodes, pinData });
	},
);

example('tell-of-failures', 'sends an email that says what failed, with a link', async () => {
	const { api, exampleId, url } = instance;
	await setMail('tell-of-failures');
	// n8n 1 has nothing to activate in it.
	if (tested !== '1') await activate('tell-of-failures');
	const settings = { executionOrder: 'v1', errorWorkflow: exampleId('tell-of-failures') };
	await api.updateWorkflow(exampleId('upgrade-after-payment'), { settings });
	await activate('upgrade-after-payment');
	mail.mails.length = 0;
	await post('payment-received', {
		id: 'pay_sample',
		email: instance.emails[0],
		planId: 'plan_unknown',
		status: 'paid',
	});
	while (mail.mails.length === 0) await sleep(100);
	const [text] = mail.mails;
	expect(text).toContain('Subject: Failed: Upgrade a plan after a payment\n');
	const { pinData } = await api.readWorkflow(exampleId('tell-of-failures'));
	const sample = pinData!['Execution failed']![0]!.json.execution as { error: Error };
	expect(text).toContain(sample.error.message);
	expect(text).not.toContain('sample)');
	expect(text).toContain(`Execution: ${url}/workflow/${exampleId('upgrade-after-payment')}/`);
	const { json } = structuredClone(pinData!['Execution failed']![0]!);
	const tell = async (error: object) => {
		(json.execution as { error: object }).error = error;
		await api.updateWorkflow(exampleId('tell-of-failures'), {
			pinData: { 'Execution failed': [{ json }] },
		});
		return await run('tell-of-failures', 'Execution failed');
	};
	// n8n's own errors seldom say what to do.
	const where = /\nIf a table is missing, run "Create the tables"\./;
	await tell({ message: 'Data table with name "Latest scores" not found', description: null });
	expect(mail.mails.at(-1)).toMatch(where);
	await tell({ message: 'The credential was refused', description: 'Paste the key again.' });
	expect(mail.mails.at(-1)).toMatch(/\nThe credential was refused\nPaste the key again\.\n/);
	expect(mail.mails.at(-1)).not.toMatch(where);
	await tell({ message: 'Workflow did not finish, possible out-of-memory issue' });
	expect(mail.mails.at(-1)).toMatch(
		/issue\nn8n was ended while .* being sent, after ten minutes\.\n/,
	);
	// n8n's own place in a node's items or code helps nobody.
	await tell({ message: 'It failed [line 3]' });
	expect(mail.mails.at(-1)).toMatch(/\nIt failed\n/);
	expect(mail.mails.at(-1)).toMatch(/^Subject: Failed: .* \(sample\)\n/);
	expect(mail.mails.at(-1)).toContain('\nExecution: none, because this is a sample\n');
	await api.updateWorkflow(exampleId('tell-of-failures'), { pinData });
});

example('tell-of-failures', 'sends its email after a short outage of the mail server', async () => {
	const { api, exampleId } = instance;
	const { nodes } = await api.readWorkflow(exampleId('tell-of-failures'));
	let outages = 1;
	const server = createServer((client) => {
		if (outages-- > 0) return client.destroy();
		return client.pipe(connect(mail.port, '127.0.0.1')).pipe(client);
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	await setMail('tell-of-failures', (server.address() as AddressInfo).port);
	mail.mails.length = 0;
	expect((await run('tell-of-failures', 'Execution failed')).status).toBe('success');
	expect([mail.mails.length, outages]).toEqual([1, -1]);
	server.close();
	await api.updateWorkflow(exampleId('tell-of-failures'), { nodes });
});

example(
	'check-account',
	'says which fields the examples need, and where to enter them',
	async () => {
		const check = async () => {
			const execution = await run('check-account', 'Start');
			const rows = jsonOf(execution, 'Compare the fields');
			for (const row of rows)
				expect(Object.keys(row)).toEqual(['state', 'detail', 'record', 'field', 'examples']);
			const lines = rows.map((row) => `${row.field} ${row.state}. ${row.detail}`);
			return [execution.data.resultData.error?.message, ...lines];
		};
		const { faults, requests } = instance.sandbox;
		requests.length = 0;
		const found = Array(7).fill(expect.stringContaining(' found. ')) as unknown[];
		const all = 'All fields found. The examples need no change. Upgrades are not checked';
		expect(await check()).toEqual([undefined, all, ...found]);
		expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET']));
		expect(requests.length).toBeLessThan(40);

		const of = 'Your fields are userId, mail.';
		const nightly = 'the nightly sync (Their resumes, New or changed?, Save row)';
		faults.add({ path: '/users', ...success([{ userId: 'user-001', mail: 'x@y.z' }]) });
		faults.add({ path: '/resume/resume-001/score', response: { status: 404 } });
		expect(await check()).toEqual([
			expect.stringMatching(
				/^User has no field id\. Your .* Onboard .*Respond\)\.\nUser has no field email\. .*\nScore: The service has nothing at/,
			),
			expect.stringContaining(
				`id not found. ${of} Enter yours in Their resumes here, and in: ${nightly}, `,
			),
			`email not found. ${of} Enter yours in: Onboard (Get token). Ask your account manager for email. These need it: Upgrade plans from a file and Settle open upgrades (Find user), Onboard (The user), Answer questions, Upgrade a plan after a person approves, Let assistants look up (Find a user).`,
			expect.stringMatching(
				/^score error\. The service has nothing at this address .*Check the ID/,
			),
			...found.slice(3),
		]);

		// Without IDs, nothing else can be read: the first row says why.
		const unread = 'Not read, because the record before it is missing, has no ID';
		faults.clear();
		faults.add({ path: '/users', ...success([{ uid: 'user-001', mail: 'x@y.z' }]) });
		const [message, first, second, ...others] = await check();
		expect(message).toMatch(
			/^User has no field id\. Your fields are uid, mail\. Enter yours in Their/,
		);
		expect([first, second]).toEqual([
			expect.stringMatching(/^id not found\. Your fields are uid, mail\. Enter yours in Their res/),
			expect.stringMatching(/^email not found\. /),
		]);
		expect(others).toEqual(Array(5).fill(expect.stringContaining(unread)));

		const list = (more: object) => ({ response: { status: 200, body: JSON.stringify(more) } });
		const short = list({ status: 'success', data: [{ id: 'user-001' }], total: 60 });
		const wrongKey = list({ status: 'error', errorMessage: 'Your key is not known' });
		for (const [fault, cause] of [
			[{ response: { status: 503 } }, /HTTP 503/],
			[wrongKey, /Your key is not known\. Check the credential's Private Key\./],
			[{ response: { status: 401 } }, /HTTP 401\)\. Check the credential's 'Private Key'/],
			[short, /list is not complete.* Do so in Users here, the syncs, Find new/],
			[success([]), /^\S+ (?:not checked\. )?The service has no users for this key\. Create/],
		] as const) {
			faults.clear();
			faults.add({ path: '/users', ...fault });
			const [report, ...rows] = await check();
			expect([report, rows[0]]).toEqual(Array(2).fill(expect.stringMatching(cause)));
			expect(report).toMatch(/^User: .*$/);
			expect(rows.slice(2)).toEqual(Array(5).fill(expect.stringContaining(unread)));
			expect(JSON.stringify(rows)).not.toContain('is empty');
		}

		// What could be read only in part is not fine.
		faults.clear();
		faults.add({ path: '/resume/resume-001/score', response: { status: 404 } });
		const partly =
			/^(?:Score:|All fields error\.) 1 of \d+ scores could not be read \(first IDs: resume-001\)\. The service has/;
		expect(await check()).toEqual([
			...(Array(2).fill(expect.stringMatching(partly)) as unknown[]),
			...found,
		]);
		faults.clear();
		const broken = list({ status: 'error', errorMessage: 'It is broken' });
		const sql = "SELECT id FROM resumes WHERE user_id IN ('user-001', 'user-002')";
		for (const { id } of instance.query(sql)) faults.add({ path: `/resume/${id}`, ...broken });
		expect((await check())[0]).toMatch(
			/^Whole resume: 2 of \d+ resumes could not be read \(first IDs: resume-\d+, resume-\d+\)\. The service reported: It is broken\. Check the fields of Whole resume\. If/,
		);
		faults.clear();
		faults.add({ path: '/user/*', ...success([]) });
		expect((await check())[0]).toMatch(/^Resume in a list: None of these users has a resume\. .*$/);
	},
);

example('onboarding', 'creates one resume, and stores no token', async () => {
	/** The seed gives this user no resume. */
	const user = { id: 'user-012', email: 'oliver.horvat@example.com' };
	const title = 'My first resume';
	await activate('onboarding');
	const created = { path: `/user/${user.id}/resume`, drop: 'after', times: 1 } as const;
	instance.sandbox.faults.add(created);
	// Both lists of the first call lack the new resume.
	instance.sandbox.faults.add({ path: `/user/${user.id}/resumes`, times: 2, ...success([]) });
	const call = async (email: string) => {
		const { status, data } = await post('onboarding', { email, title });
		return [status, data];
	};
	const message = expect.stringMatching(/^Outcome unknown: /) as unknown;
	const text = expect.any(String) as unknown;
	const advice = expect.stringMatching(
		/^It is not known .* Call again in a minute: .* call again tomorrow, by this workflow's clock\.$/,
	);
	const unknown = { step: 'Create resume', message, advice, outcome: 'unknown' };
	expect(await call(user.email)).toEqual([502, unknown]);
	for (const email of [user.email, user.email.toUpperCase()]) {
		const response = await call(email);
		const resumes = instance.query('SELECT id, title FROM resumes WHERE user_id = ?', user.id);
		expect(resumes).toMatchObject([{ title }]);
		expect(response).toEqual([200, { userId: user.id, resumeId: resumes[0]!.id, token: text }]);
	}
	const nobody = { message: 'No user has this email address' };
	expect(await call('nobody@example.com')).toEqual([404, nobody]);
	const noEmail = { message: 'Send JSON with the email address of one user in the field email' };
	for (const body of [{}, { email: 'oliver' }])
		expect(await post('onboarding', body)).toMatchObject({ status: 400, data: noEmail });
	const resumes = { path: `/user/${user.id}/resumes`, times: 1 };
	instance.sandbox.faults.add({ ...resumes, ...success([{ id: 7 }]) });
	expect(await call(user.email)).toMatchObject([200, { resumeId: '7' }]);
	instance.sandbox.faults.add({ ...resumes, ...success([{ uid: 7 }]) });
	expect(await call(user.email)).toMatchObject([502, { message: 'Resume found no ID' }]);
	// A failed list is no empty list: no second resume is created.
	instance.sandbox.faults.add({ ...resumes, response: { status: 404 } });
	const missing = expect.stringContaining('The service has nothing at this address') as unknown;
	const advice404 = expect.stringMatching(
		/^No token came\. The owner of the workflow must/,
	) as unknown;
	const failedList = { step: 'Their resumes', message: missing, advice: advice404 };
	expect(await call(user.email)).toEqual([502, failedList]);
	const token = { path: '/user/token', drop: 'after', times: 1 } as const;
	instance.sandbox.faults.add(token);
	const again = { advice: 'No token came. Call again.', outcome: 'unknown' };
	expect(await call(user.email)).toMatchObject([502, again]);
	expect(instance.query('SELECT id FROM resumes WHERE user_id = ?', user.id)).toHaveLength(1);
	const { api, exampleId } = instance;
	// n8n deletes a successful execution some time after its response.
	while ((await api.listExecutions(exampleId('onboarding'))).length > 7) await sleep(100);
	const failed = await api.waitForExecutions(exampleId('onboarding'), 7);
	const reports = failed.map(({ data }) => data.resultData.error!.message);
	const of = 'Onboarding of';
	expect(reports).toEqual([
		expect.stringMatching(`^${of} ${user.email} failed at Create resume. Outcome unknown: `),
		expect.stringMatching(`^${of} nobody@example.com failed at The user. No user .* Check the `),
		'Somebody called onboarding without one address in the field email. Correct the system that calls.',
		'Somebody called onboarding without one valid email address (sent: "oliver"). Correct the system that calls.',
		expect.stringMatching(`^${of} ${user.email} failed at Their resumes. Resume found no ID. `),
		expect.stringMatching(`^${of} ${user.email} failed at Their resumes. The service has nothing`),
		expect.stringMatching(
			`^${of} ${user.email} failed at Get token. .* No token came. Call again.`,
		),
	]);
});

example('onboarding', 'creates one resume, however many calls come at once', async () => {
	const user = { id: 'user-three', email: 'three@example.com' };
	instance.query("INSERT INTO users VALUES (?, ?, 'Three', 'Calls', 0, 0)", user.id, user.email);
	await activate('onboarding');
	const body = { email: user.email };
	const calls = await Promise.all([1, 2, 3].map(async () => await post('onboarding', body)));
	const resumes = instance.query('SELECT id FROM resumes WHERE user_id = ?', user.id);
	expect(resumes).toHaveLength(1);
	const response = { status: 200, data: { userId: user.id, resumeId: resumes[0]!.id } };
	expect(calls).toMatchObject([response, response, response]);
	instance.sandbox.faults.add({ path: `/user/${user.id}/resumes`, ...success([]) });
	const message = 'A resume was created today, but is in no list';
	expect(await post('onboarding', body)).toMatchObject({ status: 502, data: { message } });
	expect(instance.query('SELECT 1 FROM resumes WHERE user_id = ?', user.id)).toHaveLength(1);
});

example('onboarding', 'says why no resume was created, and uses one that was', async () => {
	const user = { id: 'user-lost', email: 'lost@example.com' };
	instance.query("INSERT INTO users VALUES (?, ?, 'Lost', 'Response', 0, 0)", user.id, user.email);
	await activate('onboarding');
	const call = async () => await post('onboarding', { email: user.email });
	const { faults } = instance.sandbox;
	const path = `/user/${user.id}/resume`;
	const refused = {
		status: 403,
		body: JSON.stringify({ status: 'error', errorCode: 'not-allowed' }),
	};
	for (const alsoRead of [false, true]) {
		faults.add({ path, times: 1, response: refused });
		if (alsoRead) {
			faults.add({ path: `${path}s`, times: 1, ...success([]) });
			faults.add({ path: `${path}s`, times: 1, response: { status: 404 } });
		}
		const message = expect.stringContaining('not-allowed') as unknown;
		const data = { step: 'Create resume', message };
		expect(await call()).toMatchObject({ status: 502, data });
		faults.clear();
	}
	faults.add({ path, drop: 'after', times: 1 });
	const { status, data } = await call();
	const [resume] = instance.query('SELECT id FROM resumes WHERE user_id = ?', user.id);
	expect([status, data]).toMatchObject([200, { userId: user.id, resumeId: resume!.id }]);
});

example('onboarding', 'says what to do if a create may be lost, today and tomorrow', async () => {
	const user = { id: 'user-gone', email: 'gone@example.com' };
	instance.query("INSERT INTO users VALUES (?, ?, 'Gone', 'Request', 0, 0)", user.id, user.email);
	await activate('onboarding');
	instance.sandbox.faults.add({ path: `/user/${user.id}/resume`, drop: 'before', times: 1 });
	for (const advice of [
		/^It is not known whether .* Call again in a minute: /,
		/^If the user still has none, create .* tomorrow, by this workflow's clock\.$/,
	])
		expect(await post('onboarding', { email: user.email })).toMatchObject({
			status: 502,
			data: { step: 'Create resume', advice: expect.stringMatching(advice) as unknown },
		});
});

example('onboarding', 'names the step of a node of your own that reaches nobody', async () => {
	const { nodes } = await instance.api.readWorkflow(instance.exampleId('onboarding'));
	const parameters = { url: 'http://127.0.0.1:1/', options: {} };
	const httpRequest = { type: 'n8n-nodes-base.httpRequest', typeVersion: 4.2, parameters };
	await change('onboarding', (node) =>
		node.name === 'The user' ? { ...node, ...httpRequest, credentials: {} } : node,
	);
	await activate('onboarding');
	const id = instance.exampleId('onboarding');
	const { length } = await instance.api.listExecutions(id);
	expect(await post('onboarding', { email: 'ann@example.com' })).toMatchObject({ status: 502 });
	const failed = (await instance.api.waitForExecutions(id, length + 1)).at(-1)!;
	expect(failed.data.resultData.error!.message).toBe(
		'Onboarding of ann@example.com failed at The user. It could not be reached',
	);
	await instance.api.updateWorkflow(instance.exampleId('onboarding'), { nodes });
});

example('onboarding', 'fails for a field of the response that a user lacks', async () => {
	const { api, exampleId, emails } = instance;
	const { nodes } = await api.readWorkflow(exampleId('onboarding'));
	for (const [field, status, data] of [
		['deep.plan', 500, {}],
		['deep?.plan ?? null', 200, { token: expect.any(String) as unknown, plan: null }],
	] as const) {
		const line = `,\n  "plan": {{ JSON.stringify($('The user').first().json.${field}) }}\n}`;
		await api.updateWorkflow(exampleId('onboarding'), {
			nodes: nodes.map((node) => {
				if (node.name !== 'Respond') return node;
				const responseBody = String(node.parameters.responseBody).replace(/\n\}$/, () => line);
				return { ...node, parameters: { ...node.parameters, responseBody } };
			}),
		});
		await activate('onboarding');
		expect(await post('onboarding', { email: emails[0] })).toMatchObject({ status, data });
	}
	await api.updateWorkflow(exampleId('onboarding'), { nodes });
});

example('onboarding', 'creates nothing if the list of resumes is not complete', async () => {
	const { query, sandbox } = instance;
	const user = { id: 'user-cut', email: 'cut@example.com' };
	query("INSERT INTO users VALUES (?, ?, 'Cut', 'List', 0, 0)", user.id, user.email);
	await activate('onboarding');
	const path = `/user/${user.id}/resumes`;
	const message = 'The list of resumes is not complete';
	for (const data of [[], [{ id: 7 }, { id: 8 }]]) {
		const body = JSON.stringify({ status: 'success', data, has_more: true });
		sandbox.faults.add({ path, times: 1, response: { status: 200, body } });
		expect(await post('onboarding', { email: user.email })).toMatchObject({
			status: 502,
			data: { message, advice: expect.stringMatching(/^No token came\. The owner/) },
		});
		expect(query('SELECT 1 FROM resumes WHERE user_id = ?', user.id)).toEqual([]);
	}
	// Of several resumes, the first is used, and there is one token.
	sandbox.faults.add({ path, times: 1, ...success([{ id: 7 }, { id: 8 }]) });
	sandbox.requests.length = 0;
	const response = { status: 200, data: { userId: user.id, resumeId: '7' } };
	expect(await post('onboarding', { email: user.email })).toMatchObject(response);
	expect(sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

example('onboarding', 'gives the caller only what a caller can do', async () => {
	const { sandbox, emails } = instance;
	await activate('onboarding');
	for (const [status, advice] of [
		[429, 'No token came. Call again in a minute.'],
		[401, "The workflow's owner must correct its credential."],
	] as const) {
		sandbox.faults.add({ path: '/users', response: { status } });
		const response = { status: 502, data: { step: 'The user', advice } };
		expect(await post('onboarding', { email: emails[0] })).toMatchObject(response);
		sandbox.faults.clear();
	}
});

example('onboarding', 'names the step that failed, also when it is run by hand', async () => {
	const { api, exampleId, sandbox } = instance;
	const { settings, nodes } = await api.readWorkflow(exampleId('onboarding'));
	await api.updateWorkflow(exampleId('onboarding'), {
		settings: { ...settings, saveManualExecutions: true },
	});
	const message = async () => {
		const { data, status } = await run('onboarding', 'User to onboard');
		return [status, data.resultData.error?.message];
	};
	const of = 'Onboarding of oliver.horvat@example.com failed at';
	sandbox.faults.add({ path: '/user/user-012/resumes', response: { status: 404 } });
	const expected = `^${of} Their resumes\\. The service has nothing at this address .*Check the ID`;
	expect(await message()).toEqual(['error', expect.stringMatching(expected)]);
	sandbox.faults.clear();
	// With a fixed ID, each caller would get the same token.
	const email = 'oliver.horvat@example.com';
	sandbox.faults.add({ path: '/users', ...success([1, 2].map((id) => ({ id, email }))) });
	const several = `^${of} The user\\. Several users .* Have the service correct this user: .* Enter no fixed ID`;
	expect(await message()).toEqual(['error', expect.stringMatching(several)]);
	sandbox.faults.clear();
	const short = { status: 'success', data: [], has_more: true };
	const response = { status: 200, body: JSON.stringify(short) };
	sandbox.faults.add({ path: '/user/user-012/resumes', response });
	const incomplete = `^${of} Their resumes\\. The list of resumes is not complete\\. Records that came: 0`;
	expect(await message()).toEqual(['error', expect.stringMatching(incomplete)]);
	sandbox.faults.clear();
	// An error of n8n itself is only a text.
	await change('onboarding', (node) =>
		node.name === 'Get token'
			? {
					...node,
					type: 'n8n-nodes-base.code',
					typeVersion: 2,
					parameters: { jsCode: "throw new Error('The node failed')" },
				}
			: node,
	);
	expect(await message()).toEqual([
		'error',
		expect.stringMatching(`^${of} Get token\\. The node failed( \\[line 1\\])?$`),
	]);
	await api.updateWorkflow(exampleId('onboarding'), { settings, nodes });
});

example('export-pdfs', 'writes a file for each resume that can be downloaded', async () => {
	for (const path of ['/resume/resume-007/download', '/user/user-002/resumes'])
		instance.sandbox.faults.add({ path, response: { status: 404 } });
	const file = Buffer.from(`%PDF-${'7'.repeat(2_000)}`).toString('base64');
	// IDs may be numbers.
	instance.sandbox.faults.add({ path: '/user/user-003/resumes', ...success([{ id: 7 }]) });
	instance.sandbox.faults.add({ path: '/resume/7/download', ...success({ file }) });
	const execution = await run('export-pdfs', 'Start');
	expect(execution.status).toBe('error');
	expect(execution.data.resultData.error!.message).toMatch(
		/^Not exported: 1 resume, and all resumes of 1 user\. Remove the cause, and run it again\.\n2 × The service has nothing at .*Check the ID.*\(IDs: resume-007, user-002\)\.$/,
	);
	const sql = "SELECT id FROM resumes WHERE user_id NOT IN ('user-002', 'user-003') ORDER BY id";
	const ids = instance.query(sql).map(({ id }) => String(id));
	const files = async () => (await readdir(instance.filesFolder)).sort();
	const exported = ['7', ...ids.filter((id) => id !== 'resume-007')].map((id) => `${id}.pdf`);
	expect(await files()).toEqual(exported);
	const written = `${exported.length} of ${exported.length + 1} listed`;
	expect(jsonOf(execution, 'Files written')).toEqual([{ written, folder: '.n8n-files' }]);
	expect(await readFile(join(instance.filesFolder, exported.at(-1)!), 'latin1')).toMatch(/^%PDF-/);
	const failed = jsonOf(execution, 'Not exported').map(({ id }) => id);
	expect(failed).toEqual(['resume-007', 'user-002']);
	instance.sandbox.faults.clear();
	expect((await run('export-pdfs', 'Start')).status).toBe('success');
	expect(await files()).toHaveLength(instance.query('SELECT 1 FROM resumes').length + 1);

	// A folder stands where a file should be.
	const blocked = join(instance.filesFolder, exported.at(-1)!);
	await rm(blocked);
	await mkdir(blocked);
	const { data } = await run('export-pdfs', 'Start');
	expect(data.resultData.error!.message).toMatch(
		/^Not exported: 1 resume\. [^]*\n1 × .* is a directory\. Look whether the files of these IDs can be written to, .*\(IDs: resume-\d+\)\.$/,
	);

	const { nodes } = await instance.api.readWorkflow(instance.exampleId('export-pdfs'));
	/** Changes the path in Write file, and runs the export. */
	const writeTo = async (from: string, to: string) => {
		await instance.api.updateWorkflow(instance.exampleId('export-pdfs'), { nodes });
		await change('export-pdfs', (node) => {
			const fileName = String(node.parameters.fileName).replace(from, () => to);
			return node.name === 'Write file'
				? { ...node, parameters: { ...node.parameters, fileName } }
				: node;
		});
		return await run('export-pdfs', 'Start');
	};
	const messageOf = (run: Execution) => run.data.resultData.error!.message;
	// The folder is missing.
	expect(messageOf(await writeTo('.n8n-files/', '.n8n-files/missing/'))).toMatch(
		/\. By default, n8n 2 .* There, create the folder that Write file names\.$/,
	);

	// The resumes' IDs have another name, which is not in Write file.
	await rm(blocked, { recursive: true });
	const before = await files();
	const unnamed = await writeTo('.item.json.id', '.item.json.uuid');
	const count = before.length;
	expect(messageOf(unnamed)).toBe(
		`Not exported: ${count} resumes. Remove the cause, and run it again.\n${count} × The resume has no ID here. Enter your field for the ID in Download and Write file.`,
	);
	expect(await files()).toEqual(before);
	expect(jsonOf(unnamed, 'Files written')).toEqual([]);

	// With a full path, the folder is that path.
	const full = await writeTo('.n8n-files/', `${instance.filesFolder}/`);
	const all = { written: `${count} of ${count} listed`, folder: instance.filesFolder };
	expect(jsonOf(full, 'Files written')).toEqual([all]);

	// Names that people can read, as the note has them.
	const note = nodes.find(({ name }) => name === 'Note: Export')!.parameters.content;
	const [, title] = /`(\{\{.*\}\})`/.exec(String(note))!;
	const id = '{{ encodeURIComponent($(';
	expect((await writeTo(id, `${title} ${id}`)).status).toBe('success');
	expect((await files()).filter((name) => /^[\p{L}\p{N} ]{9,} resume-/u.test(name))).toHaveLength(
		instance.query('SELECT 1 FROM resumes').length,
	);

	// n8n may not write into its own folder.
	const own = await writeTo('.n8n-files/', `${join(instance.filesFolder, '..', '.n8n')}/`);
	expect(messageOf(own)).toMatch(
		/\n\d+ × n8n may not write there\. By default, n8n 2 .* Enter a path in that folder in Write file\.$/,
	);
	await instance.api.updateWorkflow(instance.exampleId('export-pdfs'), { nodes });
});

function expectToolResults(...texts: string[]): void {
	expect(model.toolResults()).toEqual(texts.map((text) => expect.stringContaining(text) as string));
}

example('agent-user-questions', 'answers with the results of its tools', async () => {
	const file = 'agent-user-questions';
	await setModel(file);
	const { userId, email, resumeId } = somebody();
	// The model reads all of a long list.
	const listed = Array.from({ length: 60 }, (_, index) => ({ id: `other-${index}` }));
	const path = `/user/${userId}/resumes`;
	instance.sandbox.faults.add({ path, ...success([...listed, { id: resumeId }]) });
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

	// A later message of the same chat may name no email.
	model.script(['Of nobody else.', 500, 500, 500, 500, 500, 500, 500]);
	await run(file, 'Chat');
	expect(JSON.stringify(model.requests.at(-1)!.messages)).toContain('The answer.');

	const failed = await run(file, 'Chat');
	const output = expect.stringMatching(/^The language model gave no answer\. /) as unknown;
	expect([failed.status, jsonOf(failed, 'Say what failed')]).toMatchObject([
		'success',
		[{ output }],
	]);
});

example('agent-user-questions', 'says in the chat that the model failed', async () => {
	const file = 'agent-user-questions';
	await setModel(file);
	const { api, exampleId, url } = instance;
	const { nodes } = await api.readWorkflow(exampleId(file));
	await change(file, (node) =>
		node.name === 'Chat' ? { ...node, parameters: { ...node.parameters, public: true } } : node,
	);
	await activate(file);
	model.script([401]);
	const { webhookId } = nodes.find(({ name }) => name === 'Chat')!;
	const message = { action: 'sendMessage', chatInput: 'Who is it?', sessionId: 'two' };
	const { status, data } = await http.post<object>(`${url}/webhook/${webhookId}/chat`, message);
	const output = expect.stringMatching(/^The language model refused its key\. /) as unknown;
	// What the model's provider said, such as a part of a key, is not for the chat.
	expect([status, data]).toEqual([200, { output }]);
	await api.deactivateWorkflow(exampleId(file));
	await api.updateWorkflow(exampleId(file), { nodes });
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
	const connected = await send('initialize', client);
	headers['Mcp-Session-Id'] = connected.headers['mcp-session-id'];
	// n8n 1 sends no instructions.
	const says = tested === '1' ? '' : 'A result with `error` is a failure';
	expect(connected.data).toContain(says);

	instance.sandbox.requests.length = 0;
	const [, list] = /^data: (.*)$/m.exec((await send('tools/list')).data)!;
	const changesNothing = { description: expect.stringMatching(/Changes nothing\.$/) };
	expect(JSON.parse(list!).result.tools).toMatchObject(Array(4).fill(changesNothing));
	const { userId, email } = somebody();
	const call = { name: 'Find_a_user', arguments: { email } };
	expect((await send('tools/call', call)).data).toContain(userId);
	const byEmail = { name: 'Find_a_user', description: 'Find one user by email. Changes nothing.' };
	expect(JSON.parse(list!).result.tools).toContainEqual(expect.objectContaining(byEmail));
	await instance.api.deactivateWorkflow(instance.exampleId(file));
	expect(new Set(instance.sandbox.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
	for (const { storedData } of await instance.api.waitForExecutions(instance.exampleId(file), 1)) {
		expect(storedData).not.toContain(SANDBOX_KEYS.live);
		expect(storedData).not.toContain(token);
	}
});

example('new-or-changed-users', 'passes each changed user on until its step succeeds', async () => {
	const file = 'new-or-changed-users';
	/** Runs the example, and expects these users before the step for changes. */
	const poll = async (status: string, ...users: unknown[]) => {
		const execution = await run(file, 'Every 15 minutes');
		const changed = jsonOf(execution, 'New or changed?').map(({ id, userId }) =>
			userId === id ? id : 0,
		);
		expect([execution.status, changed.sort()]).toEqual([status, users]);
		return execution.data.resultData.error?.message;
	};
	const all = instance.query('SELECT id FROM users ORDER BY id').map(({ id }) => id);
	await poll('success', ...all);
	await poll('success');

	instance.query("UPDATE users SET last_name = 'Changed' WHERE id = 'user-020'");
	instance.query("INSERT INTO users VALUES ('user-new', 'new@example.com', 'New', 'User', 0, 0)");
	const setStep = async (type: string, parameters = {}) =>
		await change(file, (one) => (one.name === 'Your step' ? { ...one, type, parameters } : one));
	const fails = ['n8n-nodes-base.stopAndError', { errorMessage: 'The step fails' }] as const;
	await setStep(...fails);
	await poll('error', 'user-020', 'user-new');
	await setStep('n8n-nodes-base.noOp');
	const nobody = { uid: 'user-020', email: 'no@id.example' };
	const odd = { id: 'user-0\u0000', email: 'odd@id.example' };
	const listed = success([nobody, odd, { id: 'user-021', note: 'U+0000: \u0000' }, { id: 7 }]);
	instance.sandbox.faults.add({ path: '/users', ...listed, times: 1 });
	expect(await poll('error', 0, 'user-021')).toMatch(
		/: 2 of 4 \(emails: no@id\.example, odd@id\.example\)\. The others are done/,
	);
	await poll('success', 'user-020', 'user-021', 'user-new');

	// With a wrong account, the list may be empty.
	instance.sandbox.faults.add({ path: '/users', ...success([]), times: 1 });
	expect(await poll('error')).toMatch(/^The list of users is empty, so nothing was compared/);
	await poll('success');

	// A step may output one item for all users, or none.
	const steps = [
		['n8n-nodes-base.aggregate', { aggregate: 'aggregateAllItemData' }],
		['n8n-nodes-base.limit', { maxItems: 0 }],
	] as const;
	for (const [type, parameters] of steps) {
		const rename = "UPDATE users SET last_name = ? WHERE id IN ('user-020', 'user-021')";
		instance.query(rename, type);
		await setStep(...fails);
		await poll('error', 'user-020', 'user-021');
		await setStep(type, parameters);
		await poll('success', 'user-020', 'user-021');
		await poll('success');
	}
});

example('new-or-changed-users', 'passes on only users that a Filter lets through', async () => {
	const file = 'new-or-changed-users';
	const id = instance.exampleId(file);
	const { nodes, connections } = await instance.api.readWorkflow(id);
	const condition = {
		id: '1',
		leftValue: '={{ $json.lastName }}',
		rightValue: 'Passed',
		operator: { type: 'string', operation: 'equals' },
	};
	const options = { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 };
	const conditions = { options, conditions: [condition], combinator: 'and' };
	const filter = {
		id: 'filter',
		name: 'Filter',
		type: 'n8n-nodes-base.filter',
		typeVersion: 2.2,
		position: [600, 0] as [number, number],
		parameters: { conditions },
	};
	const [, reported] = connections['Has an ID?']!.main!;
	const to = (node: string) => [{ node, type: 'main' as const, index: 0 }];
	await instance.api.updateWorkflow(id, {
		nodes: [...nodes, filter],
		connections: {
			...connections,
			'Has an ID?': { main: [to('Filter'), reported!] },
			Filter: { main: [to('New or changed?')] },
		},
	});
	const poll = async () => {
		const execution = await run(file, 'Every 15 minutes');
		const passed = jsonOf(execution, 'New or changed?').map(({ userId }) => userId);
		return [execution.status, ...passed.sort()];
	};
	expect(await poll()).toEqual(['success']);
	const rename = (user: string, name: string) =>
		instance.query('UPDATE users SET last_name = ? WHERE id = ?', name, user);
	rename('user-020', 'Passed');
	rename('user-021', 'Stopped');
	expect(await poll()).toEqual(['success', 'user-020']);
	expect(await poll()).toEqual(['success']);
	rename('user-021', 'Passed');
	expect(await poll()).toEqual(['success', 'user-021']);

	// A node on the other wire would save rows without an ID, and each user would come for ever.
	const other = { ...filter, id: 'other', name: 'Other', typeVersion: 1 };
	const emptied = {
		...other,
		type: 'n8n-nodes-base.aggregate',
		parameters: { aggregate: 'aggregateAllItemData' },
	};
	const input2 = [{ node: 'After your step', type: 'main' as const, index: 1 }];
	await instance.api.updateWorkflow(id, {
		nodes: [...nodes, emptied],
		connections: {
			...connections,
			'New or changed?': { main: [[...to('Your step'), ...to('Other')]] },
			Other: { main: [input2] },
		},
	});
	rename('user-021', 'Changed');
	const { status, data } = await run(file, 'Every 15 minutes');
	expect(status).toBe('error');
	expect(JSON.stringify(data.resultData.error)).toContain('put no node on the wire to Input 2');
});

it('runs every workflow of the folder', async () => {
	const files = await readdir(join(projectRoot, 'workflows'));
	expect(files.sort()).toEqual(Array.from(known, (file) => `${file}.json`).sort());
});
