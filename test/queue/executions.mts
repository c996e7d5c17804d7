import { setTimeout as sleep } from 'node:timers/promises';
import { parse as parseFlatted } from 'flatted';
import type { IRunExecutionData } from 'n8n-workflow';

import type { Topology } from './topology.mts';

/** An execution as PostgreSQL holds it, which is much faster to read than over REST. */
export interface Execution {
	id: number;
	status: string;
	startedAt: Date | null;
	stoppedAt: Date | null;
}

const unfinished = ['new', 'running', 'waiting', 'unknown'];
const pollMilliseconds = 250;

/** Asks until there is an answer. */
export async function until<Result>(
	what: string,
	timeoutMilliseconds: number,
	ask: () => Promise<Result | undefined> | Result | undefined,
): Promise<Result> {
	const deadline = Date.now() + timeoutMilliseconds;
	for (;;) {
		const answer = await ask();
		if (answer !== undefined) return answer;
		if (Date.now() > deadline) throw new Error(`Not after ${timeoutMilliseconds} ms: ${what}`);
		await sleep(pollMilliseconds);
	}
}

export async function executionsOf({ query }: Topology, workflowId: string): Promise<Execution[]> {
	return await query(
		`SELECT id, status, "startedAt", "stoppedAt" FROM execution_entity
		WHERE "workflowId" = $1 ORDER BY id`,
		[workflowId],
	);
}

/** Waits until a workflow has at least so many executions, and all of them have ended. */
export async function endedExecutions(
	topology: Topology,
	workflowId: string,
	count: number,
	timeoutMilliseconds = 300_000,
): Promise<Execution[]> {
	return await until(`${count} executions, all ended`, timeoutMilliseconds, async () => {
		const executions = await executionsOf(topology, workflowId);
		const ended = executions.every(({ status }) => !unfinished.includes(status));
		return executions.length >= count && ended ? executions : undefined;
	});
}

/** Keeps which delivery each execution began with, by the trigger's delivery ID. */
export class DeliveryLog {
	readonly #topology: Topology;
	readonly #workflowId: string;
	readonly #deliveries = new Map<number, unknown>();

	constructor(topology: Topology, workflowId: string) {
		this.#topology = topology;
		this.#workflowId = workflowId;
	}

	/** The delivery IDs of all executions that were there at some reading. */
	get ids(): Set<unknown> {
		return new Set(this.#deliveries.values());
	}

	/**
	 * Reads the executions that were not read before: for one that ends with its worker, n8n 2.41
	 * stores a failure in place of what it began with (n8n/dist/workflow-runner.js, processError).
	 */
	async read(): Promise<void> {
		const rows = await this.#topology.query<{ id: number; data: string }>(
			`SELECT id, data FROM execution_data JOIN execution_entity ON id = "executionId"
			WHERE execution_entity."workflowId" = $1 AND id <> ALL($2)`,
			[this.#workflowId, [...this.#deliveries.keys()]],
		);
		for (const { id, data } of rows) {
			const { resultData, executionData } = parseFlatted(data) as IRunExecutionData;
			const output = resultData.runData.Trigger?.[0]?.data?.main;
			const input = executionData?.nodeExecutionStack[0]?.data.main;
			this.#deliveries.set(id, (output ?? input)?.[0]?.[0]?.json.deliveryId);
		}
	}
}

/** How many of the executions each worker took, by the workers' logs. */
export function countByWorker({ workers }: Topology, executions: Execution[]): number[] {
	const ids = new Set(executions.map(({ id }) => id));
	return workers.map(({ n8n }) => {
		const taken = Array.from(n8n.log().matchAll(/Worker started execution (\d+) /g));
		return taken.filter(([, id]) => ids.has(Number(id))).length;
	});
}
