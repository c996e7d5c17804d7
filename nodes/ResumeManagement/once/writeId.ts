import { type IExecutePaginationFunctions, NodeConnectionTypes } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { isTool } from '../../shared/parameters';

/** Identifies an item's write within a run: the item's index or, for a call of a tool, its arguments. */
export type WriteId = object | number;

/**
 * Identifies the write of an item that n8n runs by itself. All calls of a tool are item 0, so there it is the object with the
 * arguments of the call, which n8n keeps for its retries (n8n-core's get-input-connection-data.ts).
 * @throws Failure if n8n names tools or passes arguments in another way: then one call could be taken for another
 */
export function writeIdOf(context: IExecutePaginationFunctions): WriteId {
	const input = () => context.getInputData(0, NodeConnectionTypes.AiTool);
	const item = input();
	// n8n returns the same item twice only for a call of a tool: otherwise it makes a new one (n8n-core's execute-single-context.ts).
	const isCall = item === input();
	if (isCall !== isTool(context.getNode())) throw new Failure('write.unguarded');
	return isCall ? item.json : context.getItemIndex();
}
