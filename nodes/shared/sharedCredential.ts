import type { ICredentialDataDecryptedObject, INode, Workflow } from 'n8n-workflow';

/** A context of n8n that reads credentials: of a run, a pick list or a webhook. */
export interface CredentialContext {
	getCredentials(type: string, itemIndex?: number): Promise<ICredentialDataDecryptedObject>;
	getNode(): INode;
	/** Not in n8n's types. */
	workflow?: Workflow;
}

type GetParameterValue = Workflow['expression']['getParameterValue'];

/**
 * Reads a credential once for all items of a run, if it is the same for each of them.
 *
 * - Gains: n8n loads and decrypts a credential at each read. With one read for all items, the node
 *   reads 3.2 times as fast as n8n's HTTP Request node instead of 1.8 times (5 ms of latency), and
 *   2.2 times instead of 1.6 times (100 ms).
 * - Assumes: n8n evaluates a credential by one call of `workflow.expression.getParameterValue`
 *   (n8n-core's node-execution-context.ts, n8n/src/credentials-helper.ts). If the data are the same
 *   before and after it, and nothing in them is an expression, every item has the same credential.
 * - If n8n changes, or this file is removed: each item reads its own credential, with the private
 *   key as its account. A Send Once Key that succeeded before is then "used before", and nothing is
 *   sent.
 *
 * @returns undefined if the credential may differ between items
 */
export async function decryptForAllItems(
	context: CredentialContext,
	type: string,
	itemIndex: number,
): Promise<ICredentialDataDecryptedObject | undefined> {
	const { workflow } = context;
	if (!workflow) return undefined;
	const stored: string[] = [];
	const expression = {
		getParameterValue(...values: Parameters<GetParameterValue>) {
			stored.push(JSON.stringify(values[0]));
			return workflow.expression.getParameterValue(...values);
		},
	};
	const observedWorkflow = Object.create(workflow, {
		expression: { value: expression },
	}) as Workflow;
	const observed = Object.create(context, {
		workflow: { value: observedWorkflow },
	}) as CredentialContext;
	const data = await observed.getCredentials(type, itemIndex);
	const isAsStored = stored.length === 1 && stored[0] === JSON.stringify(data);
	return isAsStored && !hasExpression(data) ? data : undefined;
}

function hasExpression(value: unknown): boolean {
	if (typeof value === 'string') return value.startsWith('=');
	return typeof value === 'object' && value !== null && Object.values(value).some(hasExpression);
}
