import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { deliver, type Answer } from './deliveries.mts';
import {
	countByWorker,
	DeliveryLog,
	endedExecutions,
	executionsOf,
	until,
	type Execution,
} from './executions.mts';
import { printTable, record } from './table.mts';
import { startTopology, type QueueProcess, type Topology } from './topology.mts';

/** The first run on a machine installs n8n. */
const startMilliseconds = 15 * 60_000;
const stopMilliseconds = 120_000;

const readUser = {
	resource: 'user',
	operation: 'get',
	userId: { __rl: true, mode: 'id', value: 'user-001' },
};
const upgradePlan = {
	resource: 'plan',
	operation: 'upgrade',
	planId: SANDBOX_PLANS.pro,
	email: '={{ $json.data.email }}',
};

let topology: Topology;

afterAll(printTable);

describe('n8n 2', () => {
	beforeAll(async () => {
		topology = await startTopology(2);
	}, startMilliseconds);

	afterAll(async () => {
		await topology?.close();
	}, stopMilliseconds);

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
		recordWorkers('Executions that read a user', executions);
	}, 300_000);

	test('2,000 deliveries at 100 a second are 2,000 executions', async () => {
		const { workflowId, url } = await topology.activate();
		const bodies = events('burst', 2_000);
		const started = Date.now();
		const answers = await deliver(url, bodies, 100);
		record('Deliveries at 100 a second, by answer', byStatus(answers));
		recordLatencies('  answered after', answers);

		expect(byStatus(answers)).toEqual({ 200: 2_000 });

		const executions = await endedExecutions(topology, workflowId, 2_000);
		record('  until all executions had ended', seconds(Date.now() - started));
		recordWorkers('  executions', executions);
		const deliveries = new DeliveryLog(topology, workflowId);
		await deliveries.read();
		record('  distinct delivery IDs', deliveries.ids.size);
		expect(byStatus(executions)).toEqual({ success: 2_000 });
		expect(deliveries.ids).toEqual(new Set(bodies.map(({ eventId }) => eventId)));
	}, 900_000);

	test('500 upgrades that are spread over the workers are sent once each', async () => {
		const emails = addUsers('spread', 500);
		const { workflowId, url } = await topology.activate(upgradePlan);
		const bodies = Array.from({ length: 50 }, (_, index) =>
			emails.slice(index * 10, index * 10 + 10).map((email) => ({ email })),
		);
		expect(byStatus(await deliver(url, bodies, 25))).toEqual({ 200: 50 });
		const executions = await endedExecutions(topology, workflowId, 50);
		expect(byStatus(executions)).toEqual({ success: 50 });
		recordWorkers('Executions of 10 upgrades', executions);

		const sent = upgradesOf(emails);
		record('  upgrades that arrived', sent.length);
		record('  e-mail addresses in them', new Set(sent).size);
		expect(sent.toSorted()).toEqual(emails.toSorted());
		expect(billedUpgrades(emails)).toBe(500);
	}, 300_000);

	test('one worker, measured', async () => {
		const [worker, spare] = topology.workers as [QueueProcess, QueueProcess];
		await spare.n8n.stop();
		for (const engine of ['legacy', 'vm']) {
			await worker.n8n.stop();
			await worker.startAgain({ N8N_EXPRESSION_ENGINE: engine });
			const { workflowId, url } = await topology.activate();
			await deliver(url, events(engine, 300), 100);
			const executions = await endedExecutions(topology, workflowId, 300);
			expect(byStatus(executions)).toEqual({ success: 300 });
			const name = `executions of the trigger alone, engine ${engine}`;
			record(`One worker: ${name}`, perSecond(300, executions));
		}

		for (const delayMs of [5, 100]) {
			topology.sandbox.faults.add({ path: '/user/*', delayMs });
			for (const length of [1, 10]) {
				const { workflowId, url } = await topology.activate(readUser);
				const bodies = Array.from({ length }, () => events('read', 1_000));
				await deliver(url, bodies, 100);
				const executions = await endedExecutions(topology, workflowId, length);
				expect(byStatus(executions)).toEqual({ success: length });
				const name = `${length} × 1,000 users read, ${delayMs} ms each`;
				const stored = `${await storedKilobytes(workflowId)} kB stored for each execution`;
				record(`One worker: ${name}`, `${perSecond(length * 1_000, executions)}, ${stored}`);
			}
			topology.sandbox.faults.clear();
		}
		await spare.startAgain();
	}, 600_000);

	test('a killed worker and a restarted main process lose no delivery', async () => {
		const [email] = addUsers('killed', 1) as [string];
		const upgrade = await sendSlowUpgrade(email);
		const { workflowId, url } = await topology.activate();
		const bodies = events('stream', 1_200);
		const deliveries = new DeliveryLog(topology, workflowId);
		const reading = setInterval(() => void deliveries.read(), 1_000);
		const answering = deliver(url, bodies, 20).finally(() => clearInterval(reading));

		await moreThan(workflowId, 200);
		const killed = Date.now();
		await upgrade.worker.kill();
		await moreThan(workflowId, 400);
		await topology.main.n8n.stop();
		await topology.main.startAgain();
		await upgrade.worker.startAgain();

		const answers = await answering;
		record('Deliveries while a worker is killed and main restarts', byStatus(answers));
		await deliveries.read();
		const { ids } = deliveries;
		const lost = bodies.filter(
			({ eventId }, index) => answers[index]!.status === 200 && !ids.has(eventId),
		);
		record('  answered 200, and without an execution', lost.length);
		expect(lost).toEqual([]);
		const executions = await endedExecutions(topology, workflowId, ids.size);
		record('  executions', byStatus(executions));
		const afterwards = new DeliveryLog(topology, workflowId);
		await afterwards.read();
		record(
			'  events that n8n no longer holds',
			[...ids].filter((id) => !afterwards.ids.has(id)).length,
		);

		const [write] = await endedExecutions(topology, upgrade.workflowId, 1);
		record('n8n 2, worker killed during an upgrade: execution', write!.status);
		record('  ended after', seconds(write!.stoppedAt!.getTime() - killed));
		record('  the upgrade was sent', `${upgradesOf([email]).length} ×`);
		expect(upgradesOf([email])).toHaveLength(1);
	}, 600_000);
});

