import { sleep } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { pause } from '../http/send';
import type { RequestOptions } from '../http/settings';
import type { Run } from './run';

/** Milliseconds of work, such as expressions, after which n8n gets time for other work, such as sending requests. */
const SLICE = 5;

/** Decides when the next item of a run may start. */
export class Pace {
	private readonly begin = Date.now();

	private sliceStart = this.begin;

	private started = 0;

	/**
	 * @param batch starts at most `size` items each `interval` milliseconds
	 * @param cancelled once it is aborted, no further item may start
	 */
	constructor(
		private readonly batch?: { size: number; interval: number },
		private readonly cancelled?: AbortSignal,
	) {}

	/** Waits until the next item may start. @throws Failure if the execution was cancelled */
	async next(): Promise<void> {
		if (Date.now() - this.sliceStart >= SLICE) {
			// `sleep` takes at least 1 ms, which is longer than most items: it must not follow each of them.
			await sleep(0);
			this.sliceStart = Date.now();
		}
		if (this.batch) {
			const { size, interval } = this.batch;
			const due = this.begin + Math.floor(this.started / size) * interval;
			if (due > Date.now()) await pause(due - Date.now(), this.cancelled);
		}
		if (this.cancelled?.aborted) throw new Failure('network.notSent', {}, { outcome: 'refused' });
		this.started++;
	}
}

/** Reads Batching for all items. Each item reads the other Request Options, so that a failing expression fails its item alone. */
export function paceOf({ context, readParameter }: Run): Pace {
	const batching = readParameter('requestOptions.batching', 0, {}) as RequestOptions['batching'];
	const { batchSize: size = 50, batchInterval: interval = 0 } = batching?.batch ?? {};
	// n8n writes -1 for a size that is "disabled" (n8n-core/src/nodes-loader/constants.ts).
	const batch = interval > 0 && size > 0 ? { size, interval } : undefined;
	return new Pace(batch, context.getExecutionCancelSignal());
}

/**
 * Runs a task for each index: starts them in order, and at most so many at a time. After a task has thrown, no other is started.
 * @throws after all started tasks have ended: the error of the first index in order, or the Failure of a cancelled execution
 */
export async function runSideBySide(
	indexes: number[],
	atOnce: number,
	pace: Pace,
	task: (index: number) => Promise<void>,
): Promise<void> {
	const errors = new Map<number, unknown>();
	const running = new Set<Promise<void>>();
	try {
		for (const index of indexes) {
			await pace.next();
			if (errors.size > 0) break;
			const promise = task(index)
				.catch((error: unknown) => void errors.set(index, error))
				.then(() => void running.delete(promise));
			running.add(promise);
			if (running.size >= atOnce) await Promise.race(running);
		}
	} finally {
		await Promise.all(running);
	}
	if (errors.size > 0) throw errors.get(Math.min(...errors.keys()));
}
