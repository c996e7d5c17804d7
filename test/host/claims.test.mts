import { randomUUID } from 'node:crypto';

import axios from 'axios';
import type { IDataObject, INode } from 'n8n-workflow';

import { chain, to, type NodeDefinition } from '../../host/workflow.mts';
import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { actionType, joinInstance, unlessLowest, type SharedInstance } from './instance.mts';

/** Send Once Key in a real n8n: deliveries of a payment's webhook, and what the service billed. */

const { pro } = SANDBOX_PLANS;
const KEY = '={{ $json.body.key }}';

/** How many keys are delivered twice at the same moment; at least some of them meet in n8n. */
const RACES = 8;

let instance: SharedInstance;
let emails: string[];
/** The address of a user that no other test has billed. */
const nextEmail = () => emails.shift()!;

beforeAll(async () => {
	instance = await joinInstance();
	emails = [...instance.emails];
});

afterAll(async () => await instance?.close());

afterEach(() => instance.sandbox.faults.clear());

const billed = (email: string) => instance.billed(email);

interface Payment {
	key?: unknown;
	email?: string;
	planId?: string;
}

/**
 * A workflow that upgrades for each delivery: of one payment, or of several as its items.
 *
 * @param before a node between the webhook and the upgrade
 * @param connections in place of those from each node to the next
 * @returns its id, and what delivers payments and answers what the upgrade gave out
 */
async function activate(
	upgrade: Partial<INode> = {},
	before: NodeDefinition[] = [],
	connections = {},
) {
	const { api, url, addCredential } = instance;
	const path = randomUUID();
	const webhook = {
		path,
		httpMethod: 'POST',
		responseMode: 'lastNode',
		responseData: 'allEntries',
		options: {},
	};
	const split = { fieldToSplitOut: 'body', options: {} };
	const nodes: NodeDefinition[] = [
		{
			name: 'Payment received',
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2,
			webhookId: path,
			parameters: webhook,
		},
		{ name: 'Payments', type: 'n8n-nodes-base.splitOut', parameters: split },
		...before,
		{
			name: 'Upgrade',
			type: actionType,
			credentials: await addCredential(),
			onError: 'continueRegularOutput',
			...upgrade,
			parameters: {
				resource: 'plan',
				operation: 'upgrade',
				email: '={{ $json.body.email }}',
				planId: '={{ $json.body.planId }}',
				sendOnceKey: KEY,
				...upgrade.parameters,
			},
		},
	];
	const { id } = await api.createWorkflow(chain(nodes, { connections }));
	await api.activateWorkflow(id);
	const deliver = async (...payments: Payment[]) => {
		const bodies = payments.map((one) => ({ body: { planId: pro, ...one } }));
		return (await axios.post<IDataObject[]>(`${url}/webhook/${path}`, bodies)).data;
	};
	return { id, deliver };
}

const messageOf = (item?: IDataObject) =>
	String((item?.error as IDataObject | undefined)?.message ?? 'no error');
const alreadySent = (sendOnceKey: string) => ({
	alreadySent: true,
	outcome: 'succeeded',
	sendOnceKey,
});
const upgraded = expect.objectContaining({ plan_id: pro }) as unknown;

test('a key is sent once, also when it comes twice at the same moment', async () => {
	const { deliver } = await activate();
	const payments = emails.splice(0, RACES).map((email) => ({ key: `race-${email}`, email }));
	const raced = await Promise.all([...payments, ...payments].map((payment) => deliver(payment)));
	expect(raced.filter(([item]) => item!.alreadySent)).toHaveLength(RACES);
	expect(await deliver(...payments)).toEqual(payments.map(({ key }) => alreadySent(key)));
	expect(payments.map(({ email }) => billed(email))).toEqual(Array<number>(RACES).fill(1));
}, 180_000);

