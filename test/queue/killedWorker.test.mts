import type { INodeParameters } from 'n8n-workflow';
import { endedExecutions } from './executions.mts';
import { startTopology, type Topology } from './topology.mts';
import {
	addUsers,
	billedUpgrades,
	killNoticedSooner,
	sendSlowUpgrade,
	upgradesOf,
} from './upgrades.mts';

/** A worker of n8n 1 that is killed during an upgrade. */

/** The first run on a machine installs n8n. */
const startMilliseconds = 15 * 60_000;

let topology: Topology;

beforeAll(async () => {
	topology = await startTopology(1, killNoticedSooner);
}, startMilliseconds);

afterAll(async () => {
	await topology?.close();
}, 120_000);

test('sends an upgrade a second time when its worker was killed', async () => {
	expect(await killDuringUpgrade('twice')).toBe(2);
}, 300_000);

test('does not with a Send Once Key', async () => {
	expect(await killDuringUpgrade('keyed', { sendOnceKey: '={{ $json.data.email }}' })).toBe(1);
}, 300_000);

test('does not with QUEUE_WORKER_MAX_STALLED_COUNT=0', async () => {
	const again = topology.workers.map(async (worker) => {
		await worker.n8n.stop();
		await worker.startAgain({ QUEUE_WORKER_MAX_STALLED_COUNT: '0' });
	});
	await Promise.all(again);
	expect(await killDuringUpgrade('once')).toBe(1);
}, 300_000);

/** Answers how often the upgrade was sent. */
async function killDuringUpgrade(name: string, more: INodeParameters = {}): Promise<number> {
	const [email] = addUsers(topology, name, 1) as [string];
	const { workflowId, worker } = await sendSlowUpgrade(topology, email, more);
	await worker.kill();
	await endedExecutions(topology, workflowId, 1);
	await worker.startAgain();
	const sent = upgradesOf(topology, [email]).length;
	expect(billedUpgrades(topology, [email])).toBe(sent);
	return sent;
}
