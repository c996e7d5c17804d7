import { setImmediate } from 'node:timers/promises';
import { type Claim, Claims } from '../../nodes/ResumeManagement/once/claims.ts';
import type { ClaimContext } from '../../nodes/ResumeManagement/once/withRow.ts';

/**
 * Interleavings of executions that no real database can be made to repeat. A row is read, changed and written back, as
 * n8n does (n8n/src/deduplication/deduplication-helper.ts); before each step, the test may hold an execution up.
 */

type Step = 'find' | 'insert' | 'update' | 'delete' | 'count';

const rows = new Map<string, string[]>();
let before: (step: Step, execution: string) => Promise<void> | void;
const hints: string[] = [];

beforeEach(() => {
	rows.clear();
	hints.length = 0;
});

function claimsOf(execution: string): Claims {
	const node = { id: 'node' };
	const at = async (step: Step) => {
		await setImmediate();
		await before(step, execution);
	};
	const helpers = {
		async checkProcessedAndRecord(values: string[]) {
			const row = node.id;
			await at('find');
			const found = rows.get(row);
			await at(found ? 'update' : 'insert');
			if (!found && rows.has(row)) throw new Error('The row is there');
			const added = values.filter((value) => !found?.includes(value));
			// n8n's UPDATE changes whatever row has this name by now.
			if (!found || rows.has(row)) rows.set(row, [...(found ?? []), ...added]);
			return { new: added, processed: values.filter((value) => found?.includes(value)) };
		},
		async clearAllProcessedItems() {
			const row = node.id;
			await at('delete');
			rows.delete(row);
		},
		async getProcessedDataCount() {
			const row = node.id;
			await at('count');
			return rows.get(row)?.length ?? 0;
		},
	};
	const context = { helpers, getExecuteData: () => ({ node }) } satisfies ClaimContext;
	return new Claims(context, (hint) => hints.push(hint));
}

/** A moment that executions wait for. */
function moment() {
	let come = () => {};
	const came = new Promise<void>((resolve) => (come = resolve));
	return { came, come };
}

/**
 * Lets the first execution insert the claim's row after the waiter has found none, so that the waiter adds its ID to
 * the row.
 */
function lateWaiter() {
	const [waiterFoundNone, inserted, waiterAdded] = [moment(), moment(), moment()];
	let hasUpdated = false;
	return {
		inserted,
		waiterAdded,
		async before(step: Step, execution: string) {
			if (step === 'insert' && execution === 'first') await waiterFoundNone.came;
			if (execution !== 'waiter') return;
			if (step === 'insert') {
				waiterFoundNone.come();
				await inserted.came;
			}
			if (hasUpdated) waiterAdded.come();
			hasUpdated ||= step === 'update';
		},
	};
}

test('an ID that was added to an earlier row, and is written back late, owns no later row', async () => {
	const { inserted, waiterAdded, before: beforeFirst } = lateWaiter();
	const [lateFinds, lateRead, lateWritten] = [moment(), moment(), moment()];
	const [newRow, waiterReads] = [moment(), moment()];
	let isReleased = false;
	before = async (step, execution) => {
		if (!isReleased) await beforeFirst(step, execution);
		if (!isReleased && step === 'insert' && execution === 'first') await lateFinds.came;
		if (step === 'find' && execution === 'late') {
			lateFinds.come();
			await waiterAdded.came;
		}
		if (step === 'update' && execution === 'late') {
			lateRead.come();
			await newRow.came;
			setTimeout(lateWritten.come, 10);
		}
		if (step === 'find' && execution === 'waiter' && isReleased) {
			waiterReads.come();
			await lateWritten.came;
		}
	};
	const owners: string[] = [];
	const claim = async (execution: string) => {
		const claimed = await claimsOf(execution).claim('pay_1', ['upgrade']);
		owners.push(execution);
		return claimed as Claim;
	};
	const first = claimsOf('first');
	const held = first.claim('pay_1', ['upgrade']);
	const others = [claim('waiter'), claim('late')];
	const claimed = (await held) as Claim;
	inserted.come();
	await lateRead.came;
	isReleased = true;
	await first.settle(claimed, 'refused');
	await waiterReads.came;
	await claim('new');
	newRow.come();
	await Promise.allSettled(others);
	expect(owners).toEqual(['new']);
}, 30_000);

test('a key that can not be released, because others have asked for it, says so', async () => {
	const { inserted, waiterAdded, before: beforeFirst } = lateWaiter();
	let isLocked = true;
	before = async (step, execution) => {
		await beforeFirst(step, execution);
		if (step === 'delete' && isLocked) {
			isLocked = false;
			throw new Error('SQLITE_BUSY');
		}
	};
	const first = claimsOf('first');
	const held = first.claim('pay_1', ['upgrade']);
	const waiter = claimsOf('waiter').claim('pay_1', ['upgrade']);
	waiter.catch(() => {});
	const claimed = (await held) as Claim;
	inserted.come();
	await waiterAdded.came;
	await first.settle(claimed, 'refused');
	expect(hints).toEqual([expect.stringContaining('may not have been released')]);
	await expect(waiter).rejects.toMatchObject({ id: 'key.claimed' });
}, 30_000);
