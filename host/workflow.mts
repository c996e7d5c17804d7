import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import type { WorkflowDefinition } from './rest.mts';

/** A node, of which only name and type have to be told. */
export type NodeDefinition = Pick<INode, 'name' | 'type'> & Partial<INode>;

/** The trigger of a workflow that is started by hand; `pinData` is what it gives out. */
export const start: NodeDefinition = { name: 'Start', type: 'n8n-nodes-base.manualTrigger' };

/** The outputs of a node, each with the nodes that it leads to. */
export function to(...outputs: string[][]) {
	const main = outputs.map((names) =>
		names.map((node) => ({ node, type: 'main' as const, index: 0 })),
	);
	return { main };
}

/** A workflow in which each node leads to the next, where `more.connections` says nothing else of it. */
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

/** A node Edit Fields, as the examples' Settings is, with other values. */
export function withValues(node: INode, values: Record<string, unknown>): INode {
	const { assignments } = node.parameters.assignments as unknown as {
		assignments: Array<{ name: string; value: unknown }>;
	};
	const changed = assignments.map((one) => ({ ...one, value: values[one.name] ?? one.value }));
	const parameters = { assignments: { assignments: changed } as INodeParameters };
	return { ...node, parameters: { ...node.parameters, ...parameters } };
}
