import { createHash } from 'node:crypto';

import { type ClaimContext, withRow } from '../../shared/engine';
import { Failure } from '../../shared/failure';
import { pause } from '../http/attempts';

/** Milliseconds. All items of `runItems` together wait no longer for other executions that have claimed their keys. */
export const LONGEST_WAIT = 10_000;

/** Milliseconds between two checks of a claim. */
const CHECK_INTERVAL = 250;

/** Refused insertions after which the item fails, if nobody has claimed the key. */
const MOST_REFUSALS = 3;

/** n8n's mode that stores a list of values in one row of `processed_data`. Its other modes store only the latest value. */
const MODE = { mode: 'entries' } as const;

/**
 * Sends the request of a key unless this workflow has sent the key before, in any execution and by any node. A key has two rows:
 *
 * - The claim names the key alone. Only the execution that inserts it into n8n's database sends. The claim is removed
 *   only after the outcome `refused`. After `held`, a person has to act first; a killed process leaves the key claimed, too.
 * - The success names the key, the account and the request. It is inserted when the service has confirmed the request.
 *   The same key with another request is an error.
 */
export class Claims {
	private waitsUntil?: number;

	constructor(
		private readonly context: ClaimContext,
		private readonly hint: (message: string) => void,
		private readonly cancelled?: AbortSignal,
	) {}

	/**
	 * @param identity everything that tells this request from others, as JSON can express it
	 * @returns what `send` returns; undefined if exactly this request has succeeded before
	 * @throws Failure, also when the key could not be claimed; nothing was sent then
	 */
	async sendOnce<T>(
		key: string,
		identity: unknown,
		send: () => Promise<T>,
	): Promise<T | undefined> {
		const claim = rowName('claim', key);
		const success = rowName('success', key, identity);
		const maySend = await this.claim(claim, success).catch((error: unknown) => {
			// If n8n's database fails, nothing is sent without a claim.
			throw error instanceof Failure ? error : notClaimed();
		});
		if (!maySend) return undefined;
		const result = await send().catch(async (error: unknown) => {
			const mayBeSentAgain = error instanceof Failure && error.outcome === 'refused';
			if (mayBeSentAgain) await this.remove(claim).catch(() => this.hint(NOT_REMOVED));
			throw error;
		});
		await this.insert(success).catch(() => this.hint(NOT_STORED));
		return result;
	}

	/** Checks that n8n stores each row under its own name: see {@link withRow}. @throws Failure if it does not */
	async checkRows(): Promise<void> {
		const isThere = await this.has(rowName('never written')).catch(() => true);
		if (isThere) throw notClaimed();
	}

	/**
	 * Claims the key, or waits for the execution that has claimed it.
	 * @returns true if this execution may send; false if exactly this request has succeeded before
	 * @throws Failure if neither is known
	 */
	private async claim(claim: string, success: string): Promise<boolean> {
		await this.checkRows();
		let refusals = 0;
		for (;;) {
			if (await this.has(success)) return false;
			if (await this.has(claim)) {
				this.waitsUntil ??= Date.now() + LONGEST_WAIT;
				const isOver = Date.now() >= this.waitsUntil || this.cancelled?.aborted;
				if (isOver) throw new Failure('key.claimed');
			} else {
				// If another execution inserts the row first, the database refuses this insertion.
				if (await this.insert(claim).catch(() => false)) return true;
				// A database that is full or read-only refuses each insertion, and so does n8n for a workflow that is not saved.
				if (!(await this.has(claim))) refusals++;
				if (refusals >= MOST_REFUSALS) throw notClaimed();
			}
			await pause(CHECK_INTERVAL, this.cancelled);
		}
	}

	/** `node` is n8n's scope of a row. `withRow` puts the row's name in place of the node's ID. */
	private async has(row: string): Promise<boolean> {
		const count = await withRow(this.context, row, ({ getProcessedDataCount }) =>
			getProcessedDataCount?.('node', MODE),
		);
		return count > 0;
	}

	/** @returns false if the row was there */
	private async insert(row: string): Promise<boolean> {
		const { new: added } = await withRow(this.context, row, ({ checkProcessedAndRecord }) =>
			checkProcessedAndRecord?.([row], 'node', MODE),
		);
		return added.length > 0;
	}

	private async remove(row: string): Promise<void> {
		await withRow(this.context, row, ({ clearAllProcessedItems }) =>
			clearAllProcessedItems?.('node', MODE),
		);
	}
}

const NOT_REMOVED =
	'A Send Once Key could not be released, although nothing was done for it. The node will not send this key again.';

const NOT_STORED =
	'The success of a Send Once Key could not be stored. The node will not send this key again, and will report that it was used before.';

function rowName(...parts: unknown[]): string {
	return `resumeManagement:${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;
}

function notClaimed(): Failure {
	return new Failure('key.notClaimed', {}, { outcome: 'refused' });
}
