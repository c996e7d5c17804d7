import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { INode } from 'n8n-workflow';

import type { Journal } from './write';

/** Says which writes a stopped node has carried out, so that nobody repeats them. */
export function withProgress(
	node: INode,
	error: unknown,
	journal: Journal,
	indexes: number[],
): unknown {
	const done = indexes.filter((index) => journal.write(index).isDone);
	if (indexes.length === 1) return error;
	const isOurs = error instanceof NodeApiError || error instanceof NodeOperationError;
	if (!isOurs && done.length === 0) return error;
	const told = isOurs ? error : new NodeOperationError(node, error as Error);
	const failed = told.context.itemIndex as number | undefined;
	const unsent = indexes.filter((index) => index !== failed && !journal.write(index).isSettled);
	const applied =
		done.length === 0
			? 'No item was applied'
			: `Already applied: ${done.length} of ${indexes.length} (${listed(done)})`;
	const left = unsent.length === 0 ? '' : ` Not sent: ${listed(unsent)}.`;
	told.description = `${told.description ?? ''} ${applied}.${left}`.trim();
	return told;
}

/** Item numbers in words, such as `items 0 to 3, 5`. */
function listed(indexes: number[]): string {
	const ranges: Array<[first: number, last: number]> = [];
	for (const index of indexes) {
		const range = ranges.at(-1);
		if (range?.[1] === index - 1) range[1] = index;
		else ranges.push([index, index]);
	}
	const words = ranges.map(([first, last]) =>
		first === last ? `${first}` : `${first} to ${last}`,
	);
	return `${indexes.length === 1 ? 'item' : 'items'} ${words.join(', ')}`;
}
