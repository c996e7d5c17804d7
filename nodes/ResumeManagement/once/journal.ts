import type { IDataObject } from 'n8n-workflow';

import { Failure, type Outcome } from '../../shared/failure';
import type { JsonBody } from '../http/judge';
import type { RecordOutput } from '../responses/record';
import type { WriteId } from './identity';

/**
 * What became of a write. The item of an applied write is made of the response's body, and of what stands beside its record;
 * without `response`, the body is the item.
 */
export type Entry =
	| { outcome: 'applied'; body: JsonBody; response?: RecordOutput; beside?: IDataObject }
	| { outcome: Outcome; failure: Failure | undefined };

/** The writes of one run of a node, its attempts by Retry On Fail included. */
export class Journal {
	/** Of the writes: n8n starts all items of `runSingleItem` at once. */
	readonly queue = new Queue();

	/** The failed write that stops all others, until it succeeds in a later attempt. */
	private stopped?: { by: WriteId; reason: string };

	private readonly entries = new Map<WriteId, Entry>();

	/** Indexes of the first items that make a purchase, by its ID. */
	private readonly firstItems = new Map<string, number>();

	/** @param isGuarded false if n8n does not identify the run: a retry would not find this journal again */
	constructor(readonly isGuarded: boolean) {}

	/** Returns what became of a write; undefined if it was not sent. */
	recall(id: WriteId): Entry | undefined {
		return this.entries.get(id);
	}

	record(id: WriteId, entry: Entry): void {
		this.entries.set(id, entry);
	}

	/** Records that a write may be carried out from now on. */
	begin(id: WriteId): void {
		this.entries.set(id, { outcome: 'unknown', failure: undefined });
	}

	/** Checks whether a write must not be sent again. */
	isFinal(id: WriteId): boolean {
		const entry = this.entries.get(id);
		return entry !== undefined && entry.outcome !== 'refused';
	}

	isApplied(id: WriteId): boolean {
		return this.entries.get(id)?.outcome === 'applied';
	}

	/** Stops all other writes, unless one has stopped them before. */
	stop(by: WriteId, reason: string): void {
		this.stopped ??= { by, reason };
	}

	/** Ends the stop by this write, which has succeeded. */
	endStop(by: WriteId): void {
		if (this.stopped?.by === by) this.stopped = undefined;
	}

	/** @throws Failure if another write has stopped this one */
	refuseStopped(id: WriteId): void {
		if (!this.stopped || this.stopped.by === id) return;
		throw new Failure('write.stopped', { reason: this.stopped.reason });
	}

	/** Refuses an item that makes the purchase of another item of the run. @throws Failure */
	refuseRepeated(index: number, purchaseId: string, isRepeatAllowed: boolean): void {
		const firstItem = this.firstItems.get(purchaseId) ?? index;
		this.firstItems.set(purchaseId, firstItem);
		// Retry On Fail only reads the same item again.
		if (firstItem === index || isRepeatAllowed) return;
		throw new Failure('write.repeated', { firstItem });
	}

	/** Names the items that a stopped run has carried out. @param failed the item that stopped it */
	progress(indexes: number[], failed?: number): string {
		const applied = indexes.filter((index) => this.isApplied(index));
		const unsent = indexes.filter((index) => index !== failed && !this.isFinal(index));
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

/**
 * Returns the object that identifies a run of the node, Retry On Fail included: n8n repeats the node with the same execution
 * data (n8n-core's workflow-execute.ts). Each round of a loop, each execution and each node has its own. All calls of a
 * tool by an AI agent share the agent's.
 * @returns undefined if n8n hands out copies: then a retry could not be recognized, and no write is sent
 */
function identityOfRun(context: { getExecuteData(): object }): object | undefined {
	const data = context.getExecuteData();
	return data === context.getExecuteData() ? data : undefined;
}

/** Runs tasks one at a time, first come, first served. */
class Queue {
	private last: Promise<unknown> = Promise.resolve();

	async run<T>(task: () => Promise<T>): Promise<T> {
		const result = this.last.then(task);
		this.last = result.catch(() => {});
		return await result;
	}
}
