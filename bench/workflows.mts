import type { INode, INodeCredentials, INodeParameters } from 'n8n-workflow';
import type { WorkflowDefinition } from '../host/rest.mts';
import { chain, start, to, type NodeDefinition } from '../host/workflow.mts';
import type { Measured } from './instance.mts';

/** A node of this package, or n8n's HTTP Request with the same credential. */
export type Action = Pick<INode, 'type' | 'typeVersion' | 'parameters' | 'credentials'>;

export function ours(parameters: INodeParameters, credentials: INodeCredentials): Action {
	const type = 'n8n-nodes-resume-management.resumeManagement';
	return { type, typeVersion: 1, parameters, credentials };
}

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

/** Gives an action so many items, with `id` being `prefix` and a number from 0. */
export function allItems(action: Action, items: number, prefix = ''): Measured {
	const nodes = [...source(items, prefix), { name: 'Action', ...action }];
	return { workflow: chain(nodes), nodes: ['Action'] };
}

/** The same through n8n's Loop Over Items, which hands on an item when the one before is done. */
export function oneByOne(action: Action, items: number): Measured {
	const loop = {
		name: 'Loop',
		type: 'n8n-nodes-base.splitInBatches',
		typeVersion: 3,
		parameters: { batchSize: 1, options: {} },
	};
	// The first output is that of the finished loop.
	const connections = { Loop: to([], ['Action']), Action: to(['Loop']) };
	const nodes = [...source(items, ''), loop, { name: 'Action', ...action }];
	return { workflow: chain(nodes, { connections }), nodes: ['Loop', 'Action'] };
}

/** A workflow of nothing but a trigger that is called from outside. */
export function onlyTrigger(trigger: Action, webhookId: string): WorkflowDefinition {
	return chain([{ name: 'Trigger', webhookId, ...trigger }]);
}

function source(items: number, prefix: string): NodeDefinition[] {
	const jsCode = `return Array.from({ length: ${items} }, (_, index) => ({ json: { id: '${prefix}' + index } }));`;
	return [
		start,
		{ name: 'Items', type: 'n8n-nodes-base.code', typeVersion: 2, parameters: { jsCode } },
	];
}