describe('n8n 1', () => {
	beforeAll(async () => {
		// A quarter of n8n's defaults, so that a killed worker is noticed sooner.
		topology = await startTopology(1, {
			QUEUE_WORKER_LOCK_DURATION: '15000',
			QUEUE_WORKER_LOCK_RENEW_TIME: '2500',
			QUEUE_WORKER_STALLED_INTERVAL: '7500',
		});
	}, startMilliseconds);

	afterAll(async () => {
		await topology?.close();
	}, stopMilliseconds);

	test('sends an upgrade a second time when its worker was killed', async () => {
		expect(await killDuringUpgrade('twice')).toBe(2);
	}, 300_000);

	test('does not with QUEUE_WORKER_MAX_STALLED_COUNT=0', async () => {
		for (const worker of topology.workers) {
			await worker.n8n.stop();
			await worker.startAgain({ QUEUE_WORKER_MAX_STALLED_COUNT: '0' });
		}
		expect(await killDuringUpgrade('once')).toBe(1);
	}, 300_000);

	/** Answers how often the upgrade was sent. */
	async function killDuringUpgrade(name: string): Promise<number> {
		const [email] = addUsers(name, 1) as [string];
		const { workflowId, worker } = await sendSlowUpgrade(email);
		await worker.kill();
		const [write] = await endedExecutions(topology, workflowId, 1);
		const sent = upgradesOf([email]).length;
		expect(billedUpgrades([email])).toBe(sent);
		record(`n8n 1, worker killed during an upgrade (${name}): execution`, write!.status);
		record('  the upgrade was sent', `${sent} ×`);
		return sent;
	}
});

