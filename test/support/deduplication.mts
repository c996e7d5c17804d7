import { DataDeduplicationService } from 'n8n-core';
import type { ICheckProcessedContextData, IDataDeduplicator } from 'n8n-workflow';

type Arguments<Name extends keyof IDataDeduplicator> = Parameters<IDataDeduplicator[Name]>;

/**
 * The table that n8n keeps processed keys in, with the reads, writes and pauses of its own helper
 * (n8n/src/deduplication/deduplication-helper.ts): a row is found, changed and written back whole, and only
 * the insertion of a row that is there already fails.
 */
class ProcessedData implements IDataDeduplicator {
	private readonly rows = new Map<string, string[]>();

	/** Whether there is a database. */
	isThere = false;

	/** Names a row. Made before n8n first waits, as `withRow` relies on. */
	names = nameOf;

	clear(): void {
		this.names = nameOf;
		this.rows.clear();
		this.isThere = true;
	}

	async checkProcessedAndRecord(...[items, , context]: Arguments<'checkProcessedAndRecord'>) {
		const row = this.names(context);
		const found = await this.find(row);
		const processed = items.filter((item) => found?.includes(String(item)));
		await this.turn();
		if (!found && this.rows.has(row)) throw new Error('UNIQUE constraint failed');
		this.rows.set(row, [...new Set([...(found ?? []), ...items.map(String)])]);
		return { new: items.filter((item) => !processed.includes(item)), processed };
	}

	async removeProcessed(): Promise<void> {}

	async clearAllProcessedItems(...[, context]: Arguments<'clearAllProcessedItems'>): Promise<void> {
		const row = this.names(context);
		await this.turn();
		this.rows.delete(row);
	}

	async getProcessedDataCount(...[, context]: Arguments<'getProcessedDataCount'>) {
		return (await this.find(this.names(context)))?.length ?? 0;
	}

	private async find(row: string): Promise<string[] | undefined> {
		await this.turn();
		return this.rows.get(row);
	}

	/** As a database lets others work in between. */
	private async turn(): Promise<void> {
		if (!this.isThere) throw new Error('There is no database');
		const turns = Math.floor(Math.random() * 3);
		for (let count = 0; count <= turns; count++) {
			await new Promise((resolve) => setImmediate(resolve));
		}
	}
}

function nameOf({ workflow, node }: ICheckProcessedContextData): string {
	return `${workflow.id}/n:${node!.id}`;
}

/** Without {@link ProcessedData.clear}, there is no database. */
export const processedData = new ProcessedData();

// n8n has one for its process; each test file that asks for one gets its own.
Reflect.set(DataDeduplicationService, 'instance', undefined);
void DataDeduplicationService.init(processedData);
