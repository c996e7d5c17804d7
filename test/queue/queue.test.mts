import { byStatus, deliver, events } from './deliveries.mts';
import { countByWorker, DeliveryLog, endedExecutions, type Execution } from './executions.mts';
import { startMilliseconds, startTopology, type Topology } from './topology.mts';
import {
	addUsers,
	billedUpgrades,
	killNoticedSooner,
	sendSlowUpgrade,
	upgradePlan,
	upgradesOf,
} from './upgrades.mts';

/** n8n 2 in queue mode: deliveries, upgrades, and processes that end. */

let topology: Topology;

beforeAll(async () => {
	topology = await startTopology(2, killNoticedSooner);
}, startMilliseconds);

afterAll(async () => {
	await topology?.close();
}, 120_000);

test('500 deliveries, 50 side by side, are 500 executions', async () => {
	const { workflowId, url } = await topology.activate();
	const bodies = events('burst', 500);
	expect(byStatus(await deliver(url, bodies))).toEqual({ 200: 500 });
	const executions = await endedExecutions(topology, workflowId, 500);
	expectEachWorker(executions);
	expect(byStatus(executions)).toEqual({ success: 500 });
	const deliveries = new DeliveryLog(topology, workflowId);
	await deliveries.read();
	expect(deliveries.ids).toEqual(new Set(bodies.map(({ eventId }) => eventId)));
}, 600_000);

test('a killed worker and a restarted main process lose no delivery', async () => {
	const [email] = addUsers(topology, 'killed', 1) as [string];
	const upgrade = await sendSlowUpgrade(topology, email);
	const { workflowId, url } = await topology.activate();
	const deliveries = new DeliveryLog(topology, workflowId);
	const accepted: string[] = [];
	let round = 0;
	const sendSome = async () => {
		const bodies = events(`stream-${round++}`, 10);
		const answers = await deliver(url, bodies, 5);
		const taken = bodies.filter((_, index) => answers[index]!.status === 200);
		accepted.push(...taken.map(({ eventId }) => eventId));
		await deliveries.read();
	};

	let isOver = false;
	const disturb = async () => {
		await upgrade.worker.kill();
		await topology.main.n8n.stop();
		await Promise.all([topology.main.startAgain(), upgrade.worker.startAgain()]);
	};
	await sendSome();
	const disturbed = disturb().finally(() => (isOver = true));
	while (!isOver) await sendSome();
	await disturbed;
	await sendSome();

	const { ids } = deliveries;
	expect(accepted.filter((id) => !ids.has(id))).toEqual([]);
	await endedExecutions(topology, workflowId, ids.size);
	await endedExecutions(topology, upgrade.workflowId, 1);
	expect(upgradesOf(topology, [email])).toHaveLength(1);
}, 600_000);

test('500 upgrades that are spread over the workers are sent once each', async () => {
	const emails = addUsers(topology, 'spread', 500);
	const split = { fieldToSplitOut: 'data', options: {} };
	const { workflowId, url } = await topology.activate(
		{ ...upgradePlan, email: '={{ $json.email }}' },
		[{ name: 'Emails', type: 'n8n-nodes-base.splitOut', parameters: split }],
	);
	const bodies = Array.from({ length: 50 }, (_, index) =>
		emails.slice(index * 10, index * 10 + 10).map((email) => ({ email })),
	);
	expect(byStatus(await deliver(url, bodies))).toEqual({ 200: 50 });
	const executions = await endedExecutions(topology, workflowId, 50);
	expect(byStatus(executions)).toEqual({ success: 50 });
	expectEachWorker(executions);

	const sent = upgradesOf(topology, emails);
	expect(sent.toSorted()).toEqual(emails.toSorted());
	expect(billedUpgrades(topology, emails)).toBe(500);
}, 300_000);

test('a key that comes for two persons at once, on two workers, is sent for one of them', async () => {
	const emails = addUsers(topology, 'keyed', 80);
	const sendOnceKey = '={{ $json.data.key }}';
	const { workflowId, url } = await topology.activate({ ...upgradePlan, sendOnceKey });
	const bodies = emails.map((email, index) => ({ email, key: `key-${index >> 1}` }));
	expect(byStatus(await deliver(url, bodies))).toEqual({ 200: 80 });
	const executions = await endedExecutions(topology, workflowId, 80);
	expect(byStatus(executions)).toEqual({ success: 40, error: 40 });
	expectEachWorker(executions);
	// Delivered again, each is answered as before, and nothing is sent.
	await deliver(url, bodies);
	const again = await endedExecutions(topology, workflowId, 160);
	expect(byStatus(again)).toEqual({ success: 80, error: 80 });
	expect(upgradesOf(topology, emails)).toHaveLength(40);
	expect(billedUpgrades(topology, emails)).toBe(40);
}, 300_000);

function expectEachWorker(executions: Execution[]): void {
	expect(Math.min(...countByWorker(topology, executions))).toBeGreaterThan(0);
}
