import { sleep } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { pause } from '../http/attempts';

export interface StartLimits {
	/** Tasks that may run at a time. */
	limit: number;
	/** Starts at most `size` tasks each `interval` milliseconds. */
	batch?: { size: number; interval: number };
	/** Once it is aborted, no further task is started. */
	signal?: AbortSignal;
}

/** Milliseconds of work, such as expressions, after which n8n gets time for other work, such as sending requests. */
const SLICE = 5;

/**
 * Starts a task for each index, in order. After a task has thrown, no other is started.
 * @throws the error of the first index in order, after all started tasks have ended; or a Failure if not all were started
 */
export async function startInOrder(
	indexes: number[],
	{ limit, batch, signal }: StartLimits,
	task: (index: number) => Promise<void>,
): Promise<void> {
	const begin = Date.now();
	const failures = new Map<number, unknown>();
	const running = new Set<Promise<void>>();
	const start = (index: number) => {
		const promise = task(index)
			.catch((error: unknown) => void failures.set(index, error))
			.then(() => void running.delete(promise));
		running.add(promise);
	};
	let sliceStart = begin;
	let started = 0;
	for (const index of indexes) {
		const due = batch ? begin + Math.floor(started / batch.size) * batch.interval : 0;
		if (due > Date.now()) await pause(due - Date.now(), signal);
		if (failures.size > 0 || signal?.aborted) break;
		start(index);
		started++;
		if (Date.now() - sliceStart >= SLICE) {
			// `sleep` takes at least 1 ms, which is longer than most tasks: it must not follow each of them.
			await sleep(0);
			sliceStart = Date.now();
		}
		if (running.size >= limit) await Promise.race(running);
	}
	await Promise.all(running);
	if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
	if (started < indexes.length) throw new Failure('network.notSent');
}
