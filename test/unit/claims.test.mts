import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { Claims } from '../../nodes/ResumeManagement/once/claims.ts';
import type { ClaimContext } from '../../nodes/ResumeManagement/once/withRow.ts';
import { shared } from '../support/environment.mts';

/**
 * Interleavings and lost answers that no real database can be made to repeat. A row is read, changed and written back
 * in steps, as n8n does (n8n/src/deduplication/deduplication-helper.ts). Before and after each step, the connection may
 * break, so that nobody knows whether it was carried out.
 */
type Step = 'find' | 'insert' | 'update' | 'delete' | 'count';

const rows = new Map<string, string[]>();
const hints: string[] = [];

/** What happens at a step of an execution: it waits for some turns, and may fail before or after it. */
let at: (step: Step) => { turns: number; fails?: 'before' | 'after'; message?: string };

/** Lets other executions work in between. */
async function turns(number: number): Promise<void> {
	for (let turn = 0; turn <= number; turn++) await setImmediate();
}

/** A pause takes some turns, and moves the clock. */
let now: number;
beforeEach(() => {
	rows.clear();
	hints.length = 0;
	now = 0;
	jest.spyOn(Date, 'now').mockImplementation(() => now);
	jest.spyOn(shared, 'setTimeout').mockImplementation(((run: () => void, delay = 0) => {
		now += delay;
		void turns(delay / 50).then(run);
	}) as typeof setTimeout);
});
afterEach(() => void jest.restoreAllMocks());

function newExecution(): Claims {
	const node = { id: 'node' };
	const take = async <T,>(step: Step, change: () => T): Promise<T> => {
		const { turns: wait, fails, message = 'The connection is lost' } = at(step);
		await turns(wait);
		if (fails === 'before') throw new Error(message);
		const result = change();
		if (fails === 'after') throw new Error(message);
		return result;
	};
	const helpers = {
		async checkProcessedAndRecord(values: string[]) {
			const row = node.id;
			const found = await take('find', () => rows.get(row));
			const added = values.filter((value) => !found?.includes(value));
			await take(found ? 'update' : 'insert', () => {
				if (!found && rows.has(row)) throw new Error('SQLITE_CONSTRAINT: UNIQUE constraint failed');
				// n8n's UPDATE changes whatever row has this name by now.
				if (!found || rows.has(row)) rows.set(row, [...(found ?? []), ...added]);
			});
			return { new: added, processed: values.filter((value) => found?.includes(value)) };
		},
		async clearAllProcessedItems() {
			const row = node.id;
			await take('delete', () => void rows.delete(row));
		},
		async getProcessedDataCount() {
			const row = node.id;
			return await take('count', () => rows.get(row)?.length ?? 0);
		},
	};
	const context = { helpers, getExecuteData: () => ({ node }) } satisfies ClaimContext;
	return new Claims(context, (hint) => hints.push(hint));
}

const IDENTITY = ['upgrade'];

test('a key is never sent by two executions at once, nor after a request that may have been carried out', async () => {
	const outcomes = fc.constantFrom('refused', 'applied', 'unknown', 'held');
	const scripts = fc.array(outcomes, { minLength: 2, maxLength: 6 });
	const chances = fc.infiniteStream(fc.nat({ max: 99 }));
	const failing = fc.constantFrom(0, 5, 20, 40);
	await fc.assert(
		fc.asyncProperty(scripts, chances, failing, async (script, chance, percent) => {
			rows.clear();
			now = 0;
			at = () => {
				const fails = chance.next().value! < percent;
				return {
					turns: chance.next().value! % 6,
					...(fails && { fails: chance.next().value! % 2 ? 'before' : 'after' }),
				};
			};
			let sending = 0;
			let mayBeDone = 0;
			let most = 0;
			const execute = async (outcome: (typeof script)[number]) => {
				const claims = newExecution();
				await turns(chance.next().value! % 30);
				const claim = await claims.claim('pay_1', IDENTITY).catch(() => undefined);
				if (!claim || claim === 'alreadySent') return;
				sending++;
				most = Math.max(most, sending + mayBeDone);
				await turns(chance.next().value! % 30);
				sending--;
				if (outcome !== 'refused') mayBeDone++;
				await claims.settle(claim, outcome);
			};
			await Promise.all(script.map(execute));
			expect(most).toBeLessThanOrEqual(1);
		}),
		{ numRuns: 2_000 },
	);
}, 60_000);

test('a key is released after the lock of a backup, but not if nobody knows whose claim is there', async () => {
	const release = async (message: string) => {
		let failures = 2;
		at = (step) => {
			const fails = step === 'delete' && failures-- > 0;
			return { turns: 0, ...(fails && { fails: 'before', message }) };
		};
		const claims = newExecution();
		const claim = await claims.claim('pay_1', IDENTITY);
		if (claim === 'alreadySent') throw new Error('The key is new');
		await claims.settle(claim, 'refused');
	};
	await release('SQLITE_BUSY: database is locked');
	expect(hints).toEqual([]);
	await release('The connection is lost');
	expect(hints).toEqual([expect.stringContaining('may not have been released')]);
	await expect(newExecution().claim('pay_1', IDENTITY)).rejects.toMatchObject({
		id: 'key.claimed',
	});
});

test.each([
	['is lost, the key may be used up', 'The connection is lost', 'key.maybeUsed'],
	[
		'names a duplicate, another one has the key',
		'duplicate key value violates unique constraint',
		'key.claimed',
	],
])('if the answer to an insertion %s', async (_, message, id) => {
	at = (step) => ({ turns: 0, ...(step === 'insert' && { fails: 'after', message }) });
	await expect(newExecution().claim('pay_1', IDENTITY)).rejects.toMatchObject({ id });
});
