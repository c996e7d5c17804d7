import type { INode, INodeCredentials, INodeParameters } from 'n8n-workflow';
import type { WorkflowDefinition } from '../host/rest.mts';
import { chain, start, to, type NodeDefinition } from '../host/workflow.mts';

/** A node of this package or of n8n, without its name. */
export type Action = Pick<INode, 'type' | 'typeVersion' | 'parameters' | 'credentials'>;

export function ours(parameters: INodeParameters, credentials: INodeCredentials): Action {
	const type = 'n8n-nodes-resume-management.resumeManagement';
	return { type, typeVersion: 1, parameters, credentials };
}

/** Returns n8n's HTTP Request node with this package's credential. */
export function httpRequest(parameters: INodeParameters, credentials: INodeCredentials): Action {
	return {
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.5,
		parameters: {
			authentication: 'predefinedCredentialType',
			nodeCredentialType: 'resumeManagementApi',
			...parameters,
		},
		credentials,
	};
}

/** Returns a workflow that gives an action items, whose `id` is `prefix` and a number from 0. */
export function allItems(action: Action, items: number, prefix = ''): WorkflowDefinition {
	return chain([...source(items, prefix), { name: 'Action', ...action }]);
}

/** Returns the same workflow with n8n's Loop Over Items, which runs the action for one item at a time. */
export function oneByOne(action: Action, items: number): WorkflowDefinition {
	const loop = {
		name: 'Loop',
		type: 'n8n-nodes-base.splitInBatches',
		typeVersion: 3,
		parameters: { batchSize: 1, options: {} },
	};
	// The first output is for the end of the loop.
	const connections = { Loop: to([], ['Action']), Action: to(['Loop']) };
	return chain([...source(items, ''), loop, { name: 'Action', ...action }], { connections });
}

function source(items: number, prefix: string): NodeDefinition[] {
	const jsCode = `return Array.from({ length: ${items} }, (_, index) => ({ json: { id: '${prefix}' + index } }));`;
	return [
		start,
		{ name: 'Items', type: 'n8n-nodes-base.code', typeVersion: 2, parameters: { jsCode } },
	];
}
