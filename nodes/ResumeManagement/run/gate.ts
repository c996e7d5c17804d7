import { pause } from '../../shared/pause';

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
	const running = new Set<Promise<void>>();
	const turns = new Turns();
	let onSlotFree = () => {};
	const isOpen = () => failures.size === 0 && !signal?.aborted;
	const start = (index: number) => {
		const run = task(index)
			.catch((error: unknown) => void failures.set(index, error))
			.then(() => {
				running.delete(run);
				onSlotFree();
			});
		running.add(run);
	};
	for (let index = 0; index < count && isOpen(); index++) {
		const due = batch ? begin + Math.floor(index / batch.size) * batch.interval : 0;
		if (due > Date.now()) await pause(due - Date.now(), signal);
		if (isOpen()) start(index);
		// Lets the request reach its socket before the next item's expressions are evaluated, each of
		// which blocks n8n for about a millisecond: else requests whose slots became free together would
		// leave together, after all of their expressions, and be answered together again.
		await turns.next();
		if (running.size >= limit) await new Promise<void>((resolve) => (onSlotFree = resolve));
	}
	await Promise.all(running);
	turns.close();
	if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
	signal?.throwIfAborted();
}

/** Of two ports in turn, one is behind the other in the loop; twice there and back are two turns at least. */
const MESSAGES = 4;

/**
 * Turns of the event loop, by messages: a timer would wait for a millisecond. A port hands out all messages
 * that it has within one turn, so two of them are used in turn.
 */
class Turns {
	private readonly channels = [new MessageChannel(), new MessageChannel()];

	private onMessage = () => {};

	constructor() {
		for (const { port2 } of this.channels) port2.on('message', () => this.onMessage());
	}

	async next(): Promise<void> {
		for (let count = 0; count < MESSAGES; count++) {
			await new Promise<void>((resolve) => {
				this.onMessage = resolve;
				this.channels[count % 2]!.port1.postMessage(undefined);
			});
		}
	}

	close(): void {
		for (const { port1 } of this.channels) port1.close();
	}
}
