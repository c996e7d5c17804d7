import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import axios from 'axios';
import type { IConnections, IDataObject, INode, INodeParameters } from 'n8n-workflow';

import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byEmail } from '../support/parameters.mts';
import {
	emailsOf,
	joinInstance,
	outputOf,
	startEmptyInstance,
	startMilliseconds,
	type SharedInstance,
} from './instance.mts';

/** Send Once Key in a real n8n: deliveries of a payment's webhook, and what the service billed. */

const { pro } = SANDBOX_PLANS;
const KEY = '={{ $json.body.key }}';

/** How many keys are delivered twice at the same moment; at least some of them meet in n8n. */
const RACES = 8;

const upgradeType = 'n8n-nodes-resume-management.resumeManagement';

let instance: SharedInstance;
let emails: string[];

beforeAll(async () => {
	instance = await joinInstance();
	emails = emailsOf(instance.sandbox);
});

afterAll(async () => await instance?.close());

afterEach(() => instance.sandbox.faults.clear());

interface Delivery {
	key?: unknown;
	email?: string;
	planId?: string;
	/** Whether a key is sent again whose outcome is open. */
	again?: boolean;
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
	{ api, url, addCredential }: SharedInstance = instance,
	otherConnections: IConnections = {},
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
			type: upgradeType,
			typeVersion: 1,
			parameters: {
				resource: 'plan',
				operation: 'upgrade',
				email: '={{ $json.body.email }}',
				planId: '={{ $json.body.planId }}',
				sendOnceKey,
				options: { sendUnsettledKeysAgain: '={{ $json.body.again ?? false }}' },
			},
			credentials: await addCredential(),
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
	const { id } = await api.createWorkflow({
		name: path,
		nodes,
		connections: { ...connections, ...otherConnections },
		settings: { executionOrder: 'v1' },
	});
	await api.activateWorkflow(id);
	return {
		workflowId: id,
		deliver: async (payment) => {
			const payments = [payment].flat().map((one) => ({ body: { planId: pro, ...one } }));
			const { data } = await axios.post<IDataObject[]>(`${url}/webhook/${path}`, payments);
			return data;
		},
	};
}

const billedIn = ({ sandbox }: SharedInstance, email: string) =>
	sandbox.database.prepare('SELECT 1 FROM upgrades WHERE email = ?').all(email).length;
const billed = (email: string) => billedIn(instance, email);
/** Not run in the oldest n8n, which the tests of each key above cover. */
const newer = process.env.TESTED_N8N === 'lowest' ? test.skip : test;

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
	// Where two did not meet, the next may.
	for (let round = 1; round <= 10; round++) {
		const some = emails.slice(round * 4, round * 4 + 4);
		const twice = some.flatMap((email) => [email, email]);
		// n8n answers 500 where the node has dropped what came, or could not write.
		await Promise.all(
			twice.map(async (email) => await deliver({ key: email, email }).catch(() => [])),
		);
		if (some.some((email) => billed(email) === 2)) return;
	}
	throw new Error('None was billed twice');
}, 180_000);

test('a key that two items of a run share is sent for the first', async () => {
	const { deliver } = await activate(KEY);
	const email = emails[50]!;
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
	const email = emails[51]!;
	const refused = await deliver({ key: 42, email, planId: 'unknown' });
	expect(messageOf(refused)).toContain('plan-upgrade-2');
	expect(await deliver({ key: 42, email })).toEqual([expect.objectContaining({ plan_id: pro })]);
	// A number and its digits are the same key.
	expect(await deliver({ key: '42', email })).toEqual([{ ...ALREADY_SENT, sendOnceKey: '42' }]);
	expect(billed(email)).toBe(1);
});

test('a refusal until a person has acted, and an unknown outcome, keep the key', async () => {
	const { deliver } = await activate(KEY);
	const [stripe, lost] = [emails[52]!, emails[53]!];
	const answer = JSON.stringify({ status: 'error', errorCode: 'plan-upgrade-1' });
	instance.sandbox.faults.add({ email: stripe, times: 1, answer: { status: 401, body: answer } });
	instance.sandbox.faults.add({ email: lost, times: 1, drop: 'after' });
	expect(messageOf(await deliver({ key: stripe, email: stripe }))).toContain('plan-upgrade-1');
	expect(messageOf(await deliver({ key: lost, email: lost }))).toMatch(/^Outcome unknown: /);
	// Both at once: each waits for the execution that has claimed the key.
	const later = await Promise.all(
		[stripe, lost].map(async (email) => messageOf(await deliver({ key: email, email }))),
	);
	expect(later).toEqual([
		'The payment provider refused this purchase before, and no success is stored for it',
		expect.stringMatching(/^Outcome unknown: Another execution has claimed this key/),
	]);
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
	const email = emails[54]!;
	expect(messageOf(await deliver({ key, email }))).toMatch(/^'Send Once Key' is /);
	expect(billed(email)).toBe(0);
});

test('Retry On Fail and a retry by a person send it once', async () => {
	const { deliver, workflowId } = await activate(KEY, [], {
		onError: 'stopWorkflow',
		retryOnFail: true,
		waitBetweenTries: 1,
	});
	const email = emails[55]!;
	instance.sandbox.faults.add({ email, times: 1, drop: 'after' });
	await deliver({ key: 'retried', email }).catch(() => {});
	const [failed] = await instance.api.listExecutions(workflowId);
	expect(failed!.status).toBe('error');
	await instance.api.retryExecution(failed!.id);
	const [, retried] = await instance.api.waitForExecutions(workflowId, 2);
	expect(retried!.status).toBe('error');
	expect(retried!.data.resultData.error!.message).toMatch(/^Outcome unknown: Another execution/);
	expect(billed(email)).toBe(1);
});

