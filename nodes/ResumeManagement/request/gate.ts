import { sleep } from 'n8n-workflow';

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
 * @throws what the task with the lowest index threw, or the signal's reason, when all that had
 * started have ended
 */
export async function runInOrder(
	count: number,
	{ limit, batch, signal }: Gate,
	task: (index: number) => Promise<void>,
): Promise<void> {
	const begin = Date.now();
	const failures = new Map<number, unknown>();
	let next = 0;
	const runner = async () => {
		while (next < count && failures.size === 0 && !signal?.aborted) {
			const index = next++;
			if (batch) {
				const due = begin + Math.floor(index / batch.size) * batch.interval;
				if (due > Date.now()) await sleep(due - Date.now());
				if (failures.size > 0 || signal?.aborted) return;
			}
			await task(index).catch((error: unknown) => failures.set(index, error));
		}
	};
	await Promise.all(Array.from({ length: Math.min(limit, count) }, runner));
	if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
	signal?.throwIfAborted();
}
