import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IConnections, INode, NodeParameterValueType } from 'n8n-workflow';
import { projectRoot } from '../../host/paths.mts';
import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { actionType, outputOf } from './instance.mts';
import {
	activate,
	change,
	newestExecution,
	deliver,
	endsAfter,
	instance,
	payments,
	useUpgrades,
} from './upgrades.mts';

/** The example that receives payments in a real n8n, with bodies as providers send them. */

useUpgrades();

const { pro, basic } = SANDBOX_PLANS;

const resend = "Then resend this event in your payment provider's dashboard.";

/** Sets fields of *Payment*. */
function withFields(node: INode, values: Record<string, string>): INode {
	if (node.name !== 'Payment') return node;
	const { assignments } = structuredClone(node.parameters) as unknown as Assignments;
	for (const field of assignments.assignments) field.value = values[field.name] ?? field.value;
	return { ...node, parameters: { ...node.parameters, assignments } };
}

type Assignments = { assignments: { assignments: Array<Record<'name' | 'value', string>> } };

let users = 0;
/** Returns a payment of a user who has none yet. */
function newPayment(change: object = {}) {
	const email = instance.emails[users++]!;
	return { id: `pay_${users}`, email, planId: pro, status: 'paid', ...change };
}

const rowsOf = async (id: string) =>
	(await instance.readTable('Upgrade outcomes')).filter(({ upgradeId }) => upgradeId === id);

/** Delivers payments, one after the other, and returns the responses and how the executions ended. */
async function deliverAll(bodies: Array<object | string>) {
	const before = await newestExecution(payments);
	const responses = [];
	for (const body of bodies) responses.push(await deliver(body));
	return { responses, ends: await endsAfter(payments, before, bodies.length) };
}

it('bills a payment once, delivered three times at once and once more', async () => {
	const payment = newPayment();
	expect((await deliver(payment, 'a guess')).status).toBe(403);
	const before = await newestExecution(payments);
	const atOnce = await Promise.all([payment, payment, payment].map(async (one) => deliver(one)));
	const again = await deliver({ ...payment, email: payment.email.toUpperCase() });
	for (const { status, data } of [...atOnce, again]) {
		expect([status, data]).toMatchObject([200, { received: true, outcome: 'upgraded' }]);
	}
	expect([...atOnce, again].map(({ data }) => data.repeated).sort()).toEqual([
		false,
		...[true, true, true],
	]);
	expect(await endsAfter(payments, before, 4)).toEqual(Array(4).fill('success'));
	expect(instance.billed(payment.email)).toBe(1);
	const { id: upgradeId, email, planId } = payment;
	const row = { source: 'payment', upgradeId, email, planId, outcome: 'upgraded', sentAgain: 0 };
	// PostgreSQL keeps a row of each delivery at the same time: n8n's upsert is not atomic there.
	const rows = await rowsOf(upgradeId);
	expect(rows).toMatchObject(rows.map(() => row));
	expect(rows.length).toBeGreaterThan(0);
	const other = await deliverAll([{ ...payment, planId: basic }]);
	expect(other.responses[0]).toMatchObject({ status: 200, data: { outcome: 'not sent' } });
	expect(other.ends).toEqual([
		`Payment ${upgradeId}, ${email}, ${basic}: not sent. This payment is upgraded for ${email}, ${pro}, so nothing was sent for ${basic}. Another upgrade needs a payment ID of its own.`,
	]);
	expect(instance.billed(payment.email)).toBe(1);
	expect(await rowsOf(upgradeId)).toEqual(rows);
});

it('sends nothing for a payment that has two equal rows', async () => {
	const payment = newPayment();
	await deliver(payment);
	const { source, upgradeId, email, planId, aiTokenId, outcome, detail, sentAgain } = (
		await rowsOf(payment.id)
	)[0]!;
	const twin = { source, upgradeId, email, planId, aiTokenId, outcome, detail, sentAgain };
	await instance.insertRow('Upgrade outcomes', twin);
	instance.sandbox.requests.length = 0;
	const { responses, ends } = await deliverAll([payment]);
	expect(responses).toMatchObject([{ status: 200, data: { outcome: 'upgraded', repeated: true } }]);
	expect([ends, instance.sandbox.requests]).toEqual([['success'], []]);
});

