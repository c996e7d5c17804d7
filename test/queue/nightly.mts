import { withValues } from '../../host/workflow.mts';
import { prepareWorkspace } from '../../host/workspace.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { countByWorker, executionsOf } from './executions.mts';
import { webhookSecret, type Topology } from './topology.mts';

export type Nightly = Awaited<ReturnType<typeof activateNightly>>;

export const nightMilliseconds = 300_000;

/** The example `nightly-sync-across-workers`. */
export async function activateNightly(topology: Topology, usersPerBatch = 25) {
	const { api, sandbox, webhook } = topology;
	const access = { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	const examples = await prepareWorkspace(api, access);
	const idOf = (name: string) => examples.find(({ file }) => file === name)!.id;
	const workflowId = idOf('nightly-sync-across-workers');
	const { nodes } = await api.readWorkflow(workflowId);
	const path = nodes.find(({ type }) => type === 'n8n-nodes-base.webhook')!.parameters.path;
	const values = { usersPerBatch, batchUrl: `${webhook.n8n.url}/webhook/${String(path)}` };
	await api.updateWorkflow(workflowId, {
		nodes: nodes.map((node) => (node.name === 'Settings' ? withValues(node, values) : node)),
		// So that it can be seen which worker had a batch.
		settings: { executionOrder: 'v1', saveDataSuccessExecution: 'all' },
	});
	await api.activateWorkflow(idOf('nightly-sync-batch'));
	await api.activateWorkflow(workflowId);
	return {
		/** Starts a night; answers its execution's id. */
		start: async () => await api.runWorkflow(workflowId, 'Every night'),
		/** Waits for the end of a night; answers its last item, and how many batches each worker had. */
		ended: async (id: string) => {
			const execution = await api.waitForExecution(id, nightMilliseconds);
			const executions = await executionsOf(topology, workflowId);
			const after = executions.filter((one) => one.id > Number(id));
			const summary = execution.data.resultData.runData.Summary?.[0]?.data?.main?.[0]?.[0]?.json;
			return { summary, batches: countByWorker(topology, after) };
		},
	};
}
