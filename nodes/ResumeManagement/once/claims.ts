import { Failure, type Outcome } from '../../shared/failure';
import { pause } from '../http/pause';
import { comparableKey, rowName } from './identity';
import { areRowsSeparate, type ClaimContext, Row } from './withRow';

/** How long all items of a run together wait for other executions, and for n8n's database. */
const MAX_WAIT_MS = 10_000;

/** Between two looks at a claim. */
const INTERVAL_MS = 250;

/**
 * Insertions of a claim. A database that is full or read-only refuses each, and so does n8n for a
 * workflow that is not saved.
 */
const MAX_INSERTIONS = 3;

/**
 * For storing what became of a request: longer than a backup locks n8n's SQLite database. n8n
 * itself gives up after one second (`sqlite3_busy_timeout` in sqlite3's src/database.cc).
 */
const MAX_STORING_MS = 60_000;

/** Between two attempts to store it. n8n's other writes wait during an attempt. */
const STORING_INTERVAL_MS = 1_000;

/** The execution that has inserted a claim: unclear if the database's answer was lost. */
type Owner = 'this' | 'other' | 'unclear';

/** The rows of a key that this execution may send. */
export interface Claim {
	claimRow: Row;
	successRow: Row;
}

/**
 * Claims Send Once Keys in n8n's database: a key is sent once in this workflow, in any execution
 * and by any node. It has two rows:
 *
 * - The claim names the key alone. Only the execution that inserts it sends, and only that one
 *   removes it, once, after the outcome `refused`. After `held`, a person has to act first; a
 *   killed process leaves the key claimed, too.
 * - The success names the key, the account and the request. It is inserted when the service has
 *   confirmed the request. The same key with another request is an error.
 *
 * A row says nothing but that it is there. So an answer of the database that is lost can cost a
 * key, which nobody sends then, but never a second request.
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
		await this.requireUsableRows();
		let owner: Owner = 'other';
		do {
			// First the success: its claim stays, too.
			if (await this.isStored(successRow, owner)) return 'alreadySent';
			if (!(await this.isStored(claimRow, owner))) {
				owner = await this.take(claimRow);
				if (owner === 'this') return { claimRow, successRow };
			}
		} while (await this.mayWait());
		throw owner === 'unclear' ? maybeUsed() : usedBefore();
	}

	/**
	 * Inserts the row of a claim, unless it is there. An insertion that was not carried out is
	 * repeated.
	 * @returns the execution that has inserted the row
	 * @throws Failure if n8n's database refuses it, or does not tell; nothing was sent then
	 */
	private async take(claimRow: Row): Promise<Owner> {
		for (let attempt = 0; attempt < MAX_INSERTIONS; attempt++) {
			// An earlier insertion, whose answer was lost, may be carried out late.
			const ownerOfRow = attempt === 0 ? 'other' : 'unclear';
			try {
				return (await claimRow.insert()) ? 'this' : ownerOfRow;
			} catch (error) {
				if (isDuplicate(error)) return ownerOfRow;
				if (await this.isThereOnceReachable(claimRow)) return 'unclear';
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
			return await row.isThere();
		} catch {
			throw owner === 'unclear' ? maybeUsed() : notClaimed();
		}
	}

	/**
	 * Checks whether a row that may have been stored is there: waits for the database.
	 * @throws Failure if it takes too long
	 */
	private async isThereOnceReachable(row: Row): Promise<boolean> {
		for (;;) {
			try {
				return await row.isThere();
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
			await this.store(async () => await claim.successRow.insert(), NOT_STORED);
		} else if (outcome === 'refused') {
			await this.release(claim.claimRow);
		}
	}

	private async release(claimRow: Row): Promise<void> {
		let mayBeRemoved = false;
		await this.store(async () => {
			if (mayBeRemoved) {
				// A row that is there now may be the claim of another execution.
				if (await claimRow.isThere()) this.hint(NOT_REMOVED);
				return;
			}
			await claimRow.remove().catch((error: unknown) => {
				mayBeRemoved = !isLocked(error);
				throw error;
			});
		}, NOT_REMOVED);
	}

	/** @throws Failure if n8n's database can't be read, or stores all rows as one */
	async requireUsableRows(): Promise<void> {
		const areSeparate = await areRowsSeparate(this.context).catch(() => false);
		if (!areSeparate) throw notClaimed();
	}

	/**
	 * Goes on after the run was cancelled, because later runs rely on it.
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

/** Checks for a row that is there, in the words of SQLite, PostgreSQL and MySQL. */
function isDuplicate(error: unknown): boolean {
	return /unique constraint|duplicate entry/i.test(String(error));
}

/** Checks for SQLite's answer while another process has locked it: nothing was carried out. */
function isLocked(error: unknown): boolean {
	return /SQLITE_BUSY/.test(String(error));
}

const NOT_REMOVED =
	'A Send Once Key may not have been released, although nothing was done for it. If so, the node will not send this key again.';

const NOT_STORED =
	'The success of a Send Once Key could not be stored. The node will not send this key again, and will report that it was used before.';

function usedBefore(): Failure {
	return new Failure('key.claimed', {}, { outcome: 'unknown', isOfEarlierRequest: true });
}

function notClaimed(): Failure {
	return new Failure('key.notClaimed', {}, { outcome: 'refused' });
}

function maybeUsed(): Failure {
	return new Failure('key.maybeUsed', {}, { outcome: 'refused' });
}
