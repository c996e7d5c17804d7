import { setImmediate } from 'node:timers/promises';
import { DataDeduplicationService } from 'n8n-core';
import type {
	DeduplicationItemTypes as Item,
	DeduplicationScope as Scope,
	ICheckProcessedContextData as Context,
	IDataDeduplicator,
} from 'n8n-workflow';

/**
 * The database table where n8n stores processed keys, with the reads, writes and pauses of n8n's own helper
 * (n8n/src/deduplication/deduplication-helper.ts). The helper finds a row, changes it and writes it back whole. Only
 * the insertion of a row that already exists fails.
 */
class ProcessedData implements IDataDeduplicator {
	readonly #rows = new Map<string, Set<unknown>>();

	isThere = false;

	isFull = false;

	/** Calls that fail after an insertion was carried out, that of the insertion included. */
	#lost = 0;

	/** Calls that still fail. */
	#failing = 0;

	/** Carries out the next insertion, but fails it and the calls after it: the connection to the database breaks. */
	loseAnswer(calls: number): void {
		this.#lost = calls;
	}

	/** Returns the name of a row. It is called before the first pause, as `withRow` requires. */
	names = nameOf;

	clear(): void {
		this.names = nameOf;
		this.#rows.clear();
		this.isThere = true;
		this.isFull = false;
		this.#lost = 0;
		this.#failing = 0;
	}

	async checkProcessedAndRecord(items: Item[], _: Scope, context: Context) {
		const row = this.names(context);
		const found = await this.#find(row);
		await this.#pause();
		if (!found && this.isFull) throw new Error('The row is refused');
		if (!found && this.#rows.has(row)) throw new Error('UNIQUE constraint failed');
		this.#rows.set(row, new Set([...(found ?? []), ...items]));
		if (!found && this.#lost > 0) {
			this.#failing = this.#lost - 1;
			this.#lost = 0;
			throw new Error('The connection is lost');
		}
		const processed = items.filter((item) => found?.has(item));
		return { new: items.filter((item) => !found?.has(item)), processed };
	}

	async removeProcessed(): Promise<void> {}

	async clearAllProcessedItems(_: Scope, context: Context) {
		const row = this.names(context);
		await this.#pause();
		this.#rows.delete(row);
	}

	async getProcessedDataCount(_: Scope, context: Context) {
		return (await this.#find(this.names(context)))?.size ?? 0;
	}

	async #find(row: string): Promise<Set<unknown> | undefined> {
		await this.#pause();
		return this.#rows.get(row);
	}

	/** Lets other executions work in between, as a database does. */
	async #pause(): Promise<void> {
		if (!this.isThere || this.#failing-- > 0) throw new Error('There is no database');
		for (let turns = Math.ceil(Math.random() * 3); turns > 0; turns--) await setImmediate();
	}
}

function nameOf({ workflow, node }: Context): string {
	return `${workflow.id}/n:${node!.id}`;
}

/** The database of this test file. It is off until {@link ProcessedData.clear}. */
export const processedData = new ProcessedData();

// n8n has one service for its process. Each test file gets its own.
Reflect.set(DataDeduplicationService, 'instance', undefined);
void DataDeduplicationService.init(processedData);
