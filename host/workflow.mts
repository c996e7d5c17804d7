import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import type { WorkflowDefinition } from './rest.mts';

/** A node. Only name and type are required. */
export type NodeDefinition = Pick<INode, 'name' | 'type'> & Partial<INode>;

/** Trigger of a manual workflow. Its output is pinned (`pinData`). */
export const start: NodeDefinition = { name: 'Start', type: 'n8n-nodes-base.manualTrigger' };

/** Returns the connections of a node: for each output, the nodes that follow. */
export function to(...outputs: string[][]) {
	const main = outputs.map((names) =>
		names.map((node) => ({ node, type: 'main' as const, index: 0 })),
	);
	return { main };
}

/** Returns a workflow in which each node leads to the next, unless `more.connections` has another connection. */
export function chain(
	nodes: NodeDefinition[],
	more: Partial<WorkflowDefinition> = {},
): WorkflowDefinition {
	const links = nodes.slice(1).map(({ name }, index) => [nodes[index]!.name, to([name])]);
	return {
		name: randomUUID(),
		settings: { executionOrder: 'v1' },
		...more,
		nodes: nodes.map((node, index) => ({
			id: node.name,
			typeVersion: 1,
			position: [index * 200, 0],
			parameters: {},
			...node,
		})),
		connections: { ...Object.fromEntries(links), ...more.connections },
	};
}

/** Returns an Edit Fields node, such as the examples' Settings, with other values. */
export function withValues(node: INode, values: Record<string, unknown>): INode {
	const { assignments } = node.parameters.assignments as unknown as {
		assignments: Array<{ name: string; value: unknown }>;
	};
	const changed = assignments.map((one) => ({ ...one, value: values[one.name] ?? one.value }));
	const parameters = { assignments: { assignments: changed } as INodeParameters };
	return { ...node, parameters: { ...node.parameters, ...parameters } };
}
