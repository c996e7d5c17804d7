import { byStatus, deliver, events } from './deliveries.mts';
import {
	countByWorker,
	DeliveryLog,
	endedExecutions,
	executionsOf,
	until,
	type Execution,
} from './executions.mts';
import { startTopology, type Topology } from './topology.mts';
import {
	addUsers,
	billedUpgrades,
	killNoticedSooner,
	sendSlowUpgrade,
	upgradePlan,
	upgradesOf,
} from './upgrades.mts';

/** n8n 2 in queue mode: deliveries, upgrades, and processes that end. */

/** The first run on a machine installs n8n. */
const startMilliseconds = 15 * 60_000;

const readUser = {
	resource: 'user',
	operation: 'get',
	userId: { __rl: true, mode: 'id', value: 'user-001' },
};
let topology: Topology;

beforeAll(async () => {
	topology = await startTopology(2, killNoticedSooner);
}, startMilliseconds);

afterAll(async () => {
	await topology?.close();
}, 120_000);

test('every process knows the nodes', async () => {
	const names = (await topology.api.nodeTypes()).map(({ name }) => name);
	expect(names).toEqual(
		expect.arrayContaining([
			'n8n-nodes-resume-management.resumeManagement',
			'n8n-nodes-resume-management.resumeManagementTrigger',
		]),
	);

	// The webhook processor runs the trigger, and a worker the node that follows.
	const { workflowId, url } = await topology.activate(readUser);
	const answers = await deliver(url, events('known', 40), 20);
	expect(byStatus(answers)).toEqual({ 200: 40 });
	const executions = await endedExecutions(topology, workflowId, 40);
	expect(byStatus(executions)).toEqual({ success: 40 });
	expectEachWorker(executions);
}, 300_000);

test('500 deliveries at 100 a second are 500 executions', async () => {
	const { workflowId, url } = await topology.activate();
	const bodies = events('burst', 500);
	expect(byStatus(await deliver(url, bodies, 100))).toEqual({ 200: 500 });
	const executions = await endedExecutions(topology, workflowId, 500);
	expectEachWorker(executions);
	expect(byStatus(executions)).toEqual({ success: 500 });
	const deliveries = new DeliveryLog(topology, workflowId);
	await deliveries.read();
	expect(deliveries.ids).toEqual(new Set(bodies.map(({ eventId }) => eventId)));
}, 600_000);

test('500 upgrades that are spread over the workers are sent once each', async () => {
	const emails = addUsers(topology, 'spread', 500);
	const { workflowId, url } = await topology.activate(upgradePlan);
	const bodies = Array.from({ length: 50 }, (_, index) =>
		emails.slice(index * 10, index * 10 + 10).map((email) => ({ email })),
	);
	expect(byStatus(await deliver(url, bodies, 25))).toEqual({ 200: 50 });
	const executions = await endedExecutions(topology, workflowId, 50);
	expect(byStatus(executions)).toEqual({ success: 50 });
	expectEachWorker(executions);

	const sent = upgradesOf(topology, emails);
	expect(sent.toSorted()).toEqual(emails.toSorted());
	expect(billedUpgrades(topology, emails)).toBe(500);
}, 300_000);

test('a killed worker and a restarted main process lose no delivery', async () => {
	const [email] = addUsers(topology, 'killed', 1) as [string];
	const upgrade = await sendSlowUpgrade(topology, email);
	const { workflowId, url } = await topology.activate();
	const bodies = events('stream', 800);
	const deliveries = new DeliveryLog(topology, workflowId);
	const reading = setInterval(() => void deliveries.read(), 1_000);
	const answering = deliver(url, bodies, 20).finally(() => clearInterval(reading));

	await moreThan(workflowId, 100);
	await upgrade.worker.kill();
	await moreThan(workflowId, 200);
	await topology.main.n8n.stop();
	await topology.main.startAgain();
	await upgrade.worker.startAgain();

	const answers = await answering;
	await deliveries.read();
	const { ids } = deliveries;
	const lost = bodies.filter(
		({ eventId }, index) => answers[index]!.status === 200 && !ids.has(eventId),
	);
	expect(lost).toEqual([]);
	await endedExecutions(topology, workflowId, ids.size);
	await endedExecutions(topology, upgrade.workflowId, 1);
	expect(upgradesOf(topology, [email])).toHaveLength(1);
}, 600_000);

async function moreThan(workflowId: string, executions: number): Promise<void> {
	await until(`more than ${executions} executions`, 300_000, async () => {
		return (await executionsOf(topology, workflowId)).length > executions || undefined;
	});
}

function expectEachWorker(executions: Execution[]): void {
	expect(Math.min(...countByWorker(topology, executions))).toBeGreaterThan(0);
}
