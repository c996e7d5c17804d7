import type { INodeExecutionData } from 'n8n-workflow';

import { identityOfRun } from '../../shared/engine';
import { Failure, type Outcome } from '../../shared/failure';

/** Makes the item of an applied write, or of one that was not sent. What it throws leaves the write's outcome as it is. */
export type MakeItem = () => INodeExecutionData;

/**
 * The states of a write: its outcome, once it has one. Only {@link Write.send} changes them:
 *
 *     new ──► started ──┬──► applied    the service confirmed it
 *                       ├──► refused    proved not to have happened: not sent, or turned down; may be sent again
 *                       ├──► held       proved not to have happened, but a person has to act first
 *                       └──► unknown    everything else, foreseen or not
 */
type State =
	| { name: 'new' | 'started' }
	| { name: Exclude<Outcome, 'applied'>; failure: Failure }
	| { name: 'applied'; makeItem: MakeItem };

/** An item's write, and its state. */
export class Write {
	private state: State = { name: 'new' };

	/** True if the write must not be sent again, so that {@link itemMaker} is final. */
	get isFinal(): boolean {
		return this.state.name !== 'new' && this.state.name !== 'refused';
	}

	get isApplied(): boolean {
		return this.state.name === 'applied';
	}

	/**
	 * Sends the request, unless it might then be carried out twice.
	 * @param request if it throws anything but a {@link Failure}, the outcome is unknown
	 * @throws Failure
	 */
	async send(request: () => Promise<MakeItem>): Promise<MakeItem> {
		if (!this.isFinal) {
			this.state = { name: 'started' };
			try {
				this.state = { name: 'applied', makeItem: await request() };
			} catch (error) {
				const failure = error instanceof Failure ? error.with({ isWrite: true }) : unexpected();
				this.state = { name: failure.outcome, failure };
			}
		}
		return this.itemMaker();
	}

	/** Returns the maker of an applied write's item. @throws the Failure of any other write */
	itemMaker(): MakeItem {
		if (this.state.name === 'applied') return this.state.makeItem;
		throw 'failure' in this.state ? this.state.failure : unexpected();
	}
}

function unexpected(): Failure {
	return new Failure('node.unexpected', {}, { isWrite: true });
}

/** The writes of one run of a node, its attempts by Retry On Fail included. */
export class Journal {
	private readonly writes = new Map<unknown, Write>();

	/** Indexes of the first items that make a purchase, by its ID. */
	private readonly firstItems = new Map<string, number>();

	private lastTask: Promise<unknown> = Promise.resolve();

	/** The failed write that stops all others. */
	private stopped?: { by: Write; reason: string };

	/** @param isGuarded false if n8n does not identify the run: a retry would not find this journal again */
	constructor(private readonly isGuarded: boolean) {}

	/** Returns the write of this identity: see `identityOfWrite`. */
	writeOf(identity: object | number): Write {
		const write = this.writes.get(identity) ?? new Write();
		this.writes.set(identity, write);
		return write;
	}

	/** Refuses an item that makes the purchase of another item of the run. @throws Failure */
	refuseRepeated(index: number, id: string, isRepeatAllowed: boolean): void {
		const firstItem = this.firstItems.get(id) ?? index;
		this.firstItems.set(id, firstItem);
		// Retry On Fail only reads the same item again.
		if (firstItem === index || isRepeatAllowed) return;
		throw new Failure('write.repeated', { firstItem });
	}

	/**
	 * Runs tasks one at a time, first in, first out. `runItems` starts one at a time anyway, but n8n starts all items of
	 * `runSingleItem` at once.
	 * @param stops if a failure of this write stops all others until this write succeeds in a later attempt
	 * @throws what the task throws, or a Failure if an earlier write has stopped the others
	 */
	async enqueue<T>(write: Write, stops: boolean, task: () => Promise<T>): Promise<T> {
		const result = this.lastTask.then(async () => {
			const { stopped } = this;
			if (!this.isGuarded) throw new Failure('write.unguarded');
			if (stopped && stopped.by !== write && !write.isFinal) {
				throw new Failure('write.stopped', { reason: stopped.reason });
			}
			const value = await task();
			if (stopped?.by === write) this.stopped = undefined;
			return value;
		});
		this.lastTask = result.catch((error: unknown) => {
			if (stops) this.stopped ??= { by: write, reason: (error as Error).message };
		});
		return await result;
	}

	/** Names the items that a stopped run has carried out. @param failed the item that stopped it */
	progress(indexes: number[], failed?: number): string {
		const applied = indexes.filter((index) => this.writeOf(index).isApplied);
		const unsent = indexes.filter((index) => index !== failed && !this.writeOf(index).isFinal);
		const sentence =
			applied.length === 0
				? 'No item was applied'
				: `Already applied: ${applied.length} of ${indexes.length} (${listed(applied)})`;
		return `${sentence}.${unsent.length === 0 ? '' : ` Not sent: ${listed(unsent)}.`}`;
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
