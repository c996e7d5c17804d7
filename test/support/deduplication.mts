import { createHash } from 'node:crypto';

import { DataDeduplicationService } from 'n8n-core';
import type {
	DeduplicationItemTypes,
	ICheckProcessedContextData,
	IDataDeduplicator,
	IDeduplicationOutput,
} from 'n8n-workflow';

/**
 * The table that n8n keeps processed keys in, with the reads, writes and pauses of its own helper
 * (n8n/src/deduplication/deduplication-helper.ts): a row is found, changed and written back whole, and only
 * the insertion of a row that is there already fails.
 */
class ProcessedData implements IDataDeduplicator {
	private readonly rows = new Map<string, string[]>();

	/** Whether there is a database. */
	isThere = false;

	clear(): void {
		this.rows.clear();
		this.isThere = true;
	}

	async checkProcessedAndRecord(
		items: DeduplicationItemTypes[],
		_: unknown,
		contextData: ICheckProcessedContextData,
	): Promise<IDeduplicationOutput> {
		const row = rowOf(contextData);
		const found = await this.find(row);
		const values = items.map(hashOf);
		if (!found) {
			await this.turn();
			if (this.rows.has(row)) throw new Error('UNIQUE constraint failed');
			this.rows.set(row, values);
			return { new: items, processed: [] };
		}
		const isNew = (index: number) => !found.includes(values[index]!);
		await this.turn();
		this.rows.set(row, [...new Set([...found, ...values])]);
		return {
			new: items.filter((__, index) => isNew(index)),
			processed: items.filter((__, index) => !isNew(index)),
		};
	}

	async removeProcessed(
		items: DeduplicationItemTypes[],
		_: unknown,
		contextData: ICheckProcessedContextData,
	): Promise<void> {
		const row = rowOf(contextData);
		const found = await this.find(row);
		const removed = items.map(hashOf);
		if (found)
			this.rows.set(
				row,
				found.filter((value) => !removed.includes(value)),
			);
	}

	async clearAllProcessedItems(_: unknown, contextData: ICheckProcessedContextData): Promise<void> {
		const row = rowOf(contextData);
		await this.turn();
		this.rows.delete(row);
	}

	async getProcessedDataCount(
		_: unknown,
		contextData: ICheckProcessedContextData,
	): Promise<number> {
		return (await this.find(rowOf(contextData)))?.length ?? 0;
	}

	private async find(row: string): Promise<string[] | undefined> {
		await this.turn();
		const found = this.rows.get(row);
		return found && [...found];
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

function rowOf({ workflow, node }: ICheckProcessedContextData): string {
	return `${workflow.id}/n:${node!.id}`;
}

function hashOf(item: DeduplicationItemTypes): string {
	return createHash('md5').update(String(item)).digest('base64');
}

/** Without {@link ProcessedData.clear}, there is no database. */
export const processedData = new ProcessedData();

// n8n has one for its process; each test file that asks for one gets its own.
Reflect.set(DataDeduplicationService, 'instance', undefined);
void DataDeduplicationService.init(processedData);