/** Starts an upgrade that is billed, and answered later than the test lasts; answers who sent it. */
async function sendSlowUpgrade(
	email: string,
): Promise<{ workflowId: string; worker: QueueProcess }> {
	topology.sandbox.faults.add({ path: '/plan/upgrade', email, times: 1, delayMs: 600_000 });
	const { workflowId, url } = await topology.activate(upgradePlan);
	expect(byStatus(await deliver(url, [{ email }], 1))).toEqual({ 200: 1 });
	await until('the upgrade is sent', 60_000, () => upgradesOf([email])[0]);
	const executions = await executionsOf(topology, workflowId);
	const worker = topology.workers[countByWorker(topology, executions).indexOf(1)]!;
	return { workflowId, worker };
}

async function moreThan(workflowId: string, executions: number): Promise<void> {
	await until(`more than ${executions} executions`, 300_000, async () => {
		return (await executionsOf(topology, workflowId)).length > executions || undefined;
	});
}

/** What PostgreSQL holds of an execution's data, on average. */
async function storedKilobytes(workflowId: string): Promise<number> {
	const [row] = await topology.query<{ kilobytes: string }>(
		`SELECT avg(length(data)) / 1024 AS kilobytes FROM execution_data
		JOIN execution_entity ON id = "executionId" WHERE "workflowId" = $1`,
		[workflowId],
	);
	return Math.round(Number(row!.kilobytes));
}

/** E-mail addresses of the upgrades that have arrived at the service for one of these. */
function upgradesOf(emails: string[]): string[] {
	return topology.sandbox.requests
		.filter(({ url }) => url === '/v1/plan/upgrade')
		.map(({ body }) => (JSON.parse(body) as { email: string }).email)
		.filter((email) => emails.includes(email));
}

/** How many upgrades the service has carried out for these. */
function billedUpgrades(emails: string[]): number {
	const upgrades = topology.sandbox.database.prepare('SELECT email FROM upgrades').all();
	return upgrades.filter(({ email }) => emails.includes(String(email))).length;
}

/** Gives the service more users; answers their e-mail addresses. */
function addUsers(name: string, length: number): string[] {
	const insert = topology.sandbox.database.prepare(
		'INSERT INTO users (id, email, first_name, last_name, created) VALUES (?, ?, ?, ?, 0)',
	);
	return Array.from({ length }, (_, index) => {
		const id = `${name}-${index}`;
		insert.run(id, `${id}@example.com`, name, String(index));
		return `${id}@example.com`;
	});
}

/** Payloads of events with an ID each. */
function events(name: string, length: number): Array<{ eventId: string }> {
	return Array.from({ length }, (_, index) => ({ eventId: `${name}-${index}` }));
}

function byStatus(all: Array<{ status?: string | number }>): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { status = 'no answer' } of all) counts[status] = (counts[status] ?? 0) + 1;
	return counts;
}

function recordWorkers(what: string, executions: Execution[]): void {
	const counts = countByWorker(topology, executions);
	record(what, `${executions.length}, by worker ${counts.join(' + ')}`);
	expect(Math.min(...counts)).toBeGreaterThan(0);
}

function recordLatencies(what: string, answers: Answer[]): void {
	const sorted = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
	const at = (part: number) => `${sorted[Math.ceil(part * sorted.length) - 1]!.toFixed(0)} ms`;
	record(what, `${at(0.5)} (p50), ${at(0.95)} (p95), ${at(1)} (max)`);
}

/** From the start of the first execution to the end of the last. */
function perSecond(units: number, executions: Execution[]): string {
	const first = Math.min(...executions.map(({ startedAt }) => startedAt!.getTime()));
	const last = Math.max(...executions.map(({ stoppedAt }) => stoppedAt!.getTime()));
	return `${((units * 1_000) / (last - first)).toFixed(0)} a second`;
}

const seconds = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(0)} s`;