test("n8n's Remove Duplicates node is no lock: the same race bills twice", async () => {
	const parameters = {
		operation: 'removeItemsSeenInPreviousExecutions',
		dedupeValue: KEY,
		options: {},
	};
	const type = 'n8n-nodes-base.removeDuplicates';
	const before = [{ name: 'Remove Duplicates', type, typeVersion: 2, parameters }];
	const { deliver } = await activate({ parameters: { sendOnceKey: '' } }, before);
	// Where two did not meet, the next may.
	for (let round = 1; round <= 10; round++) {
		const some = instance.emails.slice(-4);
		const twice = [...some, ...some].map((email) => ({ key: `${round} ${email}`, email }));
		const bills = some.map(billed);
		// n8n answers 500 where the node has dropped what came, or could not write.
		await Promise.all(twice.map(async (payment) => await deliver(payment).catch(() => [])));
		if (some.some((email, index) => billed(email) === bills[index]! + 2)) return;
	}
	throw new Error('None was billed twice');
}, 180_000);

test('a refusal releases the key, and a success keeps it, in a run and in every later one', async () => {
	const { deliver } = await activate();
	const email = nextEmail();
	const [refused] = await deliver({ key: 42, email, planId: 'unknown' });
	expect(messageOf(refused)).toContain('plan-upgrade-2');
	// A number and its digits are the same key.
	const items = await deliver({ key: 42, email }, { key: '42', email }, { key: 'another', email });
	expect(items).toEqual([upgraded, alreadySent('42'), upgraded]);
	expect(await deliver({ key: '42', email })).toEqual([alreadySent('42')]);
	expect(billed(email)).toBe(2);
});

test('a refusal until a person has acted, and an unknown outcome, keep the key', async () => {
	const { deliver } = await activate();
	const [stripe, lost] = [nextEmail(), nextEmail()];
	const answer = JSON.stringify({ status: 'error', errorCode: 'plan-upgrade-1' });
	instance.sandbox.faults.add({ email: stripe, times: 1, answer: { status: 401, body: answer } });
	instance.sandbox.faults.add({ email: lost, times: 1, drop: 'after' });
	const payments = [stripe, lost].map((email) => ({ key: email, email }));
	const messages = async () => (await deliver(...payments)).map(messageOf);
	expect(await messages()).toEqual([
		expect.stringContaining('plan-upgrade-1'),
		expect.stringMatching(/^Outcome unknown: /),
	]);
	const claimed = expect.stringMatching(/^Outcome unknown: This key was claimed before/) as unknown;
	expect(await messages()).toEqual([claimed, claimed]);
	expect([billed(stripe), billed(lost)]).toEqual([0, 1]);
});

test('Retry On Fail and a retry by a person send it once', async () => {
	const { id, deliver } = await activate({
		onError: 'stopWorkflow',
		retryOnFail: true,
		waitBetweenTries: 1,
	});
	const email = nextEmail();
	instance.sandbox.faults.add({ email, times: 1, drop: 'after' });
	await deliver({ key: 'retried', email }).catch(() => {});
	const [failed] = await instance.api.listExecutions(id);
	expect(failed!.status).toBe('error');
	await instance.api.retryExecution(failed!.id);
	const [, retried] = await instance.api.waitForExecutions(id, 2);
	expect(retried!.status).toBe('error');
	expect(retried!.data.resultData.error!.message).toMatch(/^Outcome unknown: This key/);
	expect(billed(email)).toBe(1);
});

// The oldest n8n has these decisions from the same code, which the tests above show to work there.
unlessLowest(
	'open keys are waited for together, and a new key sends what was not done',
	async () => {
		const { deliver } = await activate();
		const lost = emails.splice(0, 6);
		for (const email of lost) instance.sandbox.faults.add({ email, times: 1, drop: 'before' });
		const payments = lost.map((email) => ({ key: email, email }));
		await deliver(...payments);
		const begin = Date.now();
		const again = await deliver(...payments);
		// Ten seconds for all of them, and not for each.
		expect(Date.now() - begin).toBeLessThan(30_000);
		for (const item of again) expect(messageOf(item)).toMatch(/^Outcome unknown: This key/);
		expect(lost.map(billed)).toEqual(lost.map(() => 0));

		expect(await deliver({ key: `${lost[0]}-2`, email: lost[0] })).toEqual([upgraded]);
		expect(billed(lost[0]!)).toBe(1);
	},
);

unlessLowest('two branches that lead to one node send a key once', async () => {
	const connections = { Payments: to(['Branch', 'Upgrade']) };
	const branch = { name: 'Branch', type: 'n8n-nodes-base.noOp' };
	const { deliver } = await activate({}, [branch], connections);
	const email = nextEmail();
	await deliver({ key: 'branches', email });
	expect(billed(email)).toBe(1);
});
