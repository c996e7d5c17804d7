import { randomUUID } from 'node:crypto';
import type { IConnections, INode, INodeCredentials, INodeParameters } from 'n8n-workflow';
import type { WorkflowDefinition } from '../host/rest.mts';
import { before } from './before.mts';
import type { Measured } from './instance.mts';

type Node = Pick<INode, 'name' | 'type' | 'typeVersion' | 'parameters'> & Partial<INode>;

/** A node of this package, or n8n's HTTP Request with the same credential. */
export type Action = Pick<INode, 'type' | 'typeVersion' | 'parameters' | 'credentials'>;

export function ours(parameters: INodeParameters, credentials: INodeCredentials): Action {
	const type = 'n8n-nodes-resume-management.resumeManagement';
	return { type, typeVersion: 1, parameters, credentials };
}

/** The same node of the package as a commit had it. */
export function beforeOf(action: Action, credentials: INodeCredentials): Action {
	return { ...action, type: `${before.packageName}.resumeManagement`, credentials };
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
	const workflow = chain([...source(items, ''), loop]);
	workflow.nodes.push(place({ name: 'Action', ...action }, workflow.nodes.length));
	// The first output is that of the finished loop.
	workflow.connections.Loop = { main: [[], [{ node: 'Action', type: 'main', index: 0 }]] };
	workflow.connections.Action = { main: [[{ node: 'Loop', type: 'main', index: 0 }]] };
	return { workflow, nodes: ['Loop', 'Action'] };
}

/** A workflow of nothing but a trigger that is called from outside. */
export function onlyTrigger(trigger: Action, webhookId: string): WorkflowDefinition {
	return chain([{ name: 'Trigger', webhookId, ...trigger }]);
}

function source(items: number, prefix: string): Node[] {
	const jsCode = `return Array.from({ length: ${items} }, (_, index) => ({ json: { id: '${prefix}' + index } }));`;
	return [
		{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
		{ name: 'Items', type: 'n8n-nodes-base.code', typeVersion: 2, parameters: { jsCode } },
	];
}

function chain(nodes: Node[]): WorkflowDefinition {
	const connections: IConnections = {};
	nodes.slice(1).forEach(({ name }, index) => {
		connections[nodes[index]!.name] = { main: [[{ node: name, type: 'main', index: 0 }]] };
	});
	return {
		name: `Benchmark ${randomUUID()}`,
		nodes: nodes.map(place),
		connections,
		settings: { executionOrder: 'v1' },
	};
}

function place(node: Node, index: number): INode {
	return { id: node.name, position: [index * 200, 0], ...node };
}
