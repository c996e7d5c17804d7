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
	countExecutions,
	deliver,
	endsAfter,
	instance,
	payments,
	useUpgrades,
} from './upgrades.mts';

/** The example that receives payments in a real n8n, with bodies as providers send them. */

useUpgrades();

const { pro, basic } = SANDBOX_PLANS;

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
	const before = await countExecutions(payments);
	const responses = [];
	for (const body of bodies) responses.push(await deliver(body));
	return { responses, ends: await endsAfter(payments, before, bodies.length) };
}

it('bills a payment once, delivered three times at once and once more', async () => {
	const payment = newPayment();
	expect((await deliver(payment, 'a guess')).status).toBe(403);
	const before = await countExecutions(payments);
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
	expect(await rowsOf(upgradeId)).toMatchObject([row]);
	const other = await deliverAll([{ ...payment, planId: basic }]);
	expect(other.responses[0]).toMatchObject({ status: 200, data: { outcome: 'not sent' } });
	expect(other.ends).toEqual([
		`Payment ${upgradeId} of ${email}: not sent. This payment is upgraded for ${email}, ${pro}, so nothing was sent for ${basic}. Another upgrade needs a payment ID of its own.`,
	]);
	expect(instance.billed(payment.email)).toBe(1);
	expect(await rowsOf(upgradeId)).toMatchObject([row]);
});

it.each([
	['a refund', { status: 'refunded' }],
	['a refund', { event: 'PAYMENT.CAPTURE.REFUNDED' }],
	['a refund', { type: 'charge.refunded', planId: undefined }],
	['a negative amount', { amount: -5 }],
	['a negative amount', { amount: '−5,00 €' }],
	['a negative amount', { amount: '(5.00)' }],
	['a test', { test: 'true' }],
	['a test', { livemode: false }],
	['the status unpaid', { status: 'unpaid' }],
	['the status Pending', { status: 'Pending' }],
])('ignores %s with HTTP 200: %j', async (reason, body) => {
	instance.sandbox.requests.length = 0;
	const { responses, ends } = await deliverAll([newPayment(body)]);
	expect(responses).toEqual([
		{ status: 200, data: { received: true, outcome: 'ignored', reason } },
	]);
	expect([ends, instance.sandbox.requests]).toEqual([['success'], []]);
});

it('names a status that nobody has explained, and bills nothing', async () => {
	const { responses, ends } = await deliverAll([newPayment({ status: 'approved' })]);
	expect(responses).toMatchObject([{ status: 200, data: { outcome: 'ignored' } }]);
	expect(ends[0]).toMatch(/: ignored\. .* the status approved .* add it to PAID in Judge the /);
});

it.each([
	['status', { status: undefined }],
	['status', { status: ['paid'] }],
	['planId', { planId: [pro] }],
	['email', { email: { address: 'emma.larsen@example.com' } }],
	['paymentId', { id: undefined }],
	['paymentId', { id: ' ' }],
])('refuses a body without text in %s with HTTP 400: %j', async (field, body) => {
	instance.sandbox.requests.length = 0;
	const { responses, ends } = await deliverAll([newPayment(body)]);
	const reason = `no text in ${field}`;
	expect(responses).toMatchObject([{ status: 400, data: { received: false, reason } }]);
	expect(ends[0]).toMatch(
		`: not sent. There is ${reason}. Enter your provider's fields in Payment`,
	);
	expect(instance.sandbox.requests).toEqual([]);
});

it('refuses a body that is a list, and a number that has lost digits', async () => {
	const number = JSON.stringify(newPayment({ id: 1 })).replace('"id":1', '"id":9007199254740993');
	const bodies = [[newPayment()], {}, number];
	const { responses } = await deliverAll(bodies);
	expect(responses.map(({ status }) => status)).toEqual([400, 400, 400]);
});

it.each([
	['nothing to pay', { status: 'no_payment_required', amount: 0 }],
	['blanks and capitals', { status: ' COMPLETED\n' }],
	['a number as ID', { id: 123 }],
])('upgrades a payment with %s', async (_, body) => {
	const payment = newPayment(body);
	const { responses } = await deliverAll([payment, payment]);
	expect(responses).toMatchObject([
		{ status: 200, data: { outcome: 'upgraded', repeated: false } },
		{ status: 200, data: { outcome: 'upgraded', repeated: true } },
	]);
	expect(instance.billed(payment.email)).toBe(1);
});

const settle = 'If it is still open in ten minutes, decide in Settle open upgrades.';
const failures = [
	[
		'unknown',
		200,
		{},
		{ drop: 'after' },
		`It may be billed. The provider does not deliver it again. ${settle}`,
	],
	[
		'unknown',
		200,
		{},
		{ response: { status: 503 } },
		`It may be billed. The provider does not deliver it again. ${settle}`,
	],
	[
		'held',
		200,
		{ planId: SANDBOX_PLANS.failingPayment },
		undefined,
		`It is not billed. The provider does not deliver it again. ${settle}`,
	],
	[
		'refused',
		200,
		{ planId: 'plan_unknown' },
		undefined,
		'Then have the provider deliver it again.',
	],
	['refused', 200, {}, { response: { status: 401 } }, 'Then have the provider deliver it again.'],
	[
		'refused',
		503,
		{},
		{ response: { status: 429 } },
		'It is not billed. The provider got HTTP 503, so it delivers it again.',
	],
	['not sent', 400, { email: 'no address' }, undefined, 'and have it delivered again.'],
] as const;

