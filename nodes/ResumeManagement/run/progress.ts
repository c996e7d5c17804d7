import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { toNodeError } from '../../shared/failure';
import { journalOf } from '../once/journal';
import type { WriteOperation } from '../operations/operation';
import type { Run } from './run';

/*
 * What a person is told about writes of a run that n8n may carry out again.
 */

/** A hint of the run, because a notice in the node's description can't depend on this setting. */
export function retryHint(operation: WriteOperation): string {
	return `Retry On Fail is on. It never sends an item again that succeeded or may have. Another round of a loop does, and so does a new execution, also one that is started with Retry in the list of executions${unlessKeyed(operation)}.`;
}

function unlessKeyed({ fields }: WriteOperation): string {
	return fields.some(({ name }) => name === 'sendOnceKey') ? ', unless Send Once Key is set' : '';
}

/** Returns the error that ends a run, with the items that were carried out before. */
export function withProgress(
	{ node, context }: Run,
	operation: WriteOperation,
	cause: unknown,
	indexes: number[],
): Error {
	const error = toNodeError(node, cause);
	if (indexes.length === 1) return error;
	const journal = journalOf(context);
	const applied = indexes.filter((index) => journal.isApplied(index));
	const mayBeApplied = indexes.some((index) => journal.recall(index)?.outcome === 'unknown');
	const isOfThisNode = error instanceof NodeApiError || error instanceof NodeOperationError;
	// An error of n8n's own, such as an expression's, stays as it is, unless applied items must be
	// named.
	if (!isOfThisNode && applied.length === 0) return error;
	const shown = isOfThisNode ? error : new NodeOperationError(node, error);
	const unsent = indexes.filter(
		(index) => index !== shown.context.itemIndex && !journal.recall(index),
	);
	const sentences = [
		shown.description,
		applied.length === 0
			? `No ${mayBeApplied ? 'other ' : ''}item was applied.`
			: `Already applied: ${applied.length} of ${indexes.length} (${itemList(applied)}).`,
		unsent.length > 0 && `Not sent: ${itemList(unsent)}.`,
		applied.length > 0 && `A new execution sends the applied items again${unlessKeyed(operation)}.`,
	];
	shown.description = sentences.filter(Boolean).join(' ');
	return shown;
}

/** Lists item numbers, such as `items 0 to 3, 5`. */
function itemList(indexes: number[]): string {
	const ranges: Array<[first: number, last: number]> = [];
	for (const index of indexes) {
		const range = ranges.at(-1);
		if (range?.[1] === index - 1) range[1] = index;
		else ranges.push([index, index]);
	}
	const texts = ranges.map(([first, last]) =>
		first === last ? `${first}` : `${first} to ${last}`,
	);
	return `${indexes.length === 1 ? 'item' : 'items'} ${texts.join(', ')}`;
}
