import { byStatus, deliver, events } from './deliveries.mts';
import {
	countByWorker,
	DeliveryLog,
	endedExecutions,
	until,
	type Execution,
} from './executions.mts';
import { activateNightly, nightMilliseconds, type Nightly } from './nightly.mts';
import { startMilliseconds, startTopology, type Topology } from './topology.mts';
import {
	addUsers,
	billedUpgrades,
	killNoticedSooner,
	sendSlowUpgrade,
	upgradePlan,
	upgradesOf,
} from './upgrades.mts';

/** n8n 2 in queue mode: deliveries, upgrades, the nightly sync, and processes that end. */

let topology: Topology;
let nightly: Nightly;

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

/** Each resume has one row. */
async function expectOneRowEach(): Promise<void> {
	const { api, sandbox } = topology;
	const table = (await api.listDataTables()).find(({ name }) => name === 'Synced resumes')!;
	const rows = (await api.readRows(table.id)).map(
		({ resumeId, userId }) => `${resumeId} ${userId}`,
	);
	const resumes = sandbox.database.prepare('SELECT id, user_id AS userId FROM resumes').all();
	expect(rows.sort()).toEqual(resumes.map(({ id, userId }) => `${id} ${userId}`).sort());
}

test('two workers do a nightly sync together', async () => {
	nightly = await activateNightly(topology, 10);
	const first = await nightly.ended(await nightly.start());
	const saved = topology.sandbox.database.prepare('SELECT id FROM resumes').all().length;
	expect(first.summary).toMatchObject({ saved, failures: 0 });
	expect(Math.min(...first.batches)).toBeGreaterThan(1);
	await expectOneRowEach();
	const second = await nightly.ended(await nightly.start());
	expect(second.summary).toMatchObject({ saved: 0, gone: '', failures: 0 });
}, 300_000);

test('a killed worker and a restarted main process lose no delivery, no upgrade and no batch', async () => {
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
		topology.sandbox.database.exec("UPDATE sections SET content = content || ' and more'");
		const { requests } = topology.sandbox;
		const before = requests.length;
		const id = await nightly.start();
		await until('some scores are asked for', nightMilliseconds, () =>
			requests.slice(before).some(({ url }) => url.endsWith('/score')) ? true : undefined,
		);
		await upgrade.worker.kill();
		await nightly.ended(id);
		await topology.main.n8n.stop();
		await topology.main.startAgain();
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

	// The next night does what the killed worker had, and one worker is enough for it.
	const { summary, batches } = await nightly.ended(await nightly.start());
	expect(summary).toMatchObject({ gone: '', failures: 0 });
	expect(batches[topology.workers.indexOf(upgrade.worker)]).toBe(0);
	await expectOneRowEach();
	await upgrade.worker.startAgain();
}, 600_000);

test('500 upgrades that are spread over the workers are sent once each', async () => {
	const emails = addUsers(topology, 'spread', 500);
	const { workflowId, url } = await topology.activate(upgradePlan);
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
