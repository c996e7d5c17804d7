import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import axios from 'axios';
import type { IDataObject, INode } from 'n8n-workflow';
import type { NodeDefinition } from '../../host/workflow.mts';
import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { actionType, instance, useInstance } from './instance.mts';

/** Send Once Key across executions: deliveries of a payment's webhook, and the upgrades that the service billed. */

const { pro } = SANDBOX_PLANS;

/** Number of keys that are delivered twice at the same moment; at least some of them meet in n8n. */
const RACES = 8;

/** Returns the email of a user whom no other test bills. */
const nextEmail = () => instance.emails.shift()!;

useInstance();

type Payment = Partial<Record<'key' | 'email' | 'planId', unknown>>;

/**
 * Activates a workflow with an upgrade for each payment of a delivery, and returns its ID, and a function that delivers
 * payments and returns the upgrade's output.
 */
async function activate(more: Partial<INode> = {}) {
	const path = randomUUID();
	const response = { responseMode: 'lastNode', responseData: 'allEntries', options: {} };
	const nodes: NodeDefinition[] = [
		{
			name: 'Payment received',
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2,
			webhookId: path,
			parameters: { path, httpMethod: 'POST', ...response },
		},
		{
			name: 'Payments',
			type: 'n8n-nodes-base.splitOut',
			parameters: { fieldToSplitOut: 'body', options: {} },
		},
		{
			name: 'Upgrade',
			type: actionType,
			credentials: await instance.addCredential(),
			onError: 'continueRegularOutput',
			...more,
			parameters: {
				resource: 'plan',
				operation: 'upgrade',
				email: '={{ $json.body.email }}',
				planId: '={{ $json.body.planId }}',
				sendOnceKey: '={{ $json.body.key }}',
			},
		},
	];
	const id = await instance.createWorkflow(nodes);
	await instance.api.activateWorkflow(id);
	const deliver = async (...payments: Payment[]) => {
		const bodies = payments.map((one) => ({ body: { planId: pro, ...one } }));
		return (await axios.post<IDataObject[]>(`${instance.url}/webhook/${path}`, bodies)).data;
	};
	return { id, deliver };
}

const messageOf = (item?: IDataObject) =>
	String((item?.error as IDataObject | undefined)?.message ?? 'no error');
const SENT = { alreadySent: true, outcome: 'applied' };
const alreadySent = (sendOnceKey: string, email: string) => ({ ...SENT, sendOnceKey, email });
const used = 'This Send Once Key was used before, so nothing was sent now';
const upgraded = expect.objectContaining({ plan_id: pro }) as unknown;

test('a key is sent once, even if it arrives twice at the same moment', async () => {
	const { deliver } = await activate();
	const payments = instance.emails
		.splice(0, RACES)
		.map((email) => ({ key: `race-${email}`, email }));
	const raced = await Promise.all([...payments, ...payments].map((payment) => deliver(payment)));
	expect(raced.filter(([item]) => item!.alreadySent)).toHaveLength(RACES);
	expect(await deliver(...payments)).toEqual(
		payments.map(({ key, email }) => alreadySent(key, email)),
	);
	expect(payments.map(({ email }) => instance.billed(email))).toEqual(Array<number>(RACES).fill(1));
}, 180_000);

test('a refusal releases the key; a success keeps the key, in the same run and in later ones', async () => {
	const { deliver } = await activate();
	const email = nextEmail();
	const [refused] = await deliver({ key: 42, email, planId: 'unknown' });
	expect(messageOf(refused)).toContain('plan-upgrade-2');
	// A number and its digits are the same key.
	const items = await deliver({ key: 42, email }, { key: '42', email }, { key: 'another', email });
	expect(items).toEqual([upgraded, alreadySent('42', email), upgraded]);
	expect(await deliver({ key: '42', email })).toEqual([alreadySent('42', email)]);
	expect(instance.billed(email)).toBe(2);
});

test('a refusal that a person has to clear and an unknown outcome keep their keys, and a run waits for all keys together', async () => {
	const { deliver } = await activate();
	const [stripe, lost, other] = [nextEmail(), nextEmail(), nextEmail()];
	const { faults } = instance.sandbox;
	const body = JSON.stringify({ status: 'error', errorCode: 'plan-upgrade-1' });
	faults.add({ email: stripe, times: 1, response: { status: 401, body } });
	faults.add({ email: lost, times: 1, drop: 'after' });
	faults.add({ email: other, times: 1, drop: 'before' });
	const payments = [stripe, lost, other].map((email) => ({ key: email, email }));
	const messages = async () => (await deliver(...payments)).map(messageOf);
	const unknown = expect.stringMatching(/^Outcome unknown: /) as unknown;
	expect(await messages()).toEqual([expect.stringContaining('plan-upgrade-1'), unknown, unknown]);
	const begin = Date.now();
	expect(await messages()).toEqual([used, used, used]);
	// Ten seconds for all keys, and not for each.
	expect(Date.now() - begin).toBeLessThan(25_000);
	expect([stripe, lost, other].map(instance.billed)).toEqual([0, 1, 0]);
	expect(await deliver({ key: `${other}-2`, email: other })).toEqual([upgraded]);
	expect(instance.billed(other)).toBe(1);
});

test('Retry On Fail and a retry by a person send a key once', async () => {
	const retries = { retryOnFail: true, waitBetweenTries: 1 };
	const { id, deliver } = await activate({ onError: 'stopWorkflow', ...retries });
	const email = nextEmail();
	instance.sandbox.faults.add({ email, times: 1, drop: 'after' });
	await deliver({ key: 'retried', email }).catch(() => {});
	const [failed] = await instance.api.listExecutions(id);
	expect(failed!.status).toBe('error');
	await instance.api.retryExecution(failed!.id);
	const [, retried] = await instance.api.waitForExecutions(id, 2);
	expect(retried!.status).toBe('error');
	expect(retried!.data.resultData.error!.message).toBe(used);
	expect(instance.billed(email)).toBe(1);
});

test('a database that refuses a key fails the item at once, and the key works later', async () => {
	const { id, deliver } = await activate();
	const payment = { key: 'refused', email: nextEmail() };
	const file = join(instance.binaryFolder, '..', 'database.sqlite');
	const database = new DatabaseSync(file, { timeout: 10_000 });
	// Other tests use the same database.
	database.exec(`CREATE TRIGGER readonly BEFORE INSERT ON processed_data WHEN NEW.workflowId = '${id}'
		BEGIN SELECT RAISE(ABORT, 'attempt to write a readonly database'); END`);
	const begin = Date.now();
	const [refused] = await deliver(payment);
	// Ten seconds would be those of a key that another execution has claimed.
	expect(Date.now() - begin).toBeLessThan(9_000);
	expect(messageOf(refused)).toContain('n8n could not store the Send Once Key');
	expect(instance.billed(payment.email)).toBe(0);
	database.exec('DROP TRIGGER readonly');
	database.close();
	expect(await deliver(payment, payment)).toEqual([
		upgraded,
		alreadySent('refused', payment.email),
	]);
	expect(instance.billed(payment.email)).toBe(1);
});
