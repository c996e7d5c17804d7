import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import axios from 'axios';
import type { IDataObject, INode } from 'n8n-workflow';

import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startEmptyInstance, startMilliseconds, type EmptyInstance } from './instance.mts';

/** Send Once Key in a real n8n: deliveries of a payment's webhook, and what the service billed. */

const { pro } = SANDBOX_PLANS;
const KEY = '={{ $json.body.key }}';

/** How many keys are delivered twice at the same moment; at least some of them meet in n8n. */
const RACES = 20;

let instance: EmptyInstance;
let emails: string[];

beforeAll(async () => {
	instance = await startEmptyInstance({ N8N_CONCURRENCY_PRODUCTION_LIMIT: '20' });
	emails = instance.sandbox.database
		.prepare('SELECT email FROM users ORDER BY id')
		.all()
		.map(({ email }) => String(email));
}, startMilliseconds);

afterAll(async () => {
	await instance?.close();
}, 60_000);

afterEach(() => instance.sandbox.faults.clear());

interface Delivery {
	key?: unknown;
	email?: string;
	planId?: string;
}

interface Payments {
	workflowId: string;
	/** Delivers a payment, and answers what the upgrade gave out for it. */
	deliver(payment: Delivery | Delivery[]): Promise<IDataObject[]>;
}

/**
 * A workflow that upgrades for each delivery: of one payment, or of several as its items.
 * @param before nodes between the webhook and the upgrade
 */
async function activate(
	sendOnceKey: string,
	before: Array<Partial<INode>> = [],
	node: Partial<INode> = {},
): Promise<Payments> {
	const path = randomUUID();
	const nodes = [
		{
			name: 'Payment received',
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2,
			webhookId: path,
			parameters: {
				path,
				httpMethod: 'POST',
				responseMode: 'lastNode',
				responseData: 'allEntries',
				options: {},
			},
		},
		{
			name: 'Payments',
			type: 'n8n-nodes-base.splitOut',
			typeVersion: 1,
			parameters: { fieldToSplitOut: 'body', options: {} },
		},
		...before,
		{
			name: 'Upgrade',
			type: 'n8n-nodes-resume-management.resumeManagement',
			typeVersion: 1,
			parameters: {
				resource: 'plan',
				operation: 'upgrade',
				email: '={{ $json.body.email }}',
				planId: '={{ $json.body.planId }}',
				sendOnceKey,
			},
			credentials: await instance.addCredential(),
			onError: 'continueRegularOutput',
			...node,
		},
	].map((one, index) => ({ id: randomUUID(), position: [index * 200, 0], ...one })) as INode[];
	const connections = Object.fromEntries(
		nodes
			.slice(1)
			.map(({ name }, index) => [
				nodes[index]!.name,
				{ main: [[{ node: name, type: 'main' as const, index: 0 }]] },
			]),
	);
	const { id } = await instance.api.createWorkflow({
		name: path,
		nodes,
		connections,
		settings: { executionOrder: 'v1' },
	});
	await instance.api.activateWorkflow(id);
	return {
		workflowId: id,
		deliver: async (payment) => {
			const payments = [payment].flat().map((one) => ({ body: { planId: pro, ...one } }));
			const { data } = await axios.post<IDataObject[]>(
				`${instance.n8n.url}/webhook/${path}`,
				payments,
			);
			return data;
		},
	};
}

const billed = (email: string) =>
	instance.sandbox.database.prepare('SELECT 1 FROM upgrades WHERE email = ?').all(email).length;
const messageOf = ([item]: IDataObject[]) =>
	String((item?.error as IDataObject | undefined)?.message);
const ALREADY_SENT = { alreadySent: true, outcome: 'succeeded' };

test('a key is sent once, also when it comes twice at the same moment', async () => {
	const { deliver } = await activate(KEY);
	const raced = await Promise.all(
		emails
			.slice(0, RACES)
			.flatMap((email) => [
				deliver({ key: `race-${email}`, email }),
				deliver({ key: `race-${email}`, email }),
			]),
	);
	expect(raced.filter(([item]) => item!.alreadySent)).toHaveLength(RACES);
	for (const email of emails.slice(0, RACES)) {
		const again = await deliver({ key: `race-${email}`, email });
		expect(again).toEqual([{ ...ALREADY_SENT, sendOnceKey: `race-${email}` }]);
	}
	expect(emails.slice(0, RACES).map(billed)).toEqual(Array<number>(RACES).fill(1));
}, 180_000);

