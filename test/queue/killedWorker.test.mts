import type { INodeParameters } from 'n8n-workflow';
import { endedExecutions } from './executions.mts';
import { startMilliseconds, startTopology, type QueueProcess, type Topology } from './topology.mts';
import {
	addUsers,
	billedUpgrades,
	killNoticedSooner,
	sendSlowUpgrade,
	upgradesOf,
} from './upgrades.mts';

/** A worker of n8n 1 that is killed during upgrades. */

let topology: Topology;

beforeAll(async () => {
	topology = await startTopology(1, killNoticedSooner, false);
}, startMilliseconds);

afterAll(async () => {
	await topology?.close();
}, 120_000);

interface Sent {
	email: string;
	workflowId: string;
	worker: QueueProcess;
}

let count = 0;

/** Sends upgrades, all unanswered, until one of them is with a worker that `isWanted`. */
async function sendTo(
	isWanted: (worker: QueueProcess) => boolean,
	more: INodeParameters = {},
): Promise<Sent> {
	for (;;) {
		const [email] = addUsers(topology, `killed-${count++}`, 1) as [string];
		const sent = { email, ...(await sendSlowUpgrade(topology, email, more)) };
		if (isWanted(sent.worker)) return sent;
	}
}

/** How often it was sent once n8n has ended its execution. */
async function timesSent({ email, workflowId }: Sent): Promise<number> {
	await endedExecutions(topology, workflowId, 1);
	const sent = upgradesOf(topology, [email]).length;
	expect(billedUpgrades(topology, [email])).toBe(sent);
	return sent;
}

test('its upgrade is sent again, but not with a Send Once Key, nor with QUEUE_WORKER_MAX_STALLED_COUNT=0', async () => {
	const plain = await sendTo(() => true);
	const sendOnceKey = '={{ $json.data.email }}';
	const keyed = await sendTo((worker) => worker === plain.worker, { sendOnceKey });
	await plain.worker.kill();
	expect(await timesSent(plain)).toBe(2);
	expect(await timesSent(keyed)).toBe(1);

	// It is the other one that notices now.
	await plain.worker.startAgain({ QUEUE_WORKER_MAX_STALLED_COUNT: '0' });
	const last = await sendTo((worker) => worker !== plain.worker);
	await last.worker.kill();
	expect(await timesSent(last)).toBe(1);
}, 600_000);
