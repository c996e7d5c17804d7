/**
 * Measures n8n's queue mode with the processes of the queue tests (`npm run bench:queue`). docs/scaling.md has its
 * figures.
 */
import { isDeepStrictEqual } from 'node:util';
import { buildPackage } from '../host/build.mts';
import { reportTo } from '../host/progress.mts';
import { table } from '../scripts/blocks.mts';
import { byStatus, deliver, events } from '../test/queue/deliveries.mts';
import {
	countByWorker,
	DeliveryLog,
	endedExecutions,
	type Execution,
} from '../test/queue/executions.mts';
import { startTopology, type QueueProcess, type Topology } from '../test/queue/topology.mts';
import { userGet } from '../test/support/parameters.mts';
import { summarize } from './report.mts';

/** A line of the printed table. */
type Line = [measured: string, result: string];

await buildPackage(reportTo(process.stderr));
const topology = await startTopology(2);
const lines: Line[] = [];
try {
	lines.push(...(await burst(topology, 2_000, 100)));
	lines.push(...(await oneWorker(topology)));
} finally {
	await topology.close();
	console.log(table([['Measured', 'Result'], ...lines]));
}

async function burst(topology: Topology, count: number, perSecond: number): Promise<Line[]> {
	const { workflowId, url } = await topology.activate();
	const started = Date.now();
	const answers = await deliver(url, events('burst', count), perSecond);
	const executions = await succeeded(topology, workflowId, count);
	const seconds = (Date.now() - started) / 1_000;
	const deliveries = new DeliveryLog(topology, workflowId);
	await deliveries.read();
	const { median, most } = summarize(answers.map(({ milliseconds }) => milliseconds));
	const counts = Object.entries(byStatus(answers)).map(([status, number]) => `${number} ${status}`);
	return [
		[`${count} deliveries at ${perSecond} a second: by answer`, counts.join(', ')],
		['… answered after, median and at most', `${median.toFixed()} ms, ${most.toFixed()} ms`],
		['… distinct delivery IDs', String(deliveries.ids.size)],
		['… executions by worker', countByWorker(topology, executions).join(' + ')],
		['… until all executions had ended', `${seconds.toFixed()} s`],
	];
}

async function oneWorker(topology: Topology): Promise<Line[]> {
	const [worker, spare] = topology.workers as [QueueProcess, QueueProcess];
	await spare.n8n.stop();
	const measured: Line[] = [];
	// All other processes have the last value.
	for (const lazy of ['false', 'true']) {
		await worker.n8n.stop();
		await worker.startAgain({ N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: lazy });
		const { workflowId, url } = await topology.activate();
		await deliver(url, events(`lazy-${lazy}`, 300), 100);
		const executions = await succeeded(topology, workflowId, 300);
		const isolates = lazy === 'true' ? 'isolates on demand' : 'an isolate for each';
		const title = `One worker: executions of the trigger alone, ${isolates}`;
		measured.push([title, perSecond(300, executions)]);
	}
	for (const delayMs of [5, 100]) {
		topology.sandbox.faults.add({ path: '/user/*', delayMs });
		for (const length of [1, 10]) {
			const { workflowId, url } = await topology.activate(userGet('user-001'));
			const bodies = Array.from({ length }, () => events('read', 1_000));
			await deliver(url, bodies, 100);
			const executions = await succeeded(topology, workflowId, length);
			const stored = `${await storedKilobytes(topology, workflowId)} kB stored for each execution`;
			measured.push([
				`One worker: ${length} × 1,000 users read, ${delayMs} ms each`,
				`${perSecond(length * 1_000, executions)}, ${stored}`,
			]);
		}
		topology.sandbox.faults.clear();
	}
	return measured;
}

async function succeeded(topology: Topology, workflowId: string, count: number) {
	const executions = await endedExecutions(topology, workflowId, count);
	const counts = byStatus(executions);
	if (isDeepStrictEqual(counts, { success: count })) return executions;
	throw new Error(`Not ${count} executions have succeeded: ${JSON.stringify(counts)}`);
}

/** Returns the rate from the start of the first execution to the end of the last. */
function perSecond(units: number, executions: Execution[]): string {
	const first = Math.min(...executions.map(({ startedAt }) => startedAt!.getTime()));
	const last = Math.max(...executions.map(({ stoppedAt }) => stoppedAt!.getTime()));
	return `${((units * 1_000) / (last - first)).toFixed()} a second`;
}

/** Returns the average size of an execution's data in PostgreSQL. */
async function storedKilobytes({ query }: Topology, workflowId: string): Promise<number> {
	const [row] = await query<{ kilobytes: string }>(
		`SELECT avg(length(data)) / 1024 AS kilobytes FROM execution_data
		JOIN execution_entity ON id = "executionId" WHERE "workflowId" = $1`,
		[workflowId],
	);
	return Math.round(Number(row!.kilobytes));
}
