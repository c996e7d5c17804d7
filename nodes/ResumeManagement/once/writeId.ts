import { type IExecutePaginationFunctions, NodeConnectionTypes } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { isTool } from '../../shared/parameters';

/**
 * Identifies an item's write within a run: the item's index or, for a call of a tool, its
 * arguments.
 */
export type WriteId = object | number;

/**
 * Identifies the write of an item that n8n runs by itself. All calls of a tool are item 0, so there
 * it is the object with the arguments of the call, which n8n keeps for its retries (n8n-core's
 * get-input-connection-data.ts).
 * @throws Failure
 */
export function writeIdOf(context: IExecutePaginationFunctions): WriteId {
	const isCall = isTool(context.getNode());
	requireStableArguments(context, isCall);
	return isCall ? argumentsOf(context) : context.getItemIndex();
}

/**
 * @throws Failure if n8n names tools or passes arguments in another way: then one call could be
 *   taken for another. It returns the same object again only for the arguments of a call
 *   (n8n-core's execute-single-context.ts).
 */
function requireStableArguments(context: IExecutePaginationFunctions, isCall: boolean): void {
	const input = argumentsOf(context);
	const inputAgain = argumentsOf(context);
	if ((input === inputAgain) !== isCall) throw new Failure('write.unguarded');
}

function argumentsOf(context: IExecutePaginationFunctions): object {
	return context.getInputData(0, NodeConnectionTypes.AiTool).json;
}
