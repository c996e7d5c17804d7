import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { Execution } from '../../host/rest.mts';
import { prepareWorkspace } from '../../host/workspace.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { countByWorker, executionsOf } from './executions.mts';
import { webhookSecret, type Topology } from './topology.mts';

/** The example `nightly-sync-across-workers`, in batches of 25 users. */
export interface Nightly {
	/** Starts a night; answers its execution's id. */
	start(): Promise<string>;
	/** Waits for the end of a night. */
	ended(id: string): Promise<Night>;
}

export interface Night {
	execution: Execution;
	summary?: IDataObject;
	/** How many batches each worker had. */
	batches: number[];
}

export const nightMilliseconds = 300_000;

export async function activateNightly(topology: Topology): Promise<Nightly> {
	const { api, sandbox, webhook } = topology;
	const access = { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	const examples = await prepareWorkspace(api, access);
	const { id: workflowId } = examples.find(({ file }) => file === 'nightly-sync-across-workers')!;
	const { nodes } = await api.readWorkflow(workflowId);
	const path = nodes.find(({ type }) => type === 'n8n-nodes-base.webhook')!.parameters.path;
	const values: Record<string, unknown> = {
		usersPerBatch: 25,
		batchUrl: `${webhook.n8n.url}/webhook/${String(path)}`,
	};
	await api.updateWorkflow(workflowId, {
		nodes: nodes.map((node) =>
			node.name === 'Settings'
				? { ...node, parameters: withValues(node.parameters, values) }
				: node,
		),
		// So that it can be seen which worker had a batch.
		settings: { executionOrder: 'v1', saveDataSuccessExecution: 'all' },
	});
	await api.activateWorkflow(examples.find(({ file }) => file === 'nightly-sync-batch')!.id);
	await api.activateWorkflow(workflowId);
	return {
		start: async () => await api.runWorkflow(workflowId, 'Every night'),
		ended: async (id) => {
			const execution = await api.waitForExecution(id, nightMilliseconds);
			const executions = (await executionsOf(topology, workflowId)).filter(
				(one) => one.id > Number(id),
			);
			const summary = execution.data.resultData.runData.Summary?.[0]?.data?.main?.[0]?.[0]?.json;
			return { execution, summary, batches: countByWorker(topology, executions) };
		},
	};
}

function withValues(parameters: INodeParameters, values: Record<string, unknown>): INodeParameters {
	const { assignments } = parameters.assignments as unknown as {
		assignments: Array<{ name: string; value: unknown }>;
	};
	const changed = assignments.map((one) => ({ ...one, value: values[one.name] ?? one.value }));
	return { ...parameters, assignments: { assignments: changed } as INodeParameters };
}