it.each([
	['a refund', { status: 'refunded' }],
	['a refund', { event: 'PAYMENT.CAPTURE.REFUNDED' }],
	['a refund', { type: 'charge.refunded', planId: undefined }],
	['a negative amount', { amount: -5 }],
	['a negative amount', { amount: '−5,00 €' }],
	['a negative amount', { amount: '(5.00)' }],
	['a negative amount', { amount: '5,00 -' }],
	['a test', { test: 'true' }],
	['a negative amount', { amount: '5-' }],
	['a negative amount', { amount: '\u20135' }],
	['a refund', { event_type: 'PAYMENT.CAPTURE.REFUNDED' }],
	['a refund', { object: 'refund' }],
	['a refund', { kind: 'Refund' }],
	['a refund', { action: 'refund' }],
	['a refund', { eventCode: 'CHARGEBACK' }],
	['a refund', { type: 'credit_note' }],
	['a refund', { type: 'Gutschrift' }],
	['a refund', { refunded: true }],
	['a refund', { isRefund: 'yes' }],
	['a refund', { amount_refunded: 2900 }],
	['a refund', { refunded: false, amount_refunded: '5.00' }],
	['a test', { isTest: true }],
	['a test', { isLive: false }],
	['a test', { livemode: false }],
	['a test', { livemode: 'false' }],
	['a test', { test: false, livemode: false }],
	['a test', { test: true, livemode: true }],
	['a test', { mode: 'test' }],
	['a test', { environment: 'Sandbox' }],
	['the status unpaid', { status: 'unpaid' }],
	['the status Pending', { status: 'Pending' }],
	['the status cancelled', { status: 'cancelled' }],
])('ignores %s with HTTP 200: %j', async (reason, body) => {
	instance.sandbox.requests.length = 0;
	const { responses, ends } = await deliverAll([newPayment(body)]);
	expect(responses).toEqual([
		{ status: 200, data: { received: true, outcome: 'ignored', reason } },
	]);
	expect([ends, instance.sandbox.requests]).toEqual([['success'], []]);
});

it('names a status that nobody has explained, bills nothing, and upgrades once it is in paidWords', async () => {
	const payment = newPayment({ status: 'bezahlt' });
	const { responses, ends } = await deliverAll([payment]);
	expect(responses).toMatchObject([{ status: 200, data: { outcome: 'ignored' } }]);
	expect(ends[0]).toMatch(
		/: ignored\. .* the status bezahlt means\. It is not billed\. Add it to notPaidWords or, .* to paidWords in Payment\. /,
	);
	const { api, exampleId } = instance;
	const { nodes } = await api.readWorkflow(exampleId(payments));
	await change(payments, (node) => withFields(node, { paidWords: 'paid,Bezahlt , ok' }));
	expect((await deliver(payment)).data.outcome).toBe('upgraded');
	await api.updateWorkflow(exampleId(payments), { nodes });
	await activate(payments);
});

it('still bills no refund or test once the fields have names of another provider', async () => {
	const { api, exampleId } = instance;
	const { nodes } = await api.readWorkflow(exampleId(payments));
	const fields = ['isRefund', 'isTest', 'amount', 'event'].map((name) => [
		name,
		`={{ $json.body.data.${name} }}`,
	]);
	await change(payments, (node) => withFields(node, Object.fromEntries(fields)));
	const data = [{ isRefund: 2900 }, { isTest: 'yes' }, { amount: -1 }, { event: 'Reversal' }];
	const bodies = [...data.map((one) => newPayment({ data: one })), newPayment({ test: true })];
	const { responses } = await deliverAll(bodies);
	const reasons = ['a refund', 'a test', 'a negative amount', 'a refund', 'a test'];
	expect(responses.map(({ data: { reason } }) => reason)).toEqual(reasons);
	await api.updateWorkflow(exampleId(payments), { nodes });
	await activate(payments);
});

