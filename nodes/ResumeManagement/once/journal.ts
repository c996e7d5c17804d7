import type { IDataObject } from 'n8n-workflow';

import { Failure, type Outcome } from '../../shared/failure';
import type { JsonBody } from '../http/judge';
import type { RecordOutput } from '../responses/record';
import type { WriteId } from './writeId';

/**
 * What became of a write. The item of an applied write is made of the response's body and of
 * `extras`, which its record gets; without `output`, the body is the item.
 */
export type Entry =
	| { outcome: 'applied'; body: JsonBody; output?: RecordOutput; extras?: IDataObject }
	| { outcome: Outcome; failure: Error };

/** The writes of one run of a node, its attempts by Retry On Fail included. */
class Journal {
	private readonly entries = new Map<WriteId, Entry>();

	/** Indexes of the first items that make a purchase, by its ID. */
	private readonly firstItems = new Map<string, number>();

	/** The write that was started last, which waits for those before it. */
	private lastTurn: Promise<unknown> = Promise.resolve();

	/** Runs a write of those that n8n starts all at once: one at a time, first come, first served. */
	async inTurn<T>(write: () => Promise<T>): Promise<T> {
		const turn = this.lastTurn.then(write);
		this.lastTurn = turn.catch(() => {});
		return await turn;
	}

	/** Returns what became of a write that must not be sent again; undefined for any other write. */
	recall(id: WriteId): Entry | undefined {
		const entry = this.entries.get(id);
		return entry?.outcome === 'refused' ? undefined : entry;
	}

	record(id: WriteId, entry: Entry): void {
		this.entries.set(id, entry);
	}

	isApplied(id: WriteId): boolean {
		return this.entries.get(id)?.outcome === 'applied';
	}

	/** Records a write that was not sent. It stops those that n8n has started at the same time. */
	recordUnsent(id: WriteId, failure: Error): void {
		this.record(id, { outcome: 'refused', failure });
	}

	/** @throws Failure if another write has failed, and this one was not carried out before */
	refuseAfterFailure(id: WriteId): void {
		if (this.recall(id)) return;
		for (const [other, entry] of this.entries) {
			if (other === id || !('failure' in entry)) continue;
			throw new Failure('write.stopped', { reason: entry.failure.message });
		}
	}

	/**
	 * Registers that an item makes a purchase.
	 * @returns the first item of the run that makes it: this one, if none did before
	 */
	registerPurchase(purchaseId: string, index: number): number {
		const firstItem = this.firstItems.get(purchaseId) ?? index;
		this.firstItems.set(purchaseId, firstItem);
		return firstItem;
	}
}

/**
 * Journals by the run that they belong to. Each is freed with the execution data that identifies
 * its run.
 */
const journals = new WeakMap<object, Journal>();

/**
 * Returns the journal of a run of the node, Retry On Fail included: n8n repeats the node with the
 * same execution data (n8n-core's workflow-execute.ts). Each round of a loop, each execution and
 * each node has its own. All calls of a tool by version 2 of n8n's AI Agent share the agent's.
 */
export function journalOf(context: JournalContext): Journal {
	const data = context.getExecuteData();
	const journal = journals.get(data) ?? new Journal();
	journals.set(data, journal);
	return journal;
}

/**
 * @throws Failure if n8n hands out copies of the execution data: a retry would not find its
 * journal, and could send twice
 */
export function requireStableJournal(context: JournalContext): void {
	const data = context.getExecuteData();
	const dataAgain = context.getExecuteData();
	if (data !== dataAgain) throw new Failure('write.unguarded');
}

interface JournalContext {
	getExecuteData(): object;
}
