import type { INodeParameters } from 'n8n-workflow';
import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byStatus, deliver } from './deliveries.mts';
import { countByWorker, executionsOf, until } from './executions.mts';
import type { Topology } from './topology.mts';

export const upgradePlan = {
	resource: 'plan',
	operation: 'upgrade',
	planId: SANDBOX_PLANS.pro,
	email: '={{ $json.data.email }}',
};

/** A sixth of n8n's defaults and less: a worker that is killed is noticed sooner. */
export const killNoticedSooner = {
	QUEUE_WORKER_LOCK_DURATION: '10000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '1500',
	QUEUE_WORKER_STALLED_INTERVAL: '3000',
};

/** Starts an upgrade that is billed, and answered later than the test lasts; answers who sent it. */
export async function sendSlowUpgrade(
	topology: Topology,
	email: string,
	more: INodeParameters = {},
) {
	topology.sandbox.faults.add({ path: '/plan/upgrade', email, times: 1, delayMs: 600_000 });
	const { workflowId, url } = await topology.activate({ ...upgradePlan, ...more });
	expect(byStatus(await deliver(url, [{ email }]))).toEqual({ 200: 1 });
	await until('the upgrade is sent', 60_000, () => upgradesOf(topology, [email])[0]);
	const executions = await executionsOf(topology, workflowId);
	const worker = topology.workers[countByWorker(topology, executions).indexOf(1)]!;
	return { workflowId, worker };
}

/** E-mail addresses of the upgrades that have arrived at the service for one of these. */
export function upgradesOf({ sandbox }: Topology, emails: string[]): string[] {
	return sandbox.requests
		.filter(({ url }) => url === '/v1/plan/upgrade')
		.map(({ body }) => (JSON.parse(body) as { email: string }).email)
		.filter((email) => emails.includes(email));
}

/** How many upgrades the service has carried out for these. */
export function billedUpgrades({ sandbox }: Topology, emails: string[]): number {
	const upgrades = sandbox.database.prepare('SELECT email FROM upgrades').all();
	return upgrades.filter(({ email }) => emails.includes(String(email))).length;
}

/** Gives the service more users; answers their e-mail addresses. */
export function addUsers({ sandbox }: Topology, name: string, length: number): string[] {
	const insert = sandbox.database.prepare(
		'INSERT INTO users (id, email, first_name, last_name, created) VALUES (?, ?, ?, ?, 0)',
	);
	return Array.from({ length }, (_, index) => {
		const id = `${name}-${index}`;
		insert.run(id, `${id}@example.com`, name, String(index));
		return `${id}@example.com`;
	});
}