it.each([
	['no valid status', { status: undefined }],
	['no valid status', { status: ['paid'] }],
	['no valid amount', { amount: { value: '-5.00', currency: 'EUR' } }],
	['no valid amount', { amount: [-5] }],
	['no valid planId', { planId: [pro] }],
	["'Plan ID' is empty", { planId: undefined }],
	["'Plan ID' .*U\\+0000", { planId: 'plan\0x' }],
	['no valid email', { email: { address: 'emma.larsen@example.com' } }],
	['no valid paymentId', { id: undefined }],
	['no valid paymentId', { id: ' ' }],
	['no valid paymentId', { id: ['pay_list'] }],
	['no valid paymentId', { id: true }],
	['no valid paymentId', { id: 'undefined' }],
	['no valid paymentId', { id: 0 }],
	['no valid paymentId', { id: '00' }],
	['no valid paymentId', { id: '0.00' }],
	['no valid paymentId', { id: '00000000-0000-0000-0000-000000000000' }],
	["The payment's ID .*U\\+0000", { id: 'pay\0x' }],
])('refuses a body that can not be read with HTTP 400, and says why: %s, %j', async (why, body) => {
	instance.sandbox.requests.length = 0;
	const { responses, ends } = await deliverAll([newPayment(body)]);
	expect(responses).toMatchObject([{ status: 400, data: { received: false } }]);
	expect(responses[0]!.data.reason).toMatch(RegExp(why, 's'));
	expect(ends[0]).toMatch(
		RegExp(`: not sent\\. .*${why}.* It is not billed\\. .* Payment\\. ${resend}$`, 's'),
	);
	expect(instance.sandbox.requests).toEqual([]);
	const rows = await instance.readTable('Upgrade outcomes');
	expect(JSON.stringify(rows)).not.toContain('\\u0000');
	// Without an ID, each would replace the row of another.
	const ofNobody = rows.filter(({ upgradeId }) => !/[1-9a-z]/.test(String(upgradeId)));
	expect(ofNobody).toEqual([]);
});