it.each(failures)(
	'fails once for a payment that is %s, and responds with %d: %j, %j',
	async (outcome, httpStatus, body, fault, advice) => {
		const payment = newPayment(body);
		if (fault) instance.sandbox.faults.add({ path: '/plan/upgrade', ...fault });
		const { responses, ends } = await deliverAll([payment, payment]);
		expect(responses).toMatchObject(Array(2).fill({ status: httpStatus, data: { outcome } }));
		const { id, email } = payment;
		expect(ends[0]).toMatch(
			RegExp(`^Payment ${id} of ${email}: ${outcome}\\. .{20,}\\. .*${advice}$`),
		);
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
		expect(ends[0]).toMatch(/so it delivers it again\.$/);
	}
	await api.updateWorkflow(exampleId(payments), { nodes });
	await activate(payments);
	expect((await deliver(payment)).data.outcome).toBe('upgraded');
	expect(instance.billed(payment.email)).toBe(1);
	expect(await rowsOf(payment.id)).toMatchObject([{ outcome: 'upgraded' }]);
});

it('waits for the first delivery of a payment, and has it delivered again if that takes long', async () => {
	const payment = newPayment();
	instance.sandbox.faults.add({ path: '/plan/upgrade', delayMs: 15_000, times: 1 });
	const before = await countExecutions(payments);
	const first = deliver(payment);
	while ((await rowsOf(payment.id)).length === 0) await sleep(50);
	expect(await deliver(payment)).toMatchObject({ status: 503, data: { outcome: 'unknown' } });
	expect(await rowsOf(payment.id)).toMatchObject([{ outcome: 'unknown' }]);
	expect(await deliver(payment)).toMatchObject({ status: 200, data: { outcome: 'upgraded' } });
	expect(await first).toMatchObject({ status: 200, data: { outcome: 'upgraded' } });
	expect(await rowsOf(payment.id)).toMatchObject([{ outcome: 'upgraded' }]);
	expect(instance.billed(payment.email)).toBe(1);
	expect(await endsAfter(payments, before, 3)).toEqual(Array(3).fill('success'));
});

it('leaves a payment to a person if n8n was ended while it was sent', async () => {
	const { id: upgradeId, email, planId, ...more } = newPayment();
	const { api, exampleId } = instance;
	const { nodes } = await api.readWorkflow(exampleId(payments));
	const [, sending] = /sending = '([^']+)'/.exec(JSON.stringify(nodes))!;
	const row = { source: 'payment', upgradeId, email, planId, detail: sending, outcome: 'unknown' };
	await instance.insertRow('Upgrade outcomes', { ...row, sentAgain: 0, aiTokenId: '' });
	const late = (node: INode) =>
		JSON.parse(JSON.stringify(node).replace('10 * 60_000', '0')) as INode;
	await change(payments, late);
	const { responses, ends } = await deliverAll([{ id: upgradeId, email, planId, ...more }]);
	expect(responses).toMatchObject([{ status: 200, data: { outcome: 'unknown', repeated: true } }]);
	expect(ends[0]).toMatch(/: unknown\. It may be billed: .* Decide in Settle open upgrades\.$/);
	expect(instance.billed(email)).toBe(0);
	await api.updateWorkflow(exampleId(payments), { nodes });
	await activate(payments);
});

it('sends nothing again if the row of a held payment was deleted', async () => {
	const payment = newPayment({ planId: SANDBOX_PLANS.failingPayment });
	await deliver(payment);
	await instance.deleteRows('Upgrade outcomes', 'upgradeId', payment.id);
	instance.sandbox.requests.length = 0;
	const { responses, ends } = await deliverAll([payment]);
	expect(responses).toMatchObject([{ status: 503, data: { outcome: 'unknown' } }]);
	expect(ends[0]).toMatch(
		/: unknown\. .* was sent, and may be billed\. .* in Settle open upgrades\.$/,
	);
	expect(instance.sandbox.requests).toEqual([]);
	expect(await rowsOf(payment.id)).toMatchObject([{ outcome: 'unknown' }]);
});

it('keeps the reason of a held payment from another delivery at the same time', async () => {
	const payment = newPayment({ planId: SANDBOX_PLANS.failingPayment });
	await Promise.all([deliver(payment), deliver(payment)]);
	expect(await rowsOf(payment.id)).toMatchObject([{ outcome: 'held' }]);
});

it('saves a row whose texts have characters that PostgreSQL refuses', async () => {
	const payment = newPayment({ planId: 'plan\0x' });
	const { responses } = await deliverAll([{ ...payment, id: 'pay\0x' }]);
	expect(responses).toMatchObject([{ status: 400, data: { outcome: 'not sent' } }]);
	expect(await rowsOf('pay\ufffdx')).toMatchObject([{ planId: 'plan\ufffdx' }]);
});

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
	/** Returns the expressions of a column of the table. */
	async function expressions(column: number): Promise<string> {
		const page = await readFile(join(projectRoot, 'docs', 'examples.md'), 'utf8');
		const rows = page.split('### Stripe')[1]!.matchAll(/^ *\| `(\w+)`(.*)\|$/gm);
		return [...rows]
			.map(
				([, name, cells]) => `${name}: ${cells!.split(' | ')[column]!.replaceAll('`', '').trim()},`,
			)
			.join('\n');
	}

	async function receive(event: object, column: number) {
		const { api, exampleId } = instance;
		const { name, nodes, connections } = await api.readWorkflow(exampleId(payments));
		const jsonOutput = `={{ {\n${await expressions(column)}\n} }}`;
		const changed = nodes
			.filter((node) => node.name !== 'Respond')
			.map((node) => {
				if (node.name === 'Payment')
					return { ...node, parameters: { ...node.parameters, jsonOutput } };
				if (node.name !== 'Payment received') return node;
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
