import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import type { IDataObject } from 'n8n-workflow';
import type { Execution } from '../../host/rest.mts';
import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import {
	actionType,
	byHeader,
	outputOf,
	secretHeader,
	startMilliseconds,
} from '../host/instance.mts';
import { startTopology, type Topology } from './topology.mts';

/** Send Once Key in n8n's queue mode: two workers claim the same keys, and one worker is killed. */

type Payment = Record<'key' | 'email', string>;

test.concurrent.each([2, 1])(
	'n8n %i sends each key at most once',
	async (major) => {
		const topology = await startTopology(major);
		try {
			await deliverTwice(topology);
		} catch (cause) {
			throw new Error(topology.logTails(), { cause });
		} finally {
			await topology.close();
		}
	},
	startMilliseconds,
);

/** Delivers payments with few keys twice, the first time while a worker is killed, and counts what was sent and billed. */
async function deliverTwice(topology: Topology): Promise<void> {
	const { api, query, sandbox, workers } = topology;
	const [delayed, ...emails] = topology.emails.slice(0, 21) as [string, string];
	/** Four users for each key, of whose upgrades only one may be sent. */
	const payments = emails.map((email, index) => ({ email, key: `key ${index >> 2}` }));
	const slow = { email: delayed, key: 'slow' };
	const credentials = await topology.addCredential();
	const parameters = {
		resource: 'plan',
		operation: 'upgrade',
		planId: SANDBOX_PLANS.pro,
		email: '={{ $json.data.email }}',
		sendOnceKey: '={{ $json.data.key }}',
	};
	const upgrade = { name: 'Upgrade', type: actionType, credentials, parameters };
	const { id, url } = await topology.activateTrigger(byHeader, credentials, upgrade);
	const deliver = async (payment: Payment) =>
		await axios.post(url, payment, { headers: secretHeader, proxy: false });
	const sent = () => sandbox.requests.map(({ body }) => (JSON.parse(body) as Payment).email);
	const signal = AbortSignal.timeout(300_000);
	const untilSent = async (count: number) => {
		while (sent().length < count) await sleep(20, undefined, { signal });
	};

	// The service bills this upgrade, and its response comes after the end of the test.
	sandbox.faults.add({ email: delayed, delayMs: 600_000 });
	await deliver(slow);
	await untilSent(1);
	const [execution] = await api.listExecutions(id);
	const started = `Worker started execution ${execution!.id} `;
	const worker = workers.find((n8n) => n8n.log().includes(started))!;
	const delivered = Promise.all(payments.map(deliver));
	await untilSent(5);
	await worker.kill();
	await delivered;

	const all = [slow, ...payments];
	const first = await api.waitForExecutions(id, all.length);
	expect(first).toHaveLength(all.length);
	await Promise.all(all.map(deliver));
	const second = (await api.waitForExecutions(id, all.length * 2)).slice(all.length);

	const billed = query('SELECT email FROM upgrades').map(({ email }) => email);
	expect(billed.sort()).toEqual(sent().sort());
	const keys = sent().map((email) => all.find((payment) => payment.email === email)!.key);
	expect(keys.sort()).toEqual([...new Set(keys)]);

	const confirmed = emailsOf(first.filter(({ status }) => status === 'success'));
	const successful = emailsOf(second.filter(({ status }) => status === 'success'));
	expect(confirmed.length).toBeGreaterThan(0);
	expect(successful).toEqual(expect.arrayContaining(confirmed));
	expect(successful).not.toContain(delayed);
	expect(sent()).toEqual(expect.arrayContaining(successful));
	for (const { status, data } of second) {
		if (status === 'success') continue;
		expect(data.resultData.error?.message).toMatch(/^This Send Once Key was used before/);
	}
}

const emailsOf = (executions: Execution[]) =>
	executions.map((one) => (outputOf(one, 'Trigger')[0]!.json.data as IDataObject).email);