test("n8n's Remove Duplicates node is no lock: the same race bills twice", async () => {
	const { deliver } = await activate('', [
		{
			name: 'Remove Duplicates',
			type: 'n8n-nodes-base.removeDuplicates',
			typeVersion: 2,
			parameters: {
				operation: 'removeItemsSeenInPreviousExecutions',
				dedupeValue: KEY,
				options: {},
			},
		},
	]);
	const some = emails.slice(RACES, 2 * RACES);
	const twice = some.flatMap((email) => [email, email]);
	// n8n answers 500 where the node has dropped what came, or could not write.
	await Promise.all(
		twice.map(async (email) => await deliver({ key: email, email }).catch(() => [])),
	);
	expect(Math.max(...some.map(billed))).toBe(2);
}, 180_000);

test('a key that two items of a run share is sent for the first', async () => {
	const { deliver } = await activate(KEY);
	const email = emails[40]!;
	const items = await deliver([
		{ key: 'same', email },
		{ key: 'same', email },
	]);
	expect(items).toEqual([
		expect.objectContaining({ plan_id: pro }),
		{ ...ALREADY_SENT, sendOnceKey: 'same' },
	]);
	expect(billed(email)).toBe(1);
});

test('a refusal releases the key, and a success keeps it for every later run', async () => {
	const { deliver } = await activate(KEY);
	const email = emails[41]!;
	const refused = await deliver({ key: 42, email, planId: 'unknown' });
	expect(messageOf(refused)).toContain('plan-upgrade-2');
	expect(await deliver({ key: 42, email })).toEqual([expect.objectContaining({ plan_id: pro })]);
	// A number and its digits are the same key.
	expect(await deliver({ key: '42', email })).toEqual([{ ...ALREADY_SENT, sendOnceKey: '42' }]);
	expect(billed(email)).toBe(1);
});

test('a refusal until a person has acted, and an unknown outcome, keep the key', async () => {
	const { deliver } = await activate(KEY);
	const [stripe, lost] = [emails[42]!, emails[43]!];
	const answer = JSON.stringify({ status: 'error', errorCode: 'plan-upgrade-1' });
	instance.sandbox.faults.add({ email: stripe, times: 1, answer: { status: 401, body: answer } });
	instance.sandbox.faults.add({ email: lost, times: 1, drop: 'after' });
	expect(messageOf(await deliver({ key: stripe, email: stripe }))).toContain('plan-upgrade-1');
	expect(messageOf(await deliver({ key: lost, email: lost }))).toMatch(/^Outcome unknown: /);
	// Both at once: each waits for the execution that has claimed the key.
	const later = await Promise.all(
		[stripe, lost].map(async (email) => messageOf(await deliver({ key: email, email }))),
	);
	for (const message of later) {
		expect(message).toMatch(/^Outcome unknown: Another execution has claimed this key/);
	}
	expect([billed(stripe), billed(lost)]).toEqual([0, 1]);
});

test.each([
	['empty', ''],
	['missing', undefined],
	['an object', { id: 1 }],
	['true', true],
	['10,000 characters long', 'x'.repeat(10_000)],
])('a key that is %s is an error, and nothing is sent', async (_, key) => {
	const { deliver } = await activate(KEY);
	const email = emails[44]!;
	expect(messageOf(await deliver({ key, email }))).toMatch(/^'Send Once Key' is /);
	expect(billed(email)).toBe(0);
});

test('Retry On Fail and a retry by a person send it once', async () => {
	const { deliver, workflowId } = await activate(KEY, [], {
		onError: 'stopWorkflow',
		retryOnFail: true,
		waitBetweenTries: 1,
	});
	const email = emails[45]!;
	instance.sandbox.faults.add({ email, times: 1, drop: 'after' });
	await deliver({ key: 'retried', email }).catch(() => {});
	const [failed] = await instance.api.listExecutions(workflowId);
	expect(failed!.status).toBe('error');
	const retried = await instance.api.retryExecution(failed!.id);
	const { status, data } = await instance.api.waitForExecution(retried);
	expect(status).toBe('error');
	expect(data.resultData.error!.message).toMatch(/^Outcome unknown: Another execution/);
	expect(billed(email)).toBe(1);
});

test('an n8n that is killed between claim and answer does not send it again', async () => {
	const { deliver } = await activate(KEY);
	const email = emails[46]!;
	instance.sandbox.faults.add({ email, delayMs: 60_000 });
	const before = instance.sandbox.requests.length;
	const cutOff = deliver({ key: 'killed', email }).catch(() => {});
	while (instance.sandbox.requests.length === before) await sleep(50);
	process.kill(instance.n8n.pid, 'SIGKILL');
	await cutOff;
	await instance.n8n.stop();
	instance.sandbox.faults.clear();
	await instance.startN8nAgain();
	expect(messageOf(await deliver({ key: 'killed', email }))).toMatch(/^Outcome unknown: /);
	expect(billed(email)).toBe(1);
}, 180_000);
