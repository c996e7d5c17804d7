import { randomUUID } from 'node:crypto';

import { Failure, type Outcome } from '../../shared/failure';
import { pause } from '../http/pause';
import { comparableKey, rowName } from './identity';
import { areRowsSeparate, type ClaimContext, Row } from './withRow';

/** All items of a run together wait no longer for other executions, or for n8n's database. */
const MAX_WAIT_MS = 10_000;

/** Between two looks at a claim. */
const INTERVAL_MS = 250;

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
 * For storing what became of a request: longer than a backup locks n8n's SQLite database. n8n
 * itself gives up after one second (`sqlite3_busy_timeout` in sqlite3's src/database.cc).
 */
const MAX_STORING_MS = 60_000;

/** Between two attempts to store it. n8n's other writes wait during an attempt. */
const STORING_INTERVAL_MS = 1_000;

/**
 * The execution that has inserted a claim: unclear if the database's answers were lost, or others
 * asked at the same time.
 */
type Owner = 'this' | 'other' | 'unclear';

/** A key that this execution may send. */
export interface Claim {
	/** Stands in the claim's row. */
	ownerId: string;
	claimRow: Row;
	successRow: Row;
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
		const claimRow = new Row(this.context, rowName('claim', sameKey));
		const successRow = new Row(this.context, rowName('success', sameKey, identity));
		await this.requireSeparateRows();
		let owner: Owner = 'other';
		do {
			// First the success: its claim stays, too.
			if (await this.isStored(successRow, owner)) return 'alreadySent';
			if (!(await this.isStored(claimRow, owner))) {
				const taken = await this.take(claimRow);
				if (taken.owner === 'this') return { ownerId: taken.ownerId, claimRow, successRow };
				owner = taken.owner;
			}
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
	private async take(claimRow: Row): Promise<{ owner: Owner; ownerId: string }> {
		for (let attempt = 0; attempt < MAX_INSERTIONS; attempt++) {
			// A new ID each time: n8n may write one that was added to an earlier row into a later one.
			const ownerId = randomUUID();
			const inserted = await insertClaim(claimRow, ownerId).catch(() => undefined);
			if (inserted) return { owner: inserted, ownerId };
			const values = await this.countOnceReachable(claimRow);
			if (values > 0) {
				const owner = await ownerNow({ claimRow, ownerId }).catch(() => 'unclear' as const);
				return { owner, ownerId };
			}
			await pause(INTERVAL_MS, this.cancelled);
		}
		throw notClaimed();
	}

	/**
	 * @throws Failure if n8n's database can't be read: nothing was stored, unless the owner of the
	 * claim is unclear
	 */
	private async isStored(row: Row, owner: Owner): Promise<boolean> {
		try {
			return (await row.count()) > 0;
		} catch {
			throw owner === 'unclear' ? maybeUsed() : notClaimed();
		}
	}

	/**
	 * Counts the values of a row that may have been stored: waits for the database.
	 * @throws Failure if it takes too long
	 */
	private async countOnceReachable(row: Row): Promise<number> {
		for (;;) {
			try {
				return await row.count();
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
		this.waitsUntil ??= Date.now() + MAX_WAIT_MS;
		if (Date.now() >= this.waitsUntil || this.cancelled?.aborted) return false;
		await pause(INTERVAL_MS, this.cancelled);
		return true;
	}

	/**
	 * Stores what became of the request of a claim. After `held` and `unknown`, the key stays
	 * claimed.
	 */
	async settle(claim: Claim, outcome: Outcome): Promise<void> {
		if (outcome === 'applied') {
			const { successRow } = claim;
			await this.store(async () => await successRow.add([successRow.name]), NOT_STORED);
		} else if (outcome === 'refused') {
			let mayBeRemoved = false;
			await this.store(async () => {
				// If the database has removed the row without confirming it, another execution may have
				// claimed the key since then.
				const owner = mayBeRemoved ? await ownerNow(claim) : 'this';
				if (owner === 'unclear') return this.hint(NOT_REMOVED);
				mayBeRemoved = true;
				if (owner === 'this') await claim.claimRow.remove();
			}, NOT_REMOVED);
		}
	}

	/** @throws Failure if n8n's database can't be read, or stores all rows as one */
	async requireSeparateRows(): Promise<void> {
		const areSeparate = await areRowsSeparate(this.context).catch(() => false);
		if (!areSeparate) throw notClaimed();
	}

	/**
	 * Goes on after the run was canceled, because later runs rely on it.
	 * @param hint is shown if no attempt succeeds
	 */
	private async store(change: () => Promise<unknown>, hint: string): Promise<void> {
		const end = Date.now() + MAX_STORING_MS;
		for (;;) {
			try {
				await change();
				return;
			} catch {
				if (Date.now() >= end) return this.hint(hint);
				await pause(STORING_INTERVAL_MS);
			}
		}
	}
}

/**
 * Inserts the row of a claim with its own name and the owner's ID. If the row is there, n8n adds
 * the ID.
 * @returns the execution that has inserted the row, now or before
 */
async function insertClaim(row: Row, ownerId: string): Promise<'this' | 'other'> {
	const values = await row.add([row.name, ownerId]);
	const isNewRow = values.new.includes(row.name);
	const isOwner = values.processed.includes(ownerId);
	return isNewRow || isOwner ? 'this' : 'other';
}

/** Returns the execution whose claim is in the row now: another one's, if there is no row. */
async function ownerNow({
	claimRow,
	ownerId,
}: Pick<Claim, 'claimRow' | 'ownerId'>): Promise<Owner> {
	const values = await claimRow.count();
	if (values > ROW_AND_OWNER) return 'unclear';
	const owner = values === 0 ? 'other' : await insertClaim(claimRow, ownerId);
	// Another execution may have added its ID, or written back an old row, in between.
	const isAlone = owner !== 'this' || (await claimRow.count()) === ROW_AND_OWNER;
	return isAlone ? owner : 'unclear';
}

const NOT_REMOVED =
	'A Send Once Key may not have been released, although nothing was done for it. If so, the node will not send this key again.';

const NOT_STORED =
	'The success of a Send Once Key could not be stored. The node will not send this key again, and will report that it was used before.';

function notClaimed(): Failure {
	return new Failure('key.notClaimed', {}, { outcome: 'refused' });
}

function maybeUsed(): Failure {
	return new Failure('key.maybeUsed', {}, { outcome: 'refused' });
}