it('refuses a body that is a list, and a number that has lost digits', async () => {
	const number = JSON.stringify(newPayment({ id: 1 })).replace('"id":1', '"id":9007199254740993');
	const plan = JSON.stringify(newPayment({ planId: 1 })).replace('"planId":1', '"planId":1e+21');
	const bodies = [[newPayment()], {}, number, plan];
	instance.sandbox.requests.length = 0;
	const { responses, ends } = await deliverAll(bodies);
	expect(responses.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
	expect(ends[2]).toMatch(/no valid paymentId\. .* or a number of more than 15 digits\. /);
	expect(ends[3]).toMatch(/no valid planId\. .* or a number of more than 15 digits\. /);
	expect(instance.sandbox.requests).toEqual([]);
});

it.each([
	['nothing to pay', { status: 'no_payment_required', amount: 0 }],
	['blanks and capitals', { status: ' COMPLETED\n' }],
	['signs of a live payment', { test: false, livemode: 'true', mode: 'payment', amount: '5,-' }],
	['nothing refunded', { refunded: false, amount_refunded: 0, isTest: false, isLive: true }],
	['a number as ID', { id: 123 }],
	['a long number that is text as ID', { id: '9007199254740993', note: 9007199254740000 }],
	['zeros in its ID', { id: '0070' }],
])('upgrades a payment with %s', async (_, body) => {
	const payment = newPayment(body);
	const { responses } = await deliverAll([payment, payment]);
	expect(responses).toMatchObject([
		{ status: 200, data: { outcome: 'upgraded', repeated: false } },
		{ status: 200, data: { outcome: 'upgraded', repeated: true } },
	]);
	expect(instance.billed(payment.email)).toBe(1);
});

const decide = 'decide in Settle open upgrades.';
const later =
	'It is not billed. Your payment provider got HTTP 503, so it delivers the payment again.';
const again = `${later} Correct the cause before then.`;
const map = `It is not billed. Map the plan in Payment. ${resend} Or upgrade from a file.`;
const correct = `It is not billed. Correct the cause. ${resend}`;
const failures = [
	['unknown', 200, {}, { drop: 'after' }, `\\. It may be billed. In ten minutes, ${decide}`],
	[
		'unknown',
		200,
		{},
		{ response: { status: 503 } },
		`\\. It may be billed. In ten minutes, ${decide}`,
	],
	[
		'held',
		200,
		{ planId: SANDBOX_PLANS.failingPayment },
		undefined,
		`It is not billed. In ten minutes, ${decide}`,
	],
	['refused', 200, { planId: 'plan_unknown' }, undefined, map],
	['refused', 503, {}, { response: { status: 401 } }, `Private Key.* ${again}`],
	[
		'refused',
		200,
		{},
		{ response: { status: 200, body: '{"status":"error","errorMessage":"Sign in"}' } },
		`If this is about a key, check the credential's 'Private Key'. Else check the email and the plan. ${correct}`,
	],
	[
		'refused',
		200,
		{},
		{
			response: { status: 200, body: '{"status":"error","errorMessage":"No user has this email"}' },
		},
		`: No user has this email[^.]*\\. Check the email and the plan. ${correct}`,
	],
	['refused', 503, {}, { response: { status: 429 } }, `\\(HTTP 429\\)\\. ${later}`],
	[
		'not sent',
		400,
		{ email: 'no address' },
		undefined,
		`It is not billed. Check Payment. ${resend}`,
	],
] as const;

it.each(failures)(
	'fails once for a payment that is %s, and responds with %d: %j, %j',
	async (outcome, httpStatus, body, fault, advice) => {
		const payment = newPayment(body);
		if (fault) instance.sandbox.faults.add({ path: '/plan/upgrade', ...fault });
		const { responses, ends } = await deliverAll([payment, payment]);
		expect(responses).toMatchObject(Array(2).fill({ status: httpStatus, data: { outcome } }));
		const { id, email, planId } = payment;
		expect(ends[0]).toMatch(
			RegExp(`^Payment ${id}, ${email}, ${planId}: ${outcome}\\. .{20,}${advice}$`),
		);
		expect(ends[0]).not.toContain('Outcome unknown');
		expect(ends[1]).toBe('success');
		expect(await rowsOf(id)).toMatchObject([{ email, outcome }]);
		instance.sandbox.faults.clear();
		// What is open is not sent again; what was refused is, once its reason has gone.
		const isOpen = ['unknown', 'held'].includes(outcome);
		const [after] = (await deliverAll([{ ...payment, ...(isOpen ? {} : { planId: pro }) }]))
			.responses;
		if (httpStatus !== 400) expect(after!.data.outcome).toBe(isOpen ? outcome : 'upgraded');
		if (outcome === 'refused') expect(instance.billed(email)).toBe(1);
		expect(await rowsOf(id)).toHaveLength(1);
	},
);

it('has a payment delivered again that could not be sent, and bills it then', async () => {
	const payment = newPayment();
	const { api, exampleId } = instance;
	const { nodes } = await api.readWorkflow(exampleId(payments));
	// At the first address nothing listens, and the second has no DNS.
	for (const baseUrl of ['http://127.0.0.1:1/v1', 'https://no-such-host.invalid/v1']) {
		const credentials = await instance.addCredential({ baseUrl });
		await change(payments, (node) => (node.type === actionType ? { ...node, credentials } : node));
		const { responses, ends } = await deliverAll([payment]);
		expect(responses).toMatchObject([{ status: 503, data: { outcome: 'refused' } }]);
		expect(ends[0]).toMatch(/so it delivers the payment again\. Correct the cause before then\.$/);
	}
	await api.updateWorkflow(exampleId(payments), { nodes });
	await activate(payments);
	expect((await deliver(payment)).data.outcome).toBe('upgraded');
	expect(instance.billed(payment.email)).toBe(1);
	expect(await rowsOf(payment.id)).toMatchObject([{ outcome: 'upgraded' }]);
});

it('has a payment delivered again whose first delivery takes long', async () => {
	const payment = newPayment();
	instance.sandbox.faults.add({ path: '/plan/upgrade', delayMs: 15_000, times: 1 });
	const before = await newestExecution(payments);
	const first = deliver(payment);
	while ((await newestExecution(payments)) === before) await sleep(50);
	expect(await deliver(payment)).toMatchObject({ status: 503, data: { outcome: 'unknown' } });
	expect(await rowsOf(payment.id)).toMatchObject([{ outcome: 'unknown' }]);
	expect(await first).toMatchObject({ status: 200, data: { outcome: 'upgraded' } });
	const repeated = { outcome: 'upgraded', repeated: true };
	expect(await deliver(payment)).toMatchObject({ status: 200, data: repeated });
	expect(await rowsOf(payment.id)).toMatchObject([{ outcome: 'upgraded' }]);
	expect(instance.billed(payment.email)).toBe(1);
	expect(await endsAfter(payments, before, 3)).toEqual([
		'success',
		expect.stringMatching(
			/: unknown\. Another delivery of this payment is being sent right now, or n8n stopped .* Look at its row in ten minutes\. If it is still unknown, decide in Settle open upgrades\.$/,
		),
		'success',
	]);
});

it('leaves a payment to a person if n8n was ended while it was sent', async () => {
	const payment = newPayment();
	const { faults, requests } = instance.sandbox;
	requests.length = 0;
	faults.add({ path: '/plan/upgrade', delayMs: 120_000, times: 1 });
	const lost = deliver(payment).catch(() => undefined);
	while (requests.length === 0) await sleep(20);
	await instance.killN8n();
	await lost;
	await instance.startN8nAgain();
	const { responses, ends } = await deliverAll([payment, payment]);
	expect(responses).toMatchObject([
		{ status: 503, data: { outcome: 'unknown' } },
		{ status: 200, data: { outcome: 'unknown', repeated: true } },
	]);
	expect(ends).toEqual([
		expect.stringMatching(/ or n8n stopped while it was sent\. .* Settle open upgrades\.$/),
		'success',
	]);
	expect(await rowsOf(payment.id)).toMatchObject([{ outcome: 'unknown', email: payment.email }]);
	expect(requests).toHaveLength(1);
});

it('sends nothing again if the row of a held payment was deleted', async () => {
	const payment = newPayment({ planId: SANDBOX_PLANS.failingPayment });
	await deliver(payment);
	await instance.deleteRows('Upgrade outcomes', 'upgradeId', payment.id);
	instance.sandbox.requests.length = 0;
	const { responses, ends } = await deliverAll([payment]);
	expect(responses).toMatchObject([{ status: 503, data: { outcome: 'unknown' } }]);
	expect(ends[0]).toMatch(/: unknown\. Another delivery .* in Settle open upgrades\.$/);
	expect(instance.sandbox.requests).toEqual([]);
	expect(await rowsOf(payment.id)).toMatchObject([{ outcome: 'unknown' }]);
});

it('finds the row of a payment whose ID comes with other invisible characters', async () => {
	const payment = newPayment({ id: 'e\u0301_1', planId: SANDBOX_PLANS.failingPayment });
	await deliver(payment);
	const again = await deliverAll([{ ...payment, id: '\u200b\u00e9_1\u00a0' }]);
	expect(again.responses).toMatchObject([{ status: 200, data: { outcome: 'held' } }]);
	expect(again.ends).toEqual(['success']);
	expect(await rowsOf('\u00e9_1')).toMatchObject([{ outcome: 'held' }]);
});

it('reports a held payment once, delivered twice at once', async () => {
	const payment = newPayment({ planId: SANDBOX_PLANS.failingPayment });
	const before = await newestExecution(payments);
	const responses = await Promise.all([deliver(payment), deliver(payment)]);
	expect(responses).toMatchObject(Array(2).fill({ status: 200, data: { outcome: 'held' } }));
	const ends = await endsAfter(payments, before, 2);
	expect(ends.sort()).toEqual([expect.stringMatching(/: held\. /), 'success']);
	expect(await rowsOf(payment.id)).toMatchObject([{ outcome: 'held' }]);
});

it.each([
	['applied', 'upgraded', 200, 'success'],
	[undefined, 'not sent', 503, /: not sent\. The node failed.*\. It is not billed\. .* HTTP 503/],
] as const)(
	'takes an error with the outcome %s for %s',
	async (outcome, saved, httpStatus, end) => {
		const { api, exampleId } = instance;
		const { nodes } = await api.readWorkflow(exampleId(payments));
		const error = JSON.stringify({ id: 'write.notShown', message: 'Not shown', outcome });
		const jsCode = outcome
			? `return { json: { error: ${error} } };`
			: "throw new Error('The node failed');";
		const type = 'n8n-nodes-base.code';
		const parameters = { mode: 'runOnceForEachItem', jsCode };
		await change(payments, (node) =>
			node.type === actionType ? { ...node, type, typeVersion: 2, parameters } : node,
		);
		const payment = newPayment();
		const { responses, ends } = await deliverAll([payment]);
		expect(responses).toMatchObject([{ status: httpStatus, data: { outcome: saved } }]);
		expect(ends[0]).toMatch(end);
		expect(await rowsOf(payment.id)).toMatchObject([{ outcome: saved }]);
		await api.updateWorkflow(exampleId(payments), { nodes });
		await activate(payments);
	},
);

it('sends nothing in Preview, and does not fail', async () => {
	const { api, exampleId } = instance;
	const { nodes } = await api.readWorkflow(exampleId(payments));
	const preview = (node: INode) => ({ ...node, parameters: { ...node.parameters, preview: true } });
	await change(payments, (node) => (node.type === actionType ? preview(node) : node));
	const payment = newPayment();
	const { responses, ends } = await deliverAll([payment]);
	expect(responses).toMatchObject([{ status: 503, data: { outcome: 'preview' } }]);
	expect([ends, instance.billed(payment.email)]).toEqual([['success'], 0]);
	await api.updateWorkflow(exampleId(payments), { nodes });
	await change(payments, (node) => node);
	expect((await deliver(payment)).data.outcome).toBe('upgraded');
});

describe('with Stripe, set up as docs/examples.md says', () => {
	/** Returns the fields and expressions of a column of the table. */
	async function expressions(column: number): Promise<Record<string, string>> {
		const page = await readFile(join(projectRoot, 'docs', 'examples.md'), 'utf8');
		const rows = page.split('### Stripe')[1]!.matchAll(/^ *\| `(\w+)`(.*)\|$/gm);
		const fields = [...rows].map(([, name, cells]) => [
			name,
			`={{ ${cells!.split(' | ')[column]!.replaceAll('`', '').trim()} }}`,
		]);
		return Object.fromEntries(fields) as Record<string, string>;
	}

	async function receive(event: object, column: number) {
		const { api, exampleId } = instance;
		const { name, nodes, connections } = await api.readWorkflow(exampleId(payments));
		const fields = await expressions(column);
		const changed = nodes
			.filter((node) => node.name !== 'Respond')
			.map((node) => {
				if (node.name !== 'Payment received') return withFields(node, fields);
				const parameters = { events: ['*'] as NodeParameterValueType };
				return {
					id: node.id,
					name: node.name,
					position: node.position,
					type: 'n8n-nodes-base.stripeTrigger',
					typeVersion: 1,
					parameters,
				} as INode;
			});
		const toFailed = JSON.stringify(connections).replaceAll('"node":"Respond"', '"node":"Failed?"');
		const { Respond: _, ...all } = JSON.parse(toFailed) as IConnections;
		const { id } = await api.createWorkflow({
			name: `${name} (Stripe)`,
			nodes: changed,
			connections: all,
			pinData: { 'Payment received': [{ json: event as never }] },
		});
		const run = await api.runWorkflow(id, 'Payment received');
		const execution = await api.waitForExecution(run);
		const [judged] = outputOf(execution, 'Judge the payment');
		const answer = judged!.json.answer as { reason?: string } | undefined;
		return answer?.reason ?? execution.data.resultData.error?.message ?? execution.status;
	}

	const session = (email: string, more = {}) => ({
		id: `cs_${users}`,
		payment_status: 'paid',
		status: 'complete',
		amount_total: 1900,
		customer_details: { email },
		metadata: { planId: pro },
		...more,
	});
	const event = (type: string, object: object, livemode = true) => ({
		id: 'evt_1',
		type,
		livemode,
		data: { object },
	});

	it.each([
		['a paid session', 'checkout.session.completed', {}, true, 'success', 1],
		[
			'a free session',
			'checkout.session.completed',
			{ payment_status: 'no_payment_required', amount_total: 0 },
			true,
			'success',
			1,
		],
		[
			'a session that is complete before it is paid',
			'checkout.session.completed',
			{ payment_status: 'unpaid' },
			true,
			'the status unpaid',
			0,
		],
		[
			'a session that is paid later',
			'checkout.session.async_payment_succeeded',
			{},
			true,
			'success',
			1,
		],
		['a session in test mode', 'checkout.session.completed', {}, false, 'a test', 0],
	])('does what fits %s', async (_, type, object, livemode, end, billed) => {
		const { email } = newPayment();
		expect(await receive(event(type, session(email, object), livemode), 1)).toBe(end);
		expect(instance.billed(email)).toBe(billed);
	});

	it('upgrades with each paid invoice of a renewal', async () => {
		const { email } = newPayment();
		const lines = { data: [{ metadata: { planId: pro } }] };
		const invoice = {
			id: `in_${users}`,
			status: 'paid',
			amount_paid: 1900,
			customer_email: email,
			lines,
		};
		expect(await receive(event('invoice.paid', invoice), 2)).toBe('success');
		expect(instance.billed(email)).toBe(1);
	});
});
