import { sleep } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { pause } from '../http/attempts';

export interface Gate {
	/** How many tasks may run at a time. */
	limit: number;
	/** Starts at most `size` tasks each `interval` milliseconds. */
	batch?: { size: number; interval: number };
	/** Once it is aborted, no further task is started. */
	signal?: AbortSignal;
}

/**
 * Runs `task` for each index from 0 to `count - 1`, started in order. After a task has thrown, no
 * further one is started.
 * @throws what the task with the lowest index threw, or a Failure if the execution was cancelled, when all that had
 * started have ended
 */
export async function runInOrder(
	count: number,
	{ limit, batch, signal }: Gate,
	task: (index: number) => Promise<void>,
): Promise<void> {
	const begin = Date.now();
	const failures = new Map<number, unknown>();
	const running = new Set<Promise<void>>();
	const isOpen = () => failures.size === 0 && !signal?.aborted;
	const start = (index: number) => {
		const run = task(index)
			.catch((error: unknown) => void failures.set(index, error))
			.then(() => void running.delete(run));
		running.add(run);
	};
	for (let index = 0; index < count && isOpen(); index++) {
		const due = batch ? begin + Math.floor(index / batch.size) * batch.interval : 0;
		if (due > Date.now()) await pause(due - Date.now(), signal);
		if (isOpen()) start(index);
		// Lets the request reach its socket before the next item's expressions block n8n. Otherwise all requests would be
		// sent together, after all expressions.
		await sleep(0);
		if (running.size >= limit) await Promise.race(running);
	}
	await Promise.all(running);
	if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
	if (signal?.aborted) throw new Failure('network.notSent', {}, { mayHaveHappened: false });
}
