import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * n8n's helpers. Those for deduplication are missing in the context of a single item, in which
 * version 2 of n8n's AI Agent runs a tool (n8n-core's execute-single-context.ts).
 */
type Helpers = Partial<IExecuteFunctions['helpers']>;

/** n8n's context of a run. */
export interface ClaimContext {
	helpers: object;
	getExecuteData(): { node: { id: string } };
}

/**
 * Calls one of n8n's deduplication helpers for a database row of its own.
 *
 * n8n reads, changes and writes back one row for all that a node has processed, so two executions
 * can both find a key new. Only the INSERT of a row decides. n8n names the row by the node's ID,
 * which it reads before its first `await` (n8n/src/deduplication/deduplication-helper.ts). So the
 * node has the row's name as its ID while the helper is called. If n8n read the ID later, all rows
 * would be one: {@link areRowsSeparate} notices that.
 *
 * n8n has no "insert if absent" for nodes, which would replace this file:
 * .github/ISSUE_TEMPLATE/n8n-request.md asks for it.
 * @throws Error if n8n has no such helper
 */
export async function withRow<T>(
	context: ClaimContext,
	row: string,
	ask: (helpers: Helpers) => Promise<T> | undefined,
): Promise<T> {
	const { node } = context.getExecuteData();
	const { id } = node;
	node.id = row;
	let result: Promise<T> | undefined;
	try {
		// n8n's types offer them in some contexts only.
		result = ask(context.helpers as Helpers);
	} finally {
		node.id = id;
	}
	if (!result) throw new Error('n8n has no such helper.');
	return await result;
}

/**
 * n8n's mode that stores a list of values in one row of `processed_data`. Its other modes store
 * only the latest value.
 */
const MODE = { mode: 'entries' } as const;

/**
 * A row of n8n's table `processed_data`. It holds its own name alone, so that n8n, which writes back
 * what it has read, changes nothing in it.
 */
export class Row {
	constructor(
		private readonly context: ClaimContext,
		private readonly name: string,
	) {}

	async isThere(): Promise<boolean> {
		const values = await withRow(this.context, this.name, ({ getProcessedDataCount }) =>
			getProcessedDataCount?.('node', MODE),
		);
		return values > 0;
	}

	/**
	 * Inserts the row, unless it is there. If another execution inserts it at the same time, the
	 * database refuses this insertion.
	 * @returns whether it was inserted
	 */
	async insert(): Promise<boolean> {
		const values = await withRow(this.context, this.name, ({ checkProcessedAndRecord }) =>
			checkProcessedAndRecord?.([this.name], 'node', MODE),
		);
		return values.new.length > 0;
	}

	async remove(): Promise<void> {
		await withRow(this.context, this.name, ({ clearAllProcessedItems }) =>
			clearAllProcessedItems?.('node', MODE),
		);
	}
}

/** Checks that a row that is never written is not there: it would be if all rows were one. */
export async function areRowsSeparate(context: ClaimContext): Promise<boolean> {
	return !(await new Row(context, 'resumeManagement:never written').isThere());
}
