import { identityOfRun } from '../../shared/engine';
import { Failure } from '../../shared/failure';
import type { Result } from '../output/items';
import type { Call } from './call';

/**
 * The states of a write. Only {@link Write.send} changes them:
 *
 *     prepared ──► sent ──┬──► done       the service confirmed it
 *                   ▲     ├──► refused    proved not to have happened: not sent, or turned down
 *                   └─────┤
 *                         ├──► onHold     proved not to have happened, but a person has to act first
 *                         └──► unknown    everything else, foreseen or not
 */
type State =
	| { name: 'prepared' | 'sent' }
	| { name: 'refused' | 'onHold' | 'unknown'; failure: Failure }
	| { name: 'done'; result: Result };

/** An item's write, and its state. */
export class Write {
	private state: State = { name: 'prepared' };

	/** True if the write must not be sent again, so that {@link result} is final. */
	get isFinal(): boolean {
		return this.state.name !== 'prepared' && this.state.name !== 'refused';
	}

	get isDone(): boolean {
		return this.state.name === 'done';
	}

	/**
	 * Sends the request, unless it might then be carried out twice.
	 * @param request if it throws anything but a {@link Failure}, the outcome is unknown
	 * @throws Failure
	 */
	async send(request: () => Promise<Result>): Promise<Result> {
		if (!this.isFinal) {
			this.state = { name: 'sent' };
			try {
				this.state = { name: 'done', result: await request() };
			} catch (error) {
				this.state = stateAfter(error);
			}
		}
		return this.result();
	}

	/**
	 * Returns the result, without a request.
	 * @throws Failure
	 */
	result(): Result {
		if (this.state.name === 'done') return this.state.result;
		throw 'failure' in this.state ? this.state.failure : unexpected();
	}
}

function stateAfter(error: unknown): State {
	if (!(error instanceof Failure)) return { name: 'unknown', failure: unexpected() };
	if (error.mayHaveHappened) {
		return { name: 'unknown', failure: error.with({ outcome: 'unknown' }) };
	}
	return error.facts.onHold
		? { name: 'onHold', failure: error.with({ outcome: 'held' }) }
		: { name: 'refused', failure: error.with({ outcome: 'refused' }) };
}

function unexpected(): Failure {
	return new Failure('node.unexpected', {}, { outcome: 'unknown' });
}

/** The writes of one run of a node, its attempts by Retry On Fail included. */
export class Journal {
	private readonly writes = new Map<unknown, Write>();

	/** Indexes of the first items that make a purchase, by its ID. */
	private readonly buyers = new Map<string, number>();

	private lastTask: Promise<unknown> = Promise.resolve();

	/** The failed write that stops all others. */
	private stopped?: { by: Write; reason: string };

	/** @param isGuarded false if n8n does not identify the run: a retry would not find this journal again */
	constructor(private readonly isGuarded: boolean) {}

	/** Returns the write of this identity: see `identityOfWrite`. */
	writeOf(item: object | number): Write {
		let write = this.writes.get(item);
		if (!write) this.writes.set(item, (write = new Write()));
		return write;
	}

	/**
	 * Refuses an item that makes the same purchase as another item of the run. Retry On Fail reads each item again, which
	 * makes no other purchase.
	 * @throws Failure
	 */
	refuseRepeated({ index, purchase, sendOnceKey, credential }: Call): void {
		// With a key, `Claims` decides: different keys are different purchases.
		if (!purchase || sendOnceKey) return;
		const id = JSON.stringify([credential.baseUrl, credential.privateKey, purchase.id]);
		const buyer = this.buyers.get(id) ?? index;
		this.buyers.set(id, buyer);
		if (buyer === index || purchase.mayRepeat) return;
		throw new Failure('write.repeated', { buyer }, { isSetting: true });
	}

	/**
	 * Runs tasks one at a time, first in, first out.
	 * @param stops if a failure of this write stops all others until it succeeds in another attempt
	 * @param task prepares and sends the write
	 * @throws what the task throws, or a Failure if an earlier write has stopped the others
	 */
	async enqueue<T>(write: Write, stops: boolean, task: (write: Write) => Promise<T>): Promise<T> {
		const result = this.lastTask.then(async () => {
			const { stopped } = this;
			if (!this.isGuarded) throw new Failure('write.unguarded', {}, { mayHaveHappened: false });
			if (stopped && stopped.by !== write && !write.isFinal) {
				const { reason } = stopped;
				throw new Failure('write.stopped', { reason }, { mayHaveHappened: false });
			}
			const value = await task(write);
			if (stopped?.by === write) this.stopped = undefined;
			return value;
		});
		this.lastTask = result.catch((error: unknown) => {
			if (stops) this.stopped ??= { by: write, reason: (error as Error).message };
		});
		return await result;
	}

	/**
	 * Names the items that a stopped run has carried out, so that nobody repeats them.
	 * @param failed the item that stopped it
	 */
	progress(indexes: number[], failed?: number): string {
		const done = indexes.filter((index) => this.writeOf(index).isDone);
		const unsent = indexes.filter((index) => index !== failed && !this.writeOf(index).isFinal);
		const applied =
			done.length === 0
				? 'No item was applied'
				: `Already applied: ${done.length} of ${indexes.length} (${listed(done)})`;
		return `${applied}.${unsent.length === 0 ? '' : ` Not sent: ${listed(unsent)}.`}`;
	}
}

/** Lists item numbers, such as `items 0 to 3, 5`. */
function listed(indexes: number[]): string {
	const ranges: Array<[first: number, last: number]> = [];
	for (const index of indexes) {
		const range = ranges.at(-1);
		if (range?.[1] === index - 1) range[1] = index;
		else ranges.push([index, index]);
	}
	const texts = ranges.map(([first, last]) =>
		first === last ? `${first}` : `${first} to ${last}`,
	);
	return `${indexes.length === 1 ? 'item' : 'items'} ${texts.join(', ')}`;
}

/** Journals by the run that they belong to. Each is freed with the execution data that identifies its run. */
const journals = new WeakMap<object, Journal>();

export function journalOf(context: { getExecuteData(): object }): Journal {
	const run = identityOfRun(context);
	const known = run && journals.get(run);
	if (known) return known;
	const journal = new Journal(run !== undefined);
	if (run) journals.set(run, journal);
	return journal;
}
