import { createHash, randomUUID } from 'node:crypto';

import { Failure, type Outcome } from '../../shared/failure';
import { pause } from '../http/pause';
import { type ClaimContext, withRow } from './withRow';

/**
 * Milliseconds. All items of a run together wait no longer for other executions, or for n8n's
 * database.
 */
const MAX_WAIT = 10_000;

/** Milliseconds between two looks at a claim. */
const INTERVAL = 250;

/**
 * Insertions of a claim. A database that is full or read-only refuses each, and so does n8n for a
 * workflow that is not saved.
 */
const MAX_INSERTIONS = 3;

/**
 * Values of a claim's row: its name, and the ID of its owner. Each other execution that asks for
 * the row adds its own ID.
 */
const ROW_AND_OWNER = 2;

/**
 * Milliseconds to store what became of a request: more than a backup locks n8n's SQLite database.
 * n8n itself gives up after one second (`sqlite3_busy_timeout` in sqlite3's src/database.cc).
 */
const MAX_STORING = 60_000;

/** Milliseconds between two attempts to store it. n8n's other writes wait during an attempt. */
const STORING_INTERVAL = 1_000;

/**
 * n8n's mode that stores a list of values in one row of `processed_data`. Its other modes store
 * only the latest value.
 */
const MODE = { mode: 'entries' } as const;

/**
 * The execution that has inserted a claim: unclear if the database's answers were lost, or others
 * asked at the same time.
 */
type Owner = 'this' | 'other' | 'unclear';

/** A key that this execution may send, by the names of its rows. */
export interface Claim {
	/** Stands in the claim's row. */
	ownerId: string;
	claimRow: string;
	successRow: string;
}