newer(
	'keys whose outcome is open are waited for together, and sent again only where that is asked for',
	async () => {
		const { deliver } = await activate(KEY);
		const lost = emails.slice(40, 46);
		for (const email of lost) instance.sandbox.faults.add({ email, times: 1, drop: 'before' });
		const payments = lost.map((email) => ({ key: email, email }));
		await deliver(payments);
		const begin = Date.now();
		const again = await deliver(payments);
		// Ten seconds for all of them, and not for each.
		expect(Date.now() - begin).toBeLessThan(30_000);
		for (const item of again) expect(messageOf([item])).toMatch(/^Outcome unknown: Another/);
		expect(lost.map(billed)).toEqual(lost.map(() => 0));

		const sent = await deliver({ ...payments[0]!, again: true });
		expect(sent).toEqual([expect.objectContaining({ plan_id: pro })]);
		expect(billed(lost[0]!)).toBe(1);
	},
);

newer(
	'a key answers for its own account and request alone, in whatever node it is used',
	async () => {
		const run = async (parameters: INodeParameters, items: IDataObject[], access = {}) => {
			const before = instance.sandbox.requests.length;
			const execution = await instance.runNode({
				type: upgradeType,
				parameters: { sendOnceKey: '={{ $json.key }}', ...parameters },
				credentials: await instance.addCredential(access),
				onError: 'continueRegularOutput',
				items,
			});
			const sent = instance.sandbox.requests.slice(before).map(({ method, url }) => method + url);
			return { records: outputOf(execution).map(({ json }) => json), sent };
		};
		const title = { field: [{ name: 'title', value: 'A resume' }] };
		const create = await run(
			{
				resource: 'resume',
				operation: 'create',
				userId: byEmail('={{ $json.email }}'),
				bodyFields: title,
			},
			[
				{ email: 'nobody@example.com', key: 1 },
				{ email: emails[0], key: 1 },
				{ email: emails[1], key: 1 },
				{ email: emails[0], key: 1 },
			],
		);
		expect(create.records).toEqual([
			{ error: expect.objectContaining({ message: 'No user has this e-mail address' }) },
			expect.objectContaining({ userId: 'user-001', title: 'A resume' }),
			{
				error: expect.objectContaining({
					message: 'This Send Once Key was used for another request: its method and path differs',
				}),
			},
			{ ...ALREADY_SENT, sendOnceKey: '1' },
		]);

		const custom = await run(
			{
				resource: 'customRequest',
				operation: 'send',
				path: '={{ $json.path }}',
				bodyFields: { field: [{ name: 'email', value: emails[0]! }] },
			},
			['/connect', 'connect', 'user/token'].map((path) => ({ path, key: 2 })),
		);
		expect(custom.records).toEqual([
			{ token: expect.any(String) },
			{ ...ALREADY_SENT, sendOnceKey: '2' },
			{ error: expect.objectContaining({ id: 'key.otherRequest' }) },
		]);
		expect(custom.sent).toEqual(['POST/v1/connect']);
	},
);

newer(
	'another account, person or plan under a used key is an error, and not a success',
	async () => {
		const { deliver } = await activate(KEY);
		const [email, other] = [emails[46]!, emails[47]!];
		await deliver({ key: 'used', email });
		const differing = [{ email: other }, { email, planId: SANDBOX_PLANS.basic }];
		for (const payment of differing) {
			expect(messageOf(await deliver({ key: 'used', ...payment }))).toBe(
				'This Send Once Key was used for another request: its content differs',
			);
		}
		expect([billed(email), billed(other)]).toEqual([1, 0]);
	},
);

newer('two branches that lead to one node send a key once', async () => {
	const branch = { name: 'Branch', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} };
	const { deliver } = await activate(KEY, [branch], {}, instance, {
		Payments: { main: [['Branch', 'Upgrade'].map((node) => ({ node, type: 'main', index: 0 }))] },
	});
	const email = emails[48]!;
	await deliver({ key: 'branches', email });
	expect(billed(email)).toBe(1);
});

test('the same upgrade in two items is sent for both where each has a key of its own', async () => {
	const { deliver } = await activate(KEY);
	const email = emails[57]!;
	const items = await deliver([
		{ key: 'purchase-0', email },
		{ key: 'purchase-1', email },
	]);
	expect(items).toEqual(Array(2).fill(expect.objectContaining({ plan_id: pro })));
	expect(billed(email)).toBe(2);
});

test(
	'an n8n that is killed between claim and answer does not send it again',
	async () => {
		const own = await startEmptyInstance();
		try {
			const { deliver } = await activate(KEY, [], {}, own);
			const [email] = emailsOf(own.sandbox) as [string];
			own.sandbox.faults.add({ email, delayMs: 60_000 });
			const cutOff = deliver({ key: 'killed', email }).catch(() => {});
			while (own.sandbox.requests.length === 0) await sleep(50);
			process.kill(own.n8n.pid, 'SIGKILL');
			await cutOff;
			await own.n8n.stop();
			own.sandbox.faults.clear();
			await own.startN8nAgain();
			expect(messageOf(await deliver({ key: 'killed', email }))).toMatch(/^Outcome unknown: /);
			expect(billedIn(own, email)).toBe(1);
		} finally {
			await own.close();
		}
	},
	startMilliseconds,
);
