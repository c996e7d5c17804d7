import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INodeCredentials } from 'n8n-workflow';
import { installHost, installPackage, packPackage } from '../host/install.mts';
import n8n2 from '../host/n8n-2/package.json' with { type: 'json' };
import { startN8n } from '../host/n8n.mts';
import { reportTo } from '../host/progress.mts';
import { EditorApi, type CredentialDefinition, type WorkflowDefinition } from '../host/rest.mts';
import { owner } from '../host/workspace.mts';
import { memory, resetPeak } from './memory.mts';

export interface Run {
	/** Time of the measured nodes, as n8n stores it with the execution. */
	milliseconds: number;
	/** Highest resident memory of n8n's process during the run, and its growth. */
	peakMegabytes: number;
	growthMegabytes: number;
}

/** Nodes of a workflow that are not measured: the trigger, and the source of the items. */
const unmeasured = ['Start', 'Items'];

const environment = {
	N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
	N8N_CONCURRENCY_PRODUCTION_LIMIT: '20',
};

export type Instance = Awaited<ReturnType<typeof startInstance>>;

/** Starts a fresh n8n 2 with the packed package. */
export async function startInstance() {
	const folder = await mkdtemp(join(tmpdir(), 'resume-management-bench-'));
	const userFolder = join(folder, 'n8n');
	const host = await installHost(2, reportTo(process.stderr));
	await installPackage(userFolder, await packPackage(folder));

	const start = async (more: Record<string, string> = {}) => {
		const n8n = await startN8n({ host, userFolder, env: { ...environment, ...more } });
		const api = new EditorApi(n8n.url);
		await api.signIn(owner);
		return { n8n, api };
	};
	const instance = {
		...(await start()),
		version: n8n2.dependencies.n8n,

		async credential(definition: CredentialDefinition): Promise<INodeCredentials> {
			const { id, name } = await instance.api.createCredential(definition);
			return { [definition.type]: { id, name } };
		},

		/** Runs a new workflow, and deletes the files that it stored. */
		async run(workflow: WorkflowDefinition): Promise<Run> {
			const { api, n8n } = instance;
			const { id } = await api.createWorkflow(workflow);
			const { resident } = await memory(n8n.pid);
			await resetPeak(n8n.pid);
			const execution = await api.waitForExecution(await api.runWorkflow(id, 'Start'), 300_000);
			const { peak } = await memory(n8n.pid);
			const { error, runData } = execution.data.resultData;
			if (execution.status !== 'success') throw new Error(error?.message ?? execution.status);
			await rm(join(userFolder, '.n8n/storage/workflows', id), { recursive: true, force: true });
			const milliseconds = Object.entries(runData)
				.flatMap(([name, runs]) => (unmeasured.includes(name) ? [] : runs))
				.reduce((sum, { executionTime }) => sum + executionTime, 0);
			return { milliseconds, peakMegabytes: peak, growthMegabytes: peak - resident };
		},

		/**
		 * Restarts n8n.
		 * @param more environment variables of n8n, until the next restart
		 */
		async restart(more?: Record<string, string>): Promise<void> {
			await instance.n8n.stop();
			Object.assign(instance, await start(more));
		},

		async close(): Promise<void> {
			await instance.n8n.stop();
			await rm(folder, { recursive: true, force: true });
		},
	};
	return instance;
}