/**
 * Claims Send Once Keys in n8n's database: a key is sent once in this workflow, in any execution
 * and by any node. It has two rows:
 *
 * - The claim names the key alone. Only the execution that inserts it sends. It is removed only
 *   after the outcome `refused`. After `held`, a person has to act first; a killed process leaves
 *   the key claimed, too.
 * - The success names the key, the account and the request. It is inserted when the service has
 *   confirmed the request. The same key with another request is an error.
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
	 * @returns `alreadySent` if exactly this request has succeeded before
	 * @throws Failure if neither is known; nothing was sent then
	 */
	async claim(key: string, identity: unknown): Promise<Claim | 'alreadySent'> {
		const sameKey = comparableKey(key);
		const claimRow = rowName('claim', sameKey);
		const successRow = rowName('success', sameKey, identity);
		const ownerId = randomUUID();
		await this.refuseSharedRows();
		let owner: Owner = 'other';
		do {
			// First the success: its claim stays, too.
			if (await this.isStored(successRow, owner)) return 'alreadySent';
			if (!(await this.isStored(claimRow, owner))) owner = await this.take(claimRow, ownerId);
			if (owner === 'this') return { ownerId, claimRow, successRow };
		} while (await this.mayWait());
		throw owner === 'unclear' ? maybeUsed() : new Failure('key.claimed');
	}

	/**
	 * Inserts the row of a claim. If n8n's database does not confirm that, the number of values in
	 * the row tells what happened:
	 *
	 * - None: nothing was inserted, and the insertion is repeated.
	 * - Two, the row's name and its owner's ID: n8n tells whether that is this ID, but adds this ID
	 *   if it is not.
	 * - More: others have added their IDs, too, and nobody can tell whose was the first.
	 * @returns the execution that has inserted the row
	 * @throws Failure if n8n's database refuses it, or does not tell; nothing was sent then
	 */
	private async take(claimRow: string, ownerId: string): Promise<Owner> {
		for (let attempt = 0; attempt < MAX_INSERTIONS; attempt++) {
			const owner = await this.insertClaim(claimRow, ownerId).catch(() => undefined);
			if (owner) return owner;
			const values = await this.countOnceReachable(claimRow);
			if (values > ROW_AND_OWNER) return 'unclear';
			if (values > 0) {
				return await this.insertClaim(claimRow, ownerId).catch(() => 'unclear' as const);
			}
			await pause(INTERVAL, this.cancelled);
		}
		throw notClaimed();
	}

	/**
	 * @throws Failure if n8n's database can't be read: nothing was stored, unless the owner of the
	 * claim is unclear
	 */
	private async isStored(row: string, owner: Owner = 'other'): Promise<boolean> {
		try {
			return (await this.count(row)) > 0;
		} catch {
			throw owner === 'unclear' ? maybeUsed() : notClaimed();
		}
	}

	/**
	 * Counts the values of a row that may have been stored: waits for the database.
	 * @throws Failure if it takes too long
	 */
	private async countOnceReachable(row: string): Promise<number> {
		for (;;) {
			try {
				return await this.count(row);
			} catch {
				if (!(await this.mayWait())) throw maybeUsed();
			}
		}
	}

	/**
	 * Waits a moment for another execution, or for n8n's database.
	 * @returns false once the run has waited for too long
	 */
	private async mayWait(): Promise<boolean> {
		this.waitsUntil ??= Date.now() + MAX_WAIT;
		if (Date.now() >= this.waitsUntil || this.cancelled?.aborted) return false;
		await pause(INTERVAL, this.cancelled);
		return true;
	}

	/**
	 * Stores what became of the request of a claim. After `held` and `unknown`, the key stays
	 * claimed.
	 */
	async settle(claim: Claim, outcome: Outcome): Promise<void> {
		if (outcome === 'applied') {
			await this.store(async () => await this.insertSuccess(claim.successRow), NOT_STORED);
		} else if (outcome === 'refused') {
			let mayBeRemoved = false;
			await this.store(async () => {
				// If the database has removed the row without confirming it, another execution may have
				// claimed the key since then.
				if (mayBeRemoved && !(await this.isOwn(claim))) return;
				mayBeRemoved = true;
				await this.remove(claim.claimRow);
			}, NOT_REMOVED);
		}
	}

	/** Checks whether the row of a claim is there, and is still that of this execution. */
	private async isOwn({ claimRow, ownerId }: Claim): Promise<boolean> {
		if ((await this.count(claimRow)) !== ROW_AND_OWNER) return false;
		return (await this.insertClaim(claimRow, ownerId)) === 'this';
	}

	/**
	 * @throws Failure if n8n stores all rows as one: then there is a row that nobody has written (see
	 * {@link withRow})
	 */
	async refuseSharedRows(): Promise<void> {
		if (await this.isStored(NEVER_WRITTEN)) throw notClaimed();
	}

	/**
	 * Goes on after the run was canceled, because later runs rely on it.
	 * @param hint is shown if no attempt succeeds
	 */
	private async store(change: () => Promise<unknown>, hint: string): Promise<void> {
		const end = Date.now() + MAX_STORING;
		for (;;) {
			try {
				await change();
				return;
			} catch {
				if (Date.now() >= end) return this.hint(hint);
				await pause(STORING_INTERVAL);
			}
		}
	}

	/** `node` is n8n's scope of a row. `withRow` puts the row's name in place of the node's ID. */
	private async count(row: string): Promise<number> {
		return await withRow(this.context, row, ({ getProcessedDataCount }) =>
			getProcessedDataCount?.('node', MODE),
		);
	}

	/**
	 * Inserts the row of a claim with its own name and the owner's ID. If the row is there, n8n adds
	 * the ID. If another execution inserts the row at the same time, the database refuses this
	 * insertion.
	 * @returns the execution that has inserted the row, now or before
	 */
	private async insertClaim(row: string, ownerId: string): Promise<'this' | 'other'> {
		const values = await this.record(row, [row, ownerId]);
		const isNewRow = values.new.includes(row);
		const isOwner = values.processed.includes(ownerId);
		return isNewRow || isOwner ? 'this' : 'other';
	}

	private async insertSuccess(row: string): Promise<void> {
		await this.record(row, [row]);
	}

	/**
	 * Adds values to a row.
	 * @returns the values that were not in the row, as `new`, and those that were, as `processed`
	 */
	private async record(row: string, values: string[]) {
		return await withRow(this.context, row, ({ checkProcessedAndRecord }) =>
			checkProcessedAndRecord?.(values, 'node', MODE),
		);
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

/**
 * Two keys that look the same are one key: with other forms of characters, or with a hyphen or a
 * quote that Word has replaced.
 */
function comparableKey(key: string): string {
	return (
		key
			.normalize('NFKC')
			.replace(/ +/g, ' ')
			// The last one is the long vowel of Japanese, which their keyboards write for a hyphen.
			.replace(/[\p{Pd}\u2043\u2212\u30fc]/gu, '-')
			.replace(/[\u2018-\u201b\u2032\u02bc]/g, "'")
			.replace(/[\u201c-\u201f\u2033]/g, '"')
	);
}

function rowName(...parts: unknown[]): string {
	// Accents may be composed in two ways.
	const text = JSON.stringify(parts).normalize('NFC');
	return `resumeManagement:${createHash('sha256').update(text).digest('hex')}`;
}

const NEVER_WRITTEN = rowName('never written');

function notClaimed(): Failure {
	return new Failure('key.notClaimed', {}, { outcome: 'refused' });
}

function maybeUsed(): Failure {
	return new Failure('key.maybeUsed', {}, { outcome: 'refused' });
}
