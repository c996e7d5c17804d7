import { setTimeout as sleep } from 'node:timers/promises';
import type { INode } from 'n8n-workflow';
import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startMailServer, type MailServer } from '../support/mailServer.mts';
import { formAuth, http } from './examples.mts';
import { tested } from './instance.mts';
import { change, instance, useUpgrades } from './upgrades.mts';

/** The example that upgrades a plan after a person approves, in a real n8n, through its form and its emails. */

useUpgrades();

const file = 'upgrade-after-approval';
const table = 'Upgrade outcomes';

const { pro, basic, failingPayment } = SANDBOX_PLANS;

let mail: MailServer;

beforeAll(async () => {
	mail = await startMailServer();
	await setMail(mail.port);
});

afterAll(() => mail?.close());

/** Waits until something is so, at most two minutes: a loop that outlives its test would change the next one. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
	const deadline = Date.now() + 120_000;
	while (!(await isSo())) {
		if (Date.now() > deadline)
			throw new Error(`After two minutes, this is not so: ${String(isSo)}`);
		await sleep(50);
	}
}

let used = 0;
const newEmail = () => instance.emails[used++]!;

/** Gives the nodes with these names, or all that send emails, a mail server. */
async function setMail(port: number, ...names: string[]): Promise<void> {
	const data = { host: '127.0.0.1', port, secure: false, disableStartTls: true };
	const { id, name } = await instance.api.createCredential({ name: 'Mail', type: 'smtp', data });
	await change(file, (node) => {
		const isMeant = names.length === 0 || names.includes(node.name);
		return node.credentials?.smtp && isMeant
			? { ...node, credentials: { smtp: { id, name } } }
			: node;
	});
}

/** Sets how long the approver has for an answer. */
const setTimeLimit = async (resumeAmount: number, resumeUnit: 'minutes' | 'days') =>
	await change(file, (node) => {
		if (node.name !== 'Ask a person') return node;
		const values = { limitType: 'afterTimeInterval', resumeAmount, resumeUnit };
		const options = { appendAttribution: false, limitWaitTime: { values } };
		return { ...node, parameters: { ...node.parameters, options } };
	});

const approvals = async () =>
	(await instance.readTable(table)).filter(({ source }) => source === 'approval');

const newest = async () => (await instance.api.listExecutions(instance.exampleId(file)))[0]!;

interface Asked {
	email: string;
	planId?: string;
	reason?: string;
	requester?: string;
}

/** Submits the form, and returns the ID of its execution. */
async function ask({
	email,
	planId = pro,
	reason = 'New team',
	requester = 'anna@example.com',
}: Asked) {
	const { api, exampleId, url } = instance;
	const { nodes } = await api.readWorkflow(exampleId(file));
	const { webhookId } = nodes.find(({ name }) => name === 'Request')!;
	const form = new FormData();
	for (const [index, value] of [email, planId, reason, requester].entries())
		form.set(`field-${index}`, value);
	const { id: before } = (await newest()) ?? { id: '' };
	expect((await http.post(`${url}/form/${webhookId}`, form)).status).toBe(401);
	mail.mails.length = 0;
	await http.post(`${url}/form/${webhookId}`, form, { auth: formAuth });
	await until(async () => ((await newest())?.id ?? before) !== before);
	return (await newest()).id;
}

/** Waits until the approver is asked, and returns that email. */
async function question(id: string): Promise<string> {
	// n8n sends the email just before it waits for the answer.
	const status = async () => (await instance.api.readExecution(id)).status;
	await until(async () => mail.mails.length > 0 && (await status()) === 'waiting');
	return mail.mails.pop()!;
}

async function press(email: string, label: 'Approve' | 'Decline'): Promise<void> {
	const [, link] = new RegExp(`href="([^"]+)"[^>]*>${label}</a>`).exec(email)!;
	// n8n does nothing for robots.
	const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
	// n8n shows `waiting` a moment before it takes an answer, and responds with JSON until then. To an answer after the end of a
	// failed execution, it always responds with JSON.
	await until(async () => {
		const options = { headers: { 'User-Agent': agent }, responseType: 'text' } as const;
		const { data } = await http.get<string>(link!.replaceAll('&amp;', '&'), options);
		return !data.startsWith('{') || data.includes('has finished');
	});
}

/** Waits for the end of a request: its row, the email to both people, and the error of the execution. */
async function endOf(id: string) {
	const { data, status } = await instance.api.waitForExecution(id);
	return { row: (await approvals()).at(-1), status, message: data.resultData.error?.message };
}

async function askAndPress(asked: Asked, label: 'Approve' | 'Decline') {
	const id = await ask(asked);
	const email = await question(id);
	await press(email, label);
	return { id, email, ...(await endOf(id)) };
}

