import type {
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INode,
	INodeExecutionData,
} from 'n8n-workflow';

import type { Credential } from '../../shared/credential';
import { toErrorData, toNodeError } from '../../shared/failure';
import { isTool, type ParameterOptions } from '../../shared/parameters';
import type { Users } from '../lookup/users';
import type { Claims } from '../once/claims';

/** What the items of a run share. */
export interface Run {
	context: IExecuteFunctions | IExecutePaginationFunctions;
	node: INode;
	/** Failed items are returned as data, and the run continues: see {@link returnsFailures}. */
	continues: boolean;
	credentials: { read(itemIndex: number): Promise<Credential> };
	/** Set once an item names a user by email. */
	users?: Users;
	/** Set once an item has a Send Once Key. */
	claims?: Claims;
	/** Shows a message above the output in n8n's editor, once for all items. */
	hint(message: string): void;
	/** n8n's `getNodeParameter`. */
	readParameter(
		name: string,
		index: number,
		fallback?: unknown,
		options?: ParameterOptions,
	): unknown;
}

/**
 * Decides whether a failed item is returned as data, or ends the run: by On Error, except that a tool returns what it can. Of an
 * error that is thrown, version 3 of n8n's AI Agent gives the model only the message, and version 2 nothing.
 * @param wayIn only with all items at once does n8n obey a tool's On Error = Stop
 */
export function returnsFailures(context: Run['context'], wayIn: 'allItems' | 'oneItem'): boolean {
	const node = context.getNode();
	if (context.continueOnFail()) return true;
	return isTool(node) && (wayIn === 'oneItem' || node.onError !== 'stopWorkflow');
}

/** Items by the index of the item that they come from. */
export type Outputs = Map<number, INodeExecutionData[]>;

/**
 * Pairs the output of an item with it; or returns a failed item.
 * @throws NodeApiError or NodeOperationError if a failed item ends the run
 */
export async function runItem(
	run: Run,
	index: number,
	outputOf: () => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	try {
		return (await outputOf()).map((item) => ({ ...item, pairedItem: { item: index } }));
	} catch (error) {
		if (!run.continues) throw toNodeError(run.node, error, index);
		return [failedItem(error, index)];
	}
}

/**
 * Adds the error for each item without an output. If the node threw under On Error = Continue, n8n would pass on its
 * input items as if they had succeeded.
 */
export function failOthers(outputs: Outputs, indexes: number[], error: unknown): void {
	for (const index of indexes) {
		if (!outputs.has(index)) outputs.set(index, [failedItem(error, index)]);
	}
}

function failedItem(error: unknown, item: number): INodeExecutionData {
	return { json: { error: toErrorData(error) }, pairedItem: { item } };
}
