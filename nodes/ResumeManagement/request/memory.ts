import type { INodeExecutionData } from 'n8n-workflow';

import type { Failure } from './failure';

/** A write that must not be sent again: it succeeded, or nobody knows whether it did. */
export type SettledWrite = { items: INodeExecutionData[] } | { failure: Failure };

/**
 * The settled writes of one run of a node, by item. n8n's Retry On Fail runs the node again with the
 * same execution data object (n8n-core's workflow-execute.ts), while each round of a loop, each
 * execution and each node has one of its own. So that object is the key, and what it holds is freed
 * together with the run that n8n keeps it for.
 */
const runs = new WeakMap<object, Map<number, SettledWrite>>();

export function settledWrites(run: object): Map<number, SettledWrite> {
	let writes = runs.get(run);
	if (!writes) runs.set(run, (writes = new Map()));
	return writes;
}