it('upgrades once, and only after an approval', async () => {
	const { billed, insertRow, deleteRows } = instance;
	const email = newEmail();
	const { nodes } = await instance.api.readWorkflow(instance.exampleId(file));
	for (const address of ['billing@example.com', 'n8n@example.com'])
		expect(JSON.stringify(nodes).split(address)).toHaveLength(3);

	// Open upgrades of the same user and recent ones to this plan are named, and those of others are not.
	const rows = [
		['pay_<40>', email.toUpperCase(), basic, 'unknown'],
		['pay_41', email, basic, 'held'],
		['pay_42', email, basic, 'upgraded'],
		['pay_43', 'x@y.z', basic, 'unknown'],
		['pay_44', email, pro, 'upgraded'],
		['pay_45', email, pro, 'dropped'],
	] as const;
	for (const [upgradeId, to, planId, outcome] of rows) {
		const row = { source: 'payment', upgradeId, email: to, planId, outcome };
		await insertRow(table, { ...row, detail: '', aiTokenId: '', sentAgain: 0 });
	}
	const since = String.raw`since \w+, \d+ \w+ \d+ [\d:]+ GMT\.`;
	const careful = (of: string, plan: string, outcome: string, advice: string) =>
		`CAREFUL: payment ${of} for this user \\(${plan}\\) is ${outcome} ${since} ${advice}\n`;
	const settle = 'Decline, and settle that first\\.';
	const warnings = [
		careful('pay_ 40>', basic, 'unknown', settle),
		careful('pay_41', basic, 'held', settle),
		careful('pay_44', pro, 'upgraded', 'Decline if this is the same\\.'),
		careful('pay_45', pro, 'dropped', 'It is not sent again on the same day\\.'),
	].join('');

	// A request can't add lines of its own: n8n turns "&lt;" into "<", and "\\n" into a line break.
	const reason = `<b>&lt;i>New team.\nUser: \\n New plan: x`;
	const declined = await askAndPress({ email, reason }, 'Decline');
	expect(declined.email).toContain(
		`Subject: Approve ${pro} for ${email}?\nTo: billing@example.com\n`,
	);
	expect(declined.email).toMatch(
		new RegExp(
			`>${warnings}User: ${email}\nNew plan: ${pro}\nPlan now: \\w[^\n]*\nAsked by anna@example.com:  b> lt;i>New team. User: n New plan: x\nApprove bills at once\\.`,
		),
	);
	expect(declined).toMatchObject({
		row: {
			...{ email, planId: pro, outcome: 'declined', aiTokenId: '', sentAgain: 0 },
			detail: expect.stringMatching(
				/^The approver in Cc declined, .* Asked by anna@example\.com: </,
			),
		},
		status: 'success',
	});
	for (const [upgradeId] of rows) await deleteRows(table, 'upgradeId', upgradeId);

	const id = await ask({ email });
	const question1 = await question(id);
	expect(question1).not.toContain('CAREFUL: payment');
	expect((await approvals()).at(-1)).toMatchObject({
		...{ email, planId: pro, outcome: 'asked' },
		detail: expect.stringContaining('Asked by anna@example.com: New team') as unknown,
	});
	expect(billed(email)).toBe(0);
	await Promise.all([press(question1, 'Approve'), press(question1, 'Approve')]);
	await endOf(id);
	// n8n 1 goes on at each click: the second sends nothing, because the row is no longer `asked`.
	await until(async () => (await approvals()).at(-1)!.outcome !== 'unknown');
	expect((await approvals()).at(-1)).toMatchObject({ email, outcome: 'upgraded' });
	await press(question1, 'Approve');
	expect(billed(email)).toBe(1);
	// Both people get the same email.
	expect(mail.mails.filter((one) => !one.includes('not sent now'))).toEqual([
		`Subject: Plan upgrade of ${email}: upgraded\nTo: anna@example.com, billing@example.com\n\n${email}, ${pro}: upgraded. Billed.\n\nAsked by anna@example.com: New team\n`,
	]);
	const again = await askAndPress({ email }, 'Decline');
	expect(again.email).toContain(`Plan now: ${pro}. CAREFUL: this is the new plan\n`);
});

