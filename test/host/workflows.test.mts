import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import type { INode } from 'n8n-workflow';
import dataTables from '../../host/dataTables.json' with { type: 'json' };
import { projectRoot } from '../../host/paths.mts';
import type { CredentialDefinition, Execution } from '../../host/rest.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startMailServer, type MailServer } from '../support/mailServer.mts';
import { startScriptedModel, type ScriptedModel } from '../support/scriptedModel.mts';
import { actionType, addExamples, joinInstance, outputOf, success, tested } from './instance.mts';
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

/** Files of the examples that have a test. sync.test.mts runs the first three. */
const known = new Set(['nightly-sync', 'large-sync', 'large-sync-batch']);

const approval = 'agent-upgrade-after-approval';

const onlyInN8n2 = [approval, 'create-tables'];

function example(file: string, behaviour: string, run: () => Promise<void>): void {
	known.add(file);
	const test = onlyInN8n2.includes(file) && tested === '1' ? it.skip : it;
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

const setMail = async (file: string) => {
	const server = { host: '127.0.0.1', port: mail.port, secure: false, disableStartTls: true };
	await setCredential(file, 'smtp', server);
};

async function activate(file: string): Promise<void> {
	await instance.api.activateWorkflow(instance.exampleId(file));
}

const http = axios.create({ proxy: false, validateStatus: null });

/** Sends a request to an example's Webhook node, at the path `/webhook/<file or other path>`. */
async function post(path: string, body: object, secret = webhookSecret) {
	const headers = { 'X-Webhook-Secret': secret };
	return await http.post(`${instance.url}/webhook/${path}`, body, { headers });
}

/** Line of a report, as a pattern. */
const nothing = (step: string, id: string) =>
	`\\n1 × ${step}: The service has nothing at .*Check the ID.*\\(IDs: ${id}\\)`;

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

const formAuth = { username: 'sandbox', password: webhookSecret };

/** Submits the first page of a form, and returns the URL and the text of the next. */
async function submitForm(file: string, ...values: Array<Blob | string>) {
	const { nodes } = await instance.api.readWorkflow(instance.exampleId(file));
	const { webhookId } = nodes.find(({ type }) => type === 'n8n-nodes-base.formTrigger')!;
	const first = `${instance.url}/form/${webhookId}`;
	const form = new FormData();
	for (const [index, value] of values.entries()) form.set(`field-${index}`, value);
	expect((await http.post(first, form)).status).toBe(401);
	const url = String((await http.post(first, form, { auth: formAuth })).data.formWaitingUrl);
	return { url, ...(await waitingPage(url)) };
}

async function waitingPage(url: string) {
	const id = /form-waiting\/(\d+)/.exec(url)![1]!;
	while ((await instance.api.readExecution(id)).status !== 'waiting') await sleep(100);
	return { id, page: (await http.get<string>(url, { auth: formAuth })).data };
}

/** Uploads a file, follows the form to its last page, and returns the page and the execution. */
async function upload(file: Buffer | string, what = 'Check and bill') {
	const { url, id, page } = await submitForm('upgrades-from-file', new Blob([file]), what);
	await http.post(url, undefined, { auth: formAuth });
	return { page, execution: await instance.api.waitForExecution(id) };
}

const [emma, noah, olivia] = ['emma.larsen', 'noah.fischer', 'olivia.martin'].map(
	(name) => `${name}@example.com`,
) as [string, string, string];

example('upgrades-from-file', 'sends nothing if the file has a mistake', async () => {
	await activate('upgrades-from-file');
	instance.sandbox.requests.length = 0;
	const good = `id,email,planId\nA1,${emma},${pro}\n`;
	const no = 'The file has no column';
	const files: Array<[Buffer | string, string]> = [
		['', `${no} id and no column email and no column planId. Found: nothing.`],
		['id,email,planId', 'The file has no rows'],
		['Id;Plan;Mail\n1;2;3', `${no} email and no column planId. Found: Id, Plan, Mail.`],
		['id,email,E-Mail,planId\n1,2,3,4', 'The file has email in two columns.'],
		[
			good + `A1,${emma},${pro}\n`.repeat(100),
			'has 101 rows, but may have 100. Split it, or add Max Upgrades to Upgrade plan.',
		],
		[Buffer.alloc(10_000_000, good), 'The file is larger than 500 KB.'],
		[Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'The file is neither CSV nor Excel.'],
		['PK\x03\x04 or an Excel file with a password', 't be read: save it as CSV, or as .xlsx'],
		[`${good},${noah},${pro}`, 'Row 3: there is no id. Enter one.'],
		[`${good}A2,a b@c.d,${pro}`, 'Row 3: a b@c.d is no email address.'],
		[`${good}A1,${noah},${pro}`, 'Row 3: an earlier row has the id A1. Enter another.'],
		[`${good}\nA2,${noah},"${pro}\nA3,${noah},${pro}`, 'Row 4: there is a cell too many, or a'],
	];
	const ids = ['0012', '1.2E+15', '1-Mar', '+1', '12345678901234'].map(
		(id) => [`${good}${id},${noah},${pro}`, `Row 3: a spreadsheet may change ${id}. If`] as const,
	);
	for (const [file, mistake] of [...files, ...ids]) {
		const { page, execution } = await upload(file);
		for (const text of [mistake, 'Nothing was sent: 1 mistake<']) expect(page).toContain(text);
		expect(execution.status).toBe('success');
	}
	const several = await upload(`${good}A2,no address,${pro}\nA1,${noah},\n1.5,${emma},${pro}`);
	expect(several.page).toMatch(
		/Row 3: no address is no [^]*Row 4: there is no planId[^]*Row 4: an earlier [^]*Row 5: a spreadsheet/,
	);
	const { page } = await upload(`${good}A2,${emma},${pro}\n`, 'Check only');
	expect(page).toContain('2 rows would be sent<');
	expect(page).toContain(`Row 2 (id A1) would be sent: ${emma}, ${pro}`);
	expect(page).toContain('Row 3 (id A2) would be sent, though row 2 has the same user and plan:');
	expect(page).toContain('Plans and users are not checked. To bill what the service');
	expect(instance.sandbox.requests).toEqual([]);
});

example('upgrades-from-file', 'bills a row once, in any format and encoding', async () => {
	const template = await http.get<string>(`${instance.url}/webhook/upgrades-template`);
	expect((await upload(template.data, 'Check only')).page).toContain('2 rows would be sent');
	const row = { id: 'Grün', email: olivia, planId: pro };
	const toFile = { type: 'n8n-nodes-base.convertToFile', typeVersion: 1.1, items: [row] };
	const made = await instance.runNode({ ...toFile, parameters: { operation: 'xlsx' } });
	const { data } = outputOf(made)[0]!.binary!;
	const path = data!.id && join(instance.binaryFolder, data!.id.split(':')[1]!);
	const text = `id;email;planId\n${Object.values(row).join(';')}`;
	const files = [
		path ? await readFile(path) : Buffer.from(data!.data, 'base64'),
		text,
		`sep=;\r\n${text.replace('id;email;planId', ' Order ID ;E-Mail;PLAN_ID')}\r\n`,
		Buffer.from(`\n\n${text}\n;;\n`, 'latin1'),
		Buffer.from(`\ufeff${text.replaceAll(';', '\t')}`, 'utf16le'),
		`\ufeff${text.replaceAll(';', ',').replace('Grün', '"Grün"')}`,
	];
	for (const [index, file] of files.entries()) {
		const [now, before] = index === 0 ? [1, 0] : [0, 1];
		const { page } = await upload(file);
		expect(page).toContain(`${now} newly billed, ${before} billed before<`);
	}
	const { page } = await upload(text, 'Check only');
	expect(page).toContain('0 rows would be sent<');
	expect(page).not.toContain('not checked');
	expect(instance.billed(olivia)).toBe(1);
});

example('upgrades-from-file', 'returns the outcomes, and keeps open rows open', async () => {
	const { billed, readTable, sandbox } = instance;
	const held = `1004,${emma},${SANDBOX_PLANS.failingPayment},\r\n`;
	const csv = `\ufeffid,email,planId,aiTokenId\r\n1001,${emma},${pro},\r\n1002,${noah},${pro},ai_tokens_100\r\n1003,${olivia},plan_unknown,\r\n${held}`;
	sandbox.faults.add({ email: noah, drop: 'after', times: 1 });
	const again = 'It is (unknown|held) already, and was not sent again. ';
	const open = '1 may be billed, 1 held (not billed), 1 not billed<';
	for (const [title, requests, known] of [
		['1 newly billed, 0 billed before, ', 4, ''],
		['0 newly billed, 1 billed before, ', 1, again],
	] as const) {
		sandbox.requests.length = 0;
		const { page, execution } = await upload(csv);
		for (const text of [title + open, 'outcomes.csv, which your browser has'])
			expect(page).toContain(text);
		expect([sandbox.requests.length, execution.status]).toEqual([requests, 'error']);
		const causes = [
			`unknown \\(id 1002\\)\\. ${known}Outcome unknown: The connection .* ask your account manager, .* In ten minutes, decide in Settle open upgrades\\.`,
			'refused \\(id 1003\\)\\. The service .*\\(plan-upgrade-2\\)\\. Nothing was done\\. Use .* Then upload the file again\\.',
			`held \\(id 1004\\)\\. ${known}The service .*\\(plan-upgrade-1\\)\\. .* In ten .*`,
		];
		const [total, ...lines] = execution.data.resultData.error!.message.split('\n');
		expect(`${total}<`).toBe(title + open);
		expect(lines.join('\n')).toMatch(RegExp(`^${causes.map((one) => `1 × ${one}`).join('\n')}$`));
		// The columns of the upload come first, so that the file can be uploaded again.
		expect(Object.entries(jsonOf(execution, 'Outcomes')[0]!).slice(0, 5)).toEqual(
			Object.entries({ id: '1001', email: emma, planId: pro, aiTokenId: '', outcome: 'upgraded' }),
		);
		expect((await readTable('Upgrade outcomes')).slice(-4)).toMatchObject([
			{ source: 'file', upgradeId: '1001', email: emma, planId: pro, outcome: 'upgraded' },
			{ upgradeId: '1002', aiTokenId: 'ai_tokens_100', outcome: 'unknown' },
			{ upgradeId: '1003', outcome: 'refused' },
			{ upgradeId: '1004', outcome: 'held' },
		]);
		expect([emma, noah, olivia].map(billed)).toEqual([1, 1, 1]);
	}
	const { page } = await upload(`id,email,planId\n1001,${noah},${pro}\n1004,${emma},${pro}`);
	expect(page).toContain(`Row 2: the id 1001 is upgraded for ${emma}, ${pro}: use a new id.`);
	expect(page).toMatch(/Row 3: the id 1004 is held for .*: decide in Settle open upgrades\./);
	const corrected = csv.replace('plan_unknown', pro).replace(held, '').replace('1002', 'B1002');
	const uploads = await Promise.all([upload(corrected), upload(corrected)]);
	expect(uploads.map(({ execution }) => execution.status)).toEqual(['success', 'success']);
	expect([emma, noah, olivia].map(billed)).toEqual([1, 2, 2]);
});

example('users-resumes-scores', 'keeps one row for each resume in repeated runs', async () => {
	const resumes = instance.query(RESUMES);
	for (const time of ['first', 'second']) {
		const execution = await run('users-resumes-scores', 'Start');
		expect([time, execution.status]).toEqual([time, 'success']);
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
		const rows = await instance.readTable('Resume scores');
		rows.sort((one, other) => (String(one.resumeId) < String(other.resumeId) ? -1 : 1));
		const score: unknown = expect.any(Number);
		expect(rows).toMatchObject(resumes.map((row) => ({ ...row, score })));
	}
	await instance.deleteRows('Resume scores', 'userId', 'user-004');
	for (const path of ['/user/user-003/resumes', '/resume/resume-001/score']) {
		instance.sandbox.faults.add({ path, response: { status: 404 } });
	}
	instance.sandbox.faults.add({ path: '/resume/resume-002/score', ...success({ total: 1 }) });
	const { status, data } = await run('users-resumes-scores', 'Start');
	expect(status).toBe('error');
	const lines = nothing('Their resumes', 'user-003') + nothing('Their scores', 'resume-001');
	const report = `^Failed: 3\\. Remove the cause, and run it again\\.${lines}\\n1 × Row: The score is no .*\\(IDs: resume-002\\)$`;
	expect(data.resultData.error!.message).toMatch(RegExp(report));
	const scores = (await instance.readTable('Resume scores')).map(({ score }) => score);
	expect(scores).toEqual(Array(resumes.length).fill(expect.any(Number)));
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

example('upgrade-after-payment', 'bills a payment once, and loses none', async () => {
	const file = 'upgrade-after-payment';
	const { api, exampleId, sandbox } = instance;
	const [paid, refused, lost, slow] = instance.emails.slice(40) as [string, string, string, string];
	const saved: Record<string, string> = {};
	const ended: string[] = [];
	type Payment = Partial<Record<'id' | 'email' | 'planId', string>>;
	/** Sends a payment, so many times at once, and expects this response. */
	async function pay(payment: Payment, httpStatus: number, outcome: string, times = 1) {
		const body = { planId: pro, ...payment };
		const key = `${payment.id ?? null} ${body.planId} ${body.email}`;
		const isKnown = saved[key] === outcome && /upgraded|unknown|held/.test(outcome);
		const before = sandbox.requests.length;
		const calls = Array.from({ length: times }, () => post('payment-received', body));
		const responses = await Promise.all(calls);
		for (const { status, data } of responses) {
			const response = { received: httpStatus === 200, outcome };
			expect([payment, status, data]).toMatchObject([payment, httpStatus, response]);
			ended.push(isKnown || outcome === 'upgraded' ? 'success' : 'error');
		}
		const repeated = responses.filter(({ data }) => data.repeated);
		expect(repeated).toHaveLength(isKnown ? times : times - 1);
		if (isKnown) expect(sandbox.requests).toHaveLength(before);
		saved[key] = outcome;
	}
	await change(file, (node) => {
		const parameters = { ...node.parameters, requestOptions: { timeout: 5_000 } };
		return node.type === actionType ? { ...node, parameters } : node;
	});
	await activate(file);
	const payment = { id: 'pay_1', email: paid };
	expect((await post('payment-received', payment, 'a guess')).status).toBe(403);
	await pay(payment, 200, 'upgraded', 3);
	await pay(payment, 200, 'upgraded');
	const held = { id: 'pay_3', email: refused, planId: SANDBOX_PLANS.failingPayment };
	for (const [failing, fault, httpStatus, outcome] of [
		[{ id: 'pay_2', email: refused, planId: 'plan_unknown' }, {}, 200, 'refused'],
		[held, {}, 200, 'held'],
		[{ id: 'pay_4', email: lost }, { drop: 'after' }, 200, 'unknown'],
		[{ id: 'pay_7', email: slow }, { delayMs: 60_000 }, 200, 'unknown'],
		[{ id: 'pay_5', email: 'no address' }, {}, 400, 'not sent'],
		[{ email: refused }, {}, 400, 'not sent'],
		[{ id: 'pay_6', email: refused }, { response: { status: 401 } }, 200, 'refused'],
		[{ id: 'pay_6', email: refused }, { response: { status: 429 } }, 503, 'refused'],
	] as const) {
		sandbox.faults.add({ path: '/plan/upgrade', ...fault });
		await pay(failing, httpStatus, outcome);
		sandbox.faults.clear();
	}
	await pay(held, 200, 'held');
	await Promise.all([
		// Another execution may still be sending with this key, and fail, so that the provider has to deliver again.
		pay({ id: 'pay_4', email: slow }, 503, 'unknown'),
		pay({ id: 'pay_4', email: lost, planId: SANDBOX_PLANS.basic }, 200, 'not sent'),
		pay({ id: 'pay_1', email: paid, planId: SANDBOX_PLANS.basic }, 200, 'not sent'),
	]);
	await pay({ id: 'pay_4', email: lost }, 200, 'unknown', 3);
	const { nodes } = await api.readWorkflow(exampleId(file));
	// At the first address nothing listens, and the second has no DNS.
	for (const baseUrl of ['http://127.0.0.1:1/v1', 'https://no-such-host.invalid/v1']) {
		const credentials = await instance.addCredential({ baseUrl });
		await change(file, (node) => (node.type === actionType ? { ...node, credentials } : node));
		await activate(file);
		await pay({ id: 'pay_6', email: refused }, 503, 'refused');
	}
	await api.updateWorkflow(exampleId(file), { nodes });
	await activate(file);
	await pay({ id: 'pay_6', email: refused }, 200, 'upgraded');
	expect([paid, refused, lost].map(instance.billed)).toEqual([1, 1, 1]);

	const rows = await instance.readTable('Upgrade outcomes');
	const payments = rows.filter(({ source }) => source === 'payment');
	expect(payments).toHaveLength(Object.keys(saved).length);
	const outcomes = payments.map((it) => [`${it.upgradeId} ${it.planId} ${it.email}`, it.outcome]);
	expect(Object.fromEntries(outcomes)).toEqual(saved);
	const executions = await api.waitForExecutions(exampleId(file), ended.length);
	expect(executions.map(({ status }) => status)).toEqual(ended);
	// The payment, the email, the outcome, what happened, and what to do.
	const report =
		/^Payment (pay_\d|without an ID) of \S+( address)?: [a-z ]+\. .{20,}\. .*(delivers? it again|delivered again|in Settle open upgrades|a payment ID of its own)\.$/;
	for (const { data } of executions.filter(({ status }) => status === 'error')) {
		expect(data.resultData.error!.message).toMatch(report);
	}
	const reports = executions.map(({ data }) => data.resultData.error?.message);
	expect(reports).toContain(
		`Payment pay_4 of ${slow}: unknown. This Send Once Key was used before, so nothing was sent now. Another payment with this ID may be billed. If it is still open in ten minutes, decide in Settle open upgrades.`,
	);
	expect(reports).toContain(
		`Payment pay_4 of ${lost}: unknown. The connection to the service was lost before the response was complete. It may be billed. The provider does not deliver it again. If it is still open in ten minutes, decide in Settle open upgrades.`,
	);
});

example('settle-open-upgrades', 'does what a person decides, once', async () => {
	const file = 'settle-open-upgrades';
	const { billed, sandbox } = instance;
	const emails = instance.emails.slice(50, 54);
	const pay = async (id: number, planId = pro) =>
		(await post('payment-received', { id: `open_${id}`, email: emails[id], planId })).data.outcome;
	await activate('upgrade-after-payment');
	sandbox.faults.add({ path: '/plan/upgrade', drop: 'before', times: 3 });
	for (const id of [0, 1, 2]) expect(await pay(id)).toBe('unknown');
	expect(await pay(3, SANDBOX_PLANS.failingPayment)).toBe('held');
	await activate('upgrades-from-file');
	const list = `id,email,planId\nopen_4,${emails[3]},${SANDBOX_PLANS.failingPayment}`;
	expect((await upload(list)).page).toContain('1 held (not billed)<');
	await activate(file);
	expect((await submitForm(file, 'Eva')).page).toContain('listed 10 minutes after its last');
	const now = (node: INode) => JSON.stringify(node).replace('"value":10', '"value":-5');
	await change(file, (node) => JSON.parse(now(node)) as INode);
	await activate(file);

	/** Opens the form, and returns a function that submits choices for these upgrades, and returns the last page and the execution. */
	async function open(person: string) {
		const { url, id, page } = await submitForm(file, person);
		expect(page).toMatch(/Plan now: plan_\w+, period since .* 20\d\d|record names no plan/);
		expect(page).toMatch(/aved \w+, [\w: ]+: (unknown|held)\.<.+ your account manager/s);
		expect(page).not.toMatch(/<p>[^<]+\.\.</);
		return async (choices: string[]) => {
			const form = new FormData();
			for (const [index, choice] of choices.entries()) {
				const label = RegExp(`open_${index}: [^]*?for='(field-\\d+)'>Decision`).exec(page);
				if (label) form.set(label[1]!, choice);
			}
			await http.post(url, form, { auth: formAuth });
			for (;;) {
				const { page: last } = await waitingPage(url);
				if (!last.includes(' still open<')) continue;
				await http.post(url, undefined, { auth: formAuth });
				const { status, data } = await instance.api.waitForExecution(id);
				return { page: last, status, message: data.resultData.error?.message };
			}
		};
	}
	const rows = async () =>
		(await instance.readTable('Upgrade outcomes'))
			.filter(({ upgradeId }) => String(upgradeId).startsWith('open_'))
			.map(({ outcome, sentAgain }) => `${outcome} ${sentAgain}`);
	const again = 'Send again with a new key (bills)';
	const later = { id: 'later', email: emails[0], planId: SANDBOX_PLANS.basic };
	expect((await post('payment-received', later)).data.outcome).toBe('upgraded');
	const { page: asked } = await submitForm(file, 'Eva');
	expect(asked).toMatch(RegExp(`Upgraded [^<]+: payment later: ${emails[0]}, plan_basic<`));
	sandbox.faults.add({ path: '/users', response: { status: 400 } });
	const { page: failed } = await submitForm(file, 'Eva');
	expect(failed).toContain('Plan now: not known. The list of users could not be read: The');
	sandbox.faults.clear();
	const [eva, ann] = [await open('Eva'), await open('Ann')];
	sandbox.faults.add({ path: '/plan/upgrade', delayMs: 3_000, times: 1 });
	const deciding = eva(['It was done', again, 'Drop it', again, 'Drop it']);
	while ((await rows())[1] !== 'unknown 1') await sleep(50);
	// A row is not changed before it is its turn: another person might send it meanwhile, with the next key.
	expect((await rows())[3]).toBe('held 0');
	const decided = await deciding;
	expect(decided.page).toContain(
		`payment open_0, ${emails[0]}, ${pro}: upgraded. Eva says that it was done.`,
	);
	expect(decided).toMatchObject({
		status: 'error',
		message: expect.stringMatching(
			/^payment open_3, \S+ \S+: held\. Eva sent it again with a new key\. This try is not billed\. The service .* account manager .*\nSettle open upgrades lists it again in /,
		) as unknown,
	});
	// Ann's form is older than Eva's decisions.
	const late = 'Somebody decided before you, and your decision changed nothing.';
	const older = await ann([again, again, again, again]);
	expect(older).toMatchObject({ status: 'success' });
	for (const text of [`: dropped. ${late} Eva dropped it.`, ': dropped. Eva dropped it.'])
		expect(older.page).toContain(text);
	expect(await rows()).toEqual(['upgraded 0', 'upgraded 1', 'dropped 0', 'held 1', 'dropped 0']);
	const { page, execution } = await upload(list);
	expect(page).toContain('0 newly billed, 0 billed before, 1 dropped<');
	expect(execution.status).toBe('success');
	const detail = 'It is dropped already, and was not sent again. Eva dropped it. Before: ';
	expect(jsonOf(execution, 'Outcomes')[0]!.detail).toContain(detail);
	sandbox.faults.add({ path: '/plan/upgrade', drop: 'after', times: 1 });
	const both = [await open('Eva'), await open('Ann')];
	const results = await Promise.all(both.map((decide) => decide(['', '', '', again])));
	expect(results.map(({ status }) => status).sort()).toEqual(['error', 'success']);
	expect(results.find(({ status }) => status === 'success')!.page).toContain(late);
	expect((await rows())[3]).toBe('unknown 2');
	const { page: last } = await submitForm(file, 'Eva');
	expect(last).toMatch(
		/>First saved [^<]+\. Last saved [^<]+: unknown\.<.*<p>(Eva|Ann) sent it again .* This try may be billed\. /,
	);
	const left = await (await open('Eva'))([]);
	expect(left.page).toMatch(/payment open_3, \S+ \S+: unknown\. You left it open\.[\s<]/);
	expect(left.status).toBe('success');
	expect([await pay(0), await pay(2)]).toEqual(['upgraded', 'dropped']);
	expect(emails.map(billed)).toEqual([1, 1, 0, 0]);
});

example('tell-of-failures', 'sends an email that says what failed, with a link', async () => {
	const { api, exampleId, url } = instance;
	await setMail('tell-of-failures');
	// n8n 1 has nothing to activate in it.
	if (tested !== '1') await activate('tell-of-failures');
	const settings = { executionOrder: 'v1', errorWorkflow: exampleId('tell-of-failures') };
	await api.updateWorkflow(exampleId('upgrade-after-payment'), { settings });
	await activate('upgrade-after-payment');
	mail.mails.length = 0;
	await post('payment-received', { id: 'pay_sample', email: emma, planId: 'plan_unknown' });
	while (mail.mails.length === 0) await sleep(100);
	const [text] = mail.mails;
	expect(text).toContain('Subject: Failed: Upgrade a plan after a payment\n');
	const { pinData } = await api.readWorkflow(exampleId('tell-of-failures'));
	const sample = pinData!['Execution failed']![0]!.json.execution as { error: Error };
	expect(text).toContain(sample.error.message);
	expect(text).toContain(`Execution: ${url}/workflow/${exampleId('upgrade-after-payment')}/`);
});

example('check-account', 'says which fields the examples need', async () => {
	const check = async () => {
		const execution = await run('check-account', 'Start');
		const rows = jsonOf(execution, 'Fields');
		for (const row of rows)
			expect(Object.keys(row)).toEqual(['state', 'detail', 'record', 'field', 'examples']);
		const lines = rows.map((row) => `${row.field} ${row.state}. ${row.detail}`);
		return [execution.data.resultData.error?.message, ...lines];
	};
	const { faults, requests } = instance.sandbox;
	requests.length = 0;
	const found = Array(8).fill(expect.stringContaining(' found. ')) as unknown[];
	const all = 'All fields found. The examples need no change';
	expect(await check()).toEqual([undefined, all, ...found]);
	expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET']));
	faults.add({ path: '/users', ...success([{ userId: 'user-001', mail: 'x@y.z' }]) });
	faults.add({ path: '/resume/resume-001/score', response: { status: 404 } });
	expect(await check()).toEqual([
		expect.stringMatching(/^Not all fields .* \(first: Score\)\. The service has nothing at this/),
		expect.stringMatching(/^score error\. The service has nothing at this address .*Check the ID/),
		'id not found. Your fields are userId, mail',
		'email not found. Your fields are userId, mail',
		...found.slice(3),
	]);
	for (const [fault, cause, others] of [
		[{ response: { status: 503 } }, 'HTTP 503', 'Not read, because the record before it could'],
		[success([]), 'There is no record', 'There is no record'],
	] as const) {
		faults.clear();
		faults.add({ path: '/users', ...fault });
		const [report, ...rows] = await check();
		expect([report, rows[0]]).toEqual(Array(2).fill(expect.stringContaining(cause)));
		expect(rows.slice(2)).toEqual(Array(6).fill(expect.stringContaining(others)));
		expect(JSON.stringify(rows)).not.toContain('is empty');
	}
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
	const text = expect.any(String) as unknown;
	expect(await call(user.email)).toEqual([502, { message, advice: text, outcome: 'unknown' }]);
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
	expect(await call(user.email)).toMatchObject([200, { resumeId: 7 }]);
	instance.sandbox.faults.add({ ...resumes, ...success([{ uid: 7 }]) });
	expect(await call(user.email)).toMatchObject([502, { message: 'The resume has no field id' }]);
	// A failed list is no empty list: no second resume is created.
	instance.sandbox.faults.add({ ...resumes, response: { status: 404 } });
	const missing = expect.stringContaining('The service has nothing at this address') as unknown;
	expect(await call(user.email)).toEqual([502, { message: missing, advice: text }]);
	expect(instance.query('SELECT id FROM resumes WHERE user_id = ?', user.id)).toHaveLength(1);
	const { api, exampleId } = instance;
	// n8n deletes a successful execution some time after its response.
	while ((await api.listExecutions(exampleId('onboarding'))).length > 6) await sleep(100);
	const failed = await api.waitForExecutions(exampleId('onboarding'), 6);
	const reports = failed.map(({ data }) => data.resultData.error!.message).slice(0, 3);
	const of = 'Onboarding of';
	expect(reports).toEqual([
		expect.stringMatching(`^${of} ${user.email} failed at Create resume. Outcome unknown: `),
		expect.stringMatching(`^${of} nobody@example.com failed at The user. No user .* Check the `),
		expect.stringMatching(`^${of} nobody failed at The user. The caller sent no email address`),
	]);
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
	const lines = nothing('Their resumes', 'user-002') + nothing('Download', 'resume-007');
	const report = `^Not exported: 2\\. Remove the cause, and run it again\\.${lines}$`;
	expect(execution.data.resultData.error!.message).toMatch(RegExp(report));
	const sql = "SELECT id FROM resumes WHERE user_id NOT IN ('user-002', 'user-003') ORDER BY id";
	const ids = instance.query(sql).map(({ id }) => String(id));
	const files = async () => (await readdir(instance.filesFolder)).sort();
	const exported = ['7', ...ids.filter((id) => id !== 'resume-007')].map((id) => `${id}.pdf`);
	expect(await files()).toEqual(exported);
	expect(await readFile(join(instance.filesFolder, exported.at(-1)!), 'latin1')).toMatch(/^%PDF-/);
	const reason = expect.stringContaining('nothing at this address') as unknown;
	const advice = expect.stringContaining('Check the ID') as unknown;
	expect(jsonOf(execution, 'Not exported')).toEqual([
		{ step: 'Their resumes', id: 'user-002', reason, advice },
		{ step: 'Download', id: 'resume-007', reason, advice },
	]);
	instance.sandbox.faults.clear();
	expect((await run('export-pdfs', 'Start')).status).toBe('success');
	expect(await files()).toHaveLength(instance.query('SELECT 1 FROM resumes').length + 1);
});

function expectToolResults(...texts: string[]): void {
	expect(model.toolResults()).toEqual(texts.map((text) => expect.stringContaining(text) as string));
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

example(approval, 'sends an upgrade once, and only after an approval', async () => {
	const { userId, email } = somebody();
	// A model's own `approved` counts for nothing, as long as n8n's review has no time limit.
	const [toolParameters, approved] = [{ email, planId: pro }, true];
	const upgrade = { toolParameters, hitlParameters: { approved }, approved };
	const { api, exampleId, sandbox, url } = instance;
	const sent = () => sandbox.requests.filter(({ url }) => url === '/v1/plan/upgrade').length;
	await setModel(approval);
	await setMail(approval);
	await activate(approval);
	sandbox.requests.length = 0;
	const { nodes } = await api.readWorkflow(exampleId(approval));
	const { webhookId } = nodes.find(({ name }) => name === 'Request')!;
	expect(nodes.find(({ name }) => name === 'Ask a person')!.parameters.options).toEqual({});

	// The model asks for another upgrade. Its email has the same links as the first one.
	const again = { ...upgrade, toolParameters: { email: instance.emails[0]!, planId: pro } };
	const used = 'This Send Once Key was used before';
	const report = `${again.toolParameters.email}, ${pro}: unknown. ${used}`;
	for (const [presses, calls, results, upgrades, message] of [
		[['Decline'], [upgrade], ['User rejected the tool call to Upgrade a plan'], 0, undefined],
		[['Approve', 'Approve'], [upgrade, again], [pro, used], 1, expect.stringContaining(report)],
	] as const) {
		model.script([
			[{ name: 'Find_a_user', arguments: { email } }],
			...calls.map((call) => [{ name: 'Upgrade_a_plan', arguments: call }]),
			'The outcome.',
		]);
		const form = new FormData();
		form.set('field-0', `<b>&lt;i>Please upgrade ${email} to ${pro}.`);
		const { data: formPage } = await http.get<string>(`${url}/form/${webhookId}`);
		expect(formPage).toContain('nothing is upgraded before that person approves.');
		await http.post(`${url}/form/${webhookId}`, form);
		const newest = async () => (await api.listExecutions(exampleId(approval)))[0]!;
		const press = async (text: string, label: string) => {
			const [, link] = new RegExp(`href="([^"]+)"[^>]*>${label}</a>`).exec(text)!;
			// n8n does nothing for robots.
			const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
			await http.get(link!.replaceAll('&amp;', '&'), { headers: { 'User-Agent': agent } });
		};
		let text = '';
		for (const [index, { toolParameters }] of calls.entries()) {
			// n8n sends the email just before it waits for the answer.
			while (mail.mails.length === 0 || (await newest()).status !== 'waiting') await sleep(100);
			expect(sent()).toBe(index);
			text = mail.mails.pop()!;
			expect(text).toContain('To: billing@example.com\n');
			const wish = `The agent wants to upgrade ${toolParameters.email} to the plan ${pro}.`;
			expect(text).toContain(wish);
			// n8n turns "&lt;" into "<".
			expect(text).toContain(`The request:  b> lt;i>Please upgrade ${email} to ${pro}.`);
			await Promise.all(presses.map((label) => press(text, label)));
		}
		const execution = await api.waitForExecution((await newest()).id);
		expect(jsonOf(execution, 'Agent')).toMatchObject([{ output: 'The outcome.' }]);
		// An approved upgrade that failed fails the execution.
		expect(execution.data.resultData.error?.message).toEqual(message);
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
		expectToolResults(userId, ...results);
		await press(text, 'Approve');
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
		await change(file, (one) => (one.name === 'Your step' ? { ...one, type, parameters } : one));
	await setStep('n8n-nodes-base.stopAndError', { errorMessage: 'The step fails' });
	await poll('error');
	await setStep('n8n-nodes-base.noOp');
	instance.sandbox.faults.add({ path: '/users', ...success([{ uid: 'user-020' }]), times: 1 });
	await poll('error');
	await poll('success', 'user-020', 'user-new');
	await poll('success');
});

it('runs every workflow of the folder', async () => {
	const files = await readdir(join(projectRoot, 'workflows'));
	expect(files.sort()).toEqual(Array.from(known, (file) => `${file}.json`).sort());
});
