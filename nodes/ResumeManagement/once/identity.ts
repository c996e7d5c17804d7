import { type IExecutePaginationFunctions, NodeConnectionTypes } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { isTool } from '../../shared/parameters';

/** Identifies an item's write within a run: see {@link identityOfWrite}. */
export type WriteId = object | number;

/**
 * Identifies the write of an item that n8n runs by itself: by the item's index or, as all calls of a tool are item 0, by
 * the object with the arguments of the call, which n8n keeps for its retries (n8n-core's get-input-connection-data.ts).
 * @throws Failure if n8n names tools or passes arguments in another way: then one call could be taken for another
 */
export function identityOfWrite(context: IExecutePaginationFunctions): WriteId {
	const input = () => context.getInputData(0, NodeConnectionTypes.AiTool);
	// If this is no call of a tool, n8n makes a new item each time (n8n-core's execute-single-context.ts).
	const item = input();
	const isCall = item === input();
	if (isCall !== isTool(context.getNode())) throw new Failure('write.unguarded');
	return isCall ? item.json : context.getItemIndex();
}
