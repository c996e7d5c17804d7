import type {
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INode,
	INodeExecutionData,
} from 'n8n-workflow';

import type { CredentialReader } from '../../shared/credential';
import { Failure, toErrorData, toNodeError } from '../../shared/failure';
import type { ParameterOptions } from '../../shared/parameters';
import { pause } from '../http/pause';
import type { Users } from '../lookup/users';
import type { Claims } from '../once/claims';
import type { WriteId } from '../once/writeId';

/** What the items of a run share. */
export interface Run {
	context: IExecuteFunctions | IExecutePaginationFunctions;
	node: INode;
	/** A failed item is returned as data, and the run continues. Otherwise, the first one ends it. */
	returnsFailures: boolean;
	credentials: CredentialReader;
	/** Identifies the write of a run of one item. Otherwise, the item's index does. */
	writeId?: WriteId;
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
 * Returns the items that an input item leads to, paired with it; or a failed item.
 * @throws NodeApiError or NodeOperationError if a failed item ends the run
 */
export async function pairedOutput(
	run: Run,
	index: number,
	outputOf: () => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	try {
		return (await outputOf()).map((item) => ({ ...item, pairedItem: { item: index } }));
	} catch (error) {
		return failedOutput(run, index, error);
	}
}

/** Returns a failed item. @throws NodeApiError or NodeOperationError if it ends the run */
export function failedOutput(run: Run, index: number, error: unknown): INodeExecutionData[] {
	if (!run.returnsFailures) throw toNodeError(run.node, error, index);
	return [failedItem(error, index)];
}

/**
 * Adds the error for each item without an output, by its index. If the node threw under On Error =
 * Continue, n8n would pass on its input items as if they had succeeded.
 */
export function fillMissingOutputs(
	outputs: Map<number, INodeExecutionData[]>,
	indexes: number[],
	error: unknown,
): void {
	for (const index of indexes) {
		if (!outputs.has(index)) outputs.set(index, [failedItem(error, index)]);
	}
}

function failedItem(error: unknown, index: number): INodeExecutionData {
	return { json: { error: toErrorData(error) }, pairedItem: { item: index } };
}

/**
 * The field Request Options, which n8n adds to each declarative node
 * (n8n-core/src/nodes-loader/constants.ts). Times are in milliseconds.
 */
export interface RequestOptions {
	batching?: { batch?: { batchSize?: number; batchInterval?: number } };
	allowUnauthorizedCerts?: boolean;
	proxy?: string;
	timeout?: number;
}

/** Decides when the next item of a run may start. */
export class Pace {
	private readonly begin = Date.now();

	private started = 0;

	/**
	 * @param batch starts at most `size` items each `interval` milliseconds
	 * @param cancelled once it is aborted, no further item may start
	 */
	constructor(
		private readonly batch?: { size: number; interval: number },
		private readonly cancelled?: AbortSignal,
	) {}

	/** Waits until the next item may start. @throws Failure if the execution was cancelled */
	async next(): Promise<void> {
		if (this.batch) {
			const { size, interval } = this.batch;
			const batchNumber = Math.floor(this.started / size);
			const due = this.begin + batchNumber * interval;
			if (due > Date.now()) await pause(due - Date.now(), this.cancelled);
		}
		if (this.cancelled?.aborted) throw new Failure('network.notSent', {}, { outcome: 'refused' });
		this.started++;
	}
}

/**
 * Reads Batching for all items. Each item reads the other Request Options, so that a failing
 * expression fails its item alone.
 */
export function paceOf({ context, readParameter }: Run): Pace {
	const batching = readParameter('requestOptions.batching', 0, {}) as RequestOptions['batching'];
	const { batchSize: size = 50, batchInterval: interval = 0 } = batching?.batch ?? {};
	// n8n writes -1 for a size that is "disabled" (n8n-core/src/nodes-loader/constants.ts).
	const batch = interval > 0 && size > 0 ? { size, interval } : undefined;
	return new Pace(batch, context.getExecutionCancelSignal());
}
