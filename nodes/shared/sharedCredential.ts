import type { ICredentialDataDecryptedObject, INode, Workflow } from 'n8n-workflow';

/** A context of n8n that reads credentials: of a run, a pick list or a webhook. */
export interface CredentialContext {
	getCredentials(type: string, itemIndex?: number): Promise<ICredentialDataDecryptedObject>;
	getNode(): INode;
	/** Not in n8n's types. */
	workflow?: Workflow;
}

/**
 * Reads a credential once for all items of a run, if it is the same for each of them.
 *
 * - What it gains: n8n loads and decrypts a credential at each read. With one read for each item, reads are sent at 1.8 times the
 *   speed of n8n's HTTP Request node in place of 3.2 times (5 ms of latency), and 1.6 in place of 2.2 (100 ms).
 * - What it assumes: n8n resolves the expressions of a credential by one call of `getParameterValue` of the context's
 *   workflow (n8n-core's node-execution-context.ts, n8n/src/credentials-helper.ts). Here, that method notes what it was given. If
 *   n8n then returns exactly that, and it holds no expression, every item has the same credential.
 * - If n8n changes, or this file goes with its one call in credential.ts: each item reads its own credential, whose account is
 *   then told by the private key. A Send Once Key that has succeeded before is then "used before", and nothing is sent.
 *
 * @returns undefined if the credential may differ between items
 */
export async function readSharedCredential(
	context: CredentialContext,
	type: string,
	itemIndex: number,
): Promise<ICredentialDataDecryptedObject | undefined> {
	const { workflow } = context;
	if (!workflow) return undefined;
	const notes: string[] = [];
	const noting = {
		getParameterValue(...values: Parameters<Workflow['expression']['getParameterValue']>) {
			notes.push(JSON.stringify(values[0]));
			return workflow.expression.getParameterValue(...values);
		},
	};
	const observed = Object.create(context, {
		workflow: { value: Object.create(workflow, { expression: { value: noting } }) as Workflow },
	}) as CredentialContext;
	const data = await observed.getCredentials(type, itemIndex);
	const isAsStored = notes.length === 1 && notes[0] === JSON.stringify(data);
	return isAsStored && !hasExpression(data) ? data : undefined;
}

function hasExpression(value: unknown): boolean {
	if (typeof value === 'string') return value.startsWith('=');
	return typeof value === 'object' && value !== null && Object.values(value).some(hasExpression);
}