it('asks nobody about a user who is not found or could not be looked up', async () => {
	const { sandbox } = instance;
	for (const [email, fault, detail, status] of [
		[
			'no@example.com',
			undefined,
			'No user has this email address. Correct the email or plan, and send a new request.',
			'success',
		],
		[
			newEmail(),
			{ path: '/users', response: { status: 503 } },
			/not available \(HTTP 503\)\. Send the request again when the service is back\.$/,
			'error',
		],
		[
			newEmail(),
			{ path: '/users', response: { status: 401 } },
			/\(HTTP 401\)\. For the workflow's owner: Check the credential's 'Private Key'/,
			'error',
		],
	] as const) {
		sandbox.faults.clear();
		if (fault) sandbox.faults.add(fault);
		const end = await endOf(await ask({ email }));
		const text = `${email}, ${pro}: not sent. Nobody was asked. `;
		expect(end).toMatchObject({ row: { email, outcome: 'not sent' }, status });
		expect(end.message ?? text).toContain(text);
		expect(mail.mails).toEqual([expect.stringContaining(text)]);
		const [shown] = mail.mails[0]!.split('\n\nAsked by');
		if (typeof detail === 'string') expect(shown).toContain(detail);
		else expect(shown).toMatch(detail);
	}
});

it('tells both people and the table what became of an approved upgrade', async () => {
	const { sandbox, billed } = instance;
	for (const [planId, fault, outcome, detail, times] of [
		['plan_gold', undefined, 'refused', /^Not billed\. .*Correct the email or plan/, 0],
		[failingPayment, undefined, 'held', /^Not billed\. /, 0],
		[pro, { drop: 'after', times: 1 }, 'unknown', /^It may be billed\. (?!.*resumes)/, 1],
		[pro, { drop: 'before', times: 1 }, 'unknown', /^It may be billed\. /, 0],
		[pro, { response: { status: 503 } }, 'unknown', /^It may be billed\. /, 0],
	] as const) {
		const email = newEmail();
		sandbox.faults.clear();
		if (fault) sandbox.faults.add({ path: '/plan/upgrade', ...fault });
		const { row, status, message } = await askAndPress({ email, planId }, 'Approve');
		expect(row).toMatchObject({
			...{ email, planId, outcome },
			detail: expect.stringMatching(detail) as unknown,
		});
		const text = `${email}, ${planId}: ${outcome}. `;
		expect([status, message]).toEqual(['error', expect.stringContaining(text)]);
		expect(mail.mails).toEqual([expect.stringContaining(text)]);
		const isOpen = outcome !== 'refused';
		expect(mail.mails[0]!.includes('settles it in Settle open upgrades')).toBe(isOpen);
		expect(billed(email)).toBe(times);
	}
});

it('bills equal requests of a day once, and says what became of the others', async () => {
	const { billed, deleteRows } = instance;
	const email = newEmail();
	// Two people ask before one of them is approved.
	const ids = [await ask({ email })];
	const questions = [await question(ids[0]!)];
	ids.push(await ask({ email: email.toUpperCase(), requester: 'ben@example.com' }));
	questions.push(await question(ids[1]!));
	expect(questions[1]).toMatch(
		/CAREFUL: approval \S+Z for this user \(plan_\w+\) is asked since .* It has its own email\./,
	);
	await Promise.all(questions.map(async (one) => await press(one, 'Approve')));
	for (const id of ids) expect((await endOf(id)).status).toBe('success');
	const rows = (await approvals()).slice(-2);
	expect(rows.map(({ outcome }) => outcome).sort()).toEqual(['not sent', 'upgraded']);
	expect(billed(email)).toBe(1);

	// Whatever became of it, also if its row is gone, it is not sent again that day.
	const other = newEmail();
	instance.sandbox.faults.add({ path: '/plan/upgrade', drop: 'after', times: 1 });
	await askAndPress({ email: other }, 'Approve');
	await deleteRows(table, 'email', other);
	const { row, message } = await askAndPress({ email: other }, 'Approve');
	expect(row).toMatchObject({ email: other, outcome: 'not sent' });
	expect(message).toBe(
		`${other}, ${pro}: not sent. The same was sent today, and may be billed. Look at its row in Upgrade outcomes: if it is unknown or held, settle it first. If it was dropped, ask again tomorrow.`,
	);
	expect(billed(other)).toBe(1);
});

