import { createHash, randomUUID } from 'node:crypto';

import { Failure, type Outcome } from '../../shared/failure';
import { pause } from '../http/send';
import { type ClaimContext, withRow } from './withRow';

/** Milliseconds. All items of a run together wait no longer for other executions, or for n8n's database. */
const LONGEST_WAIT = 10_000;

/** Milliseconds between two looks at a claim. */
const INTERVAL = 250;

/** Looks without a claim after insertions that failed: n8n's database refuses them. */
const MOST_REFUSALS = 3;

/** Attempts to store what became of a request. The pauses between them double. */
const MOST_ATTEMPTS = 5;

/** n8n's mode that stores a list of values in one row of `processed_data`. Its other modes store only the latest value. */
const MODE = { mode: 'entries' } as const;

/** A key that this execution may send, by the names of its rows. */
export interface Claim {
	claimRow: string;
	successRow: string;
}

/**
 * Claims Send Once Keys in n8n's database: a key is sent once in this workflow, in any execution and by any node. It has two rows:
 *
 * - The claim names the key alone. Only the execution that inserts it sends. It is removed only after the outcome
 *   `refused`. After `held`, a person has to act first; a killed process leaves the key claimed, too.
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
	 * Claims the key, or waits for the execution that has claimed it.
	 * @param identity everything that tells this request from others, as JSON can express it
	 * @returns undefined if exactly this request has succeeded before
	 * @throws Failure if neither is known; nothing was sent then
	 */
	async claim(key: string, identity: unknown): Promise<Claim | undefined> {
		const claimRow = rowName('claim', key);
		const successRow = rowName('success', key, identity);
		// Tells a claim of this very try from that of another execution.
		const owner = randomUUID();
		// An insertion has failed, but n8n's database may have carried it out all the same.
		let mayBeOwn = false;
		let refusals = 0;
		await this.checkRows();
		for (;;) {
			const found = await this.find(claimRow, successRow);
			if (found === 'success') return undefined;
			if (found === 'unreachable' && !mayBeOwn) throw notClaimed();
			// A database that is full or read-only refuses each insertion, and so does n8n for a workflow that is not saved.
			if (found === 'nothing' && mayBeOwn && ++refusals === MOST_REFUSALS) throw notClaimed();
			if (found === 'nothing' || (found === 'claim' && mayBeOwn)) {
				const isOwn = await this.insert(claimRow, owner).catch(() => undefined);
				if (isOwn) return { claimRow, successRow };
				mayBeOwn = isOwn === undefined;
			}
			this.waitsUntil ??= Date.now() + LONGEST_WAIT;
			if (Date.now() >= this.waitsUntil || this.cancelled?.aborted) {
				if (mayBeOwn) throw new Failure('key.maybeUsed', {}, { outcome: 'refused' });
				throw new Failure('key.claimed');
			}
			await pause(INTERVAL, this.cancelled);
		}
	}

	/** Stores what became of the request of a claim. */
	async settle({ claimRow, successRow }: Claim, outcome: Outcome): Promise<void> {
		if (outcome === 'applied') {
			await this.store(async () => await this.insert(successRow), NOT_STORED);
		} else if (outcome === 'refused') {
			await this.store(async () => await this.remove(claimRow), NOT_REMOVED);
		}
	}

	/** Checks that n8n stores each row under its own name: see {@link withRow}. @throws Failure if it does not */
	async checkRows(): Promise<void> {
		const isThere = await this.has(rowName('never written')).catch(() => true);
		if (isThere) throw notClaimed();
	}

	/** @param hint is shown if no attempt succeeds */
	private async store(change: () => Promise<unknown>, hint: string): Promise<void> {
		for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
			const [{ status }] = await Promise.allSettled([change()]);
			if (status === 'fulfilled') return;
			await pause(INTERVAL * 2 ** attempt, this.cancelled);
		}
		this.hint(hint);
	}

	private async find(
		claimRow: string,
		successRow: string,
	): Promise<'success' | 'claim' | 'nothing' | 'unreachable'> {
		try {
			if (await this.has(successRow)) return 'success';
			return (await this.has(claimRow)) ? 'claim' : 'nothing';
		} catch {
			return 'unreachable';
		}
	}

	/** `node` is n8n's scope of a row. `withRow` puts the row's name in place of the node's ID. */
	private async has(row: string): Promise<boolean> {
		const count = await withRow(this.context, row, ({ getProcessedDataCount }) =>
			getProcessedDataCount?.('node', MODE),
		);
		return count > 0;
	}

	/**
	 * Inserts a row with two values: its name, which each row has, and its owner.
	 * @returns true if the row is new, or was inserted by this owner before. If another execution inserts the row at the same
	 * time, the database refuses this insertion
	 */
	private async insert(row: string, owner = ''): Promise<boolean> {
		const values = await withRow(this.context, row, ({ checkProcessedAndRecord }) =>
			checkProcessedAndRecord?.([row, owner], 'node', MODE),
		);
		return values.new.includes(row) || values.processed.includes(owner);
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
	// In NFC: two texts that look the same are one key.
	const text = JSON.stringify(parts).normalize('NFC');
	return `resumeManagement:${createHash('sha256').update(text).digest('hex')}`;
}

function notClaimed(): Failure {
	return new Failure('key.notClaimed', {}, { outcome: 'refused' });
}