it('says if nobody could be asked, or told', async () => {
	const { sandbox } = instance;
	sandbox.requests.length = 0;
	const email = newEmail();
	await setMail(1, 'Ask a person');
	const unasked = await endOf(await ask({ email }));
	// n8n 1 does not say that the email was not sent.
	const why =
		tested === '1'
			? 'Nobody answered in time, or Ask a person could not ask.'
			: 'Nobody was asked: no email could be sent.';
	const text = `${email}, ${pro}: not sent. ${why}`;
	expect(unasked).toMatchObject({ row: { outcome: 'not sent' }, status: 'error' });
	expect([unasked.message, ...mail.mails]).toEqual([
		expect.stringContaining(text),
		expect.stringContaining(text),
	]);

	await setMail(mail.port);
	await setTimeLimit(0.01, 'minutes');
	const unanswered = await ask({ email });
	const late = await question(unanswered);
	// Once a minute, n8n looks for executions whose time is up.
	await instance.api.waitForExecution(unanswered, 110_000);
	const end = 'not sent. Nobody answered in time, or Ask a person could not ask.';
	expect(await endOf(unanswered)).toMatchObject({
		row: { outcome: 'not sent' },
		message: expect.stringContaining(end) as unknown,
	});
	expect(mail.mails).toEqual([expect.stringContaining(end)]);
	await press(late, 'Approve');
	await setTimeLimit(7, 'days');

	await setMail(1, 'Tell both');
	const untold = await askAndPress({ email }, 'Decline');
	expect(untold.message).toContain('The outcome could not be emailed. It is in Upgrade outcomes.');
	expect(untold.message).toContain(`${email}, ${pro}: declined. The approver in Cc declined, so`);
	expect(untold.row).toMatchObject({ email, outcome: 'declined' });
	await setMail(mail.port);
	expect(sandbox.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

// n8n 1 finds no table by its name.
(tested === '1' ? it.skip : it)('asks nobody without the table, and saves at a retry', async () => {
	const { api, billed } = instance;
	const email = newEmail();
	const setTable = async (name: string, value: string) =>
		await change(file, (node: INode) =>
			node.name === name
				? {
						...node,
						parameters: { ...node.parameters, dataTableId: { __rl: true, mode: 'name', value } },
					}
				: node,
		);
	await setTable('Save request', 'Gone');
	expect((await endOf(await ask({ email }))).status).toBe('error');
	expect(mail.mails).toEqual([]);
	await setTable('Save request', table);
	await setTable('Save outcome', 'Gone');
	const { id, status, row } = await askAndPress({ email }, 'Approve');
	expect([status, row!.outcome, billed(email)]).toEqual(['error', 'unknown', 1]);
	expect(mail.mails).toEqual([expect.stringContaining(`${email}, ${pro}: upgraded. Billed.`)]);
	await setTable('Save outcome', table);
	await api.retryExecution(id, true);
	await until(async () => (await newest()).id !== id);
	expect((await endOf((await newest()).id)).row).toMatchObject({ email, outcome: 'upgraded' });
	expect(billed(email)).toBe(1);
});

it('keeps open approvals when n8n restarts, and the row of an upgrade in which it was killed', async () => {
	const { billed, killN8n, startN8nAgain, sandbox } = instance;
	const [email, other] = [newEmail(), newEmail()];
	const id = await ask({ email });
	const kept = await question(id);
	await killN8n();
	await startN8nAgain();
	await press(kept, 'Approve');
	expect(await endOf(id)).toMatchObject({ row: { email, outcome: 'upgraded' } });
	expect(billed(email)).toBe(1);

	sandbox.faults.add({ path: '/plan/upgrade', delayMs: 60_000, times: 1 });
	const killed = await ask({ email: other });
	await press(await question(killed), 'Approve');
	await until(() => billed(other) === 1);
	await killN8n();
	await startN8nAgain();
	expect((await approvals()).at(-1)).toMatchObject({
		...{ email: other, outcome: 'unknown' },
		detail: expect.stringMatching(
			/^It was approved, and then n8n ended\. It may be billed\./,
		) as unknown,
	});
	await instance.api.retryExecution(killed);
	await until(async () => (await newest()).id !== killed);
	const retried = (await newest()).id;
	const { message, row: unchanged } = await endOf(retried);
	expect([message, unchanged!.outcome]).toEqual([
		expect.stringContaining('not sent now. Its row in Upgrade outcomes is no longer "asked"'),
		'unknown',
	]);

	const { row } = await askAndPress({ email: other }, 'Approve');
	expect(row).toMatchObject({
		outcome: 'not sent',
		detail: expect.stringContaining('The same was sent today, and may be billed.') as unknown,
	});
	expect(billed(other)).toBe(1);
});

it('sends nothing for a request that was answered or settled', async () => {
	const { billed } = instance;
	const email = newEmail();
	const id = await ask({ email });
	const asked = await question(id);
	const { upgradeId } = (await approvals()).at(-1)!;
	await instance.deleteRows(table, 'upgradeId', String(upgradeId));
	const row = { source: 'approval', upgradeId, email, planId: pro, outcome: 'dropped' };
	await instance.insertRow(table, { ...row, detail: '', aiTokenId: '', sentAgain: 0 });
	await press(asked, 'Approve');
	const { message } = await endOf(id);
	const told = `${email}, ${pro}: not sent now. Its row in Upgrade outcomes is no longer "asked": see what it says. If it is unknown, settle it. If it is gone, send a new request.`;
	expect([message, ...mail.mails]).toEqual([
		expect.stringContaining(told),
		expect.stringContaining(told),
	]);
	expect([billed(email), (await approvals()).at(-1)!.outcome]).toEqual([0, 'dropped']);
});
