import { randomBytes, randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INodeParameters } from 'n8n-workflow';
import { installHost, installPackage, packPackage } from '../../host/install.mts';
import { headless, startN8n, type N8n, type N8nCommand } from '../../host/n8n.mts';
import { reportTo } from '../../host/progress.mts';
import { chain, type NodeDefinition } from '../../host/workflow.mts';
import { owner } from '../../host/workspace.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startSandbox } from '../../sandbox/server.mts';
import { TestApi } from '../support/testApi.mts';
import { prepareServices } from './services.mts';

/** n8n in queue mode. */
export type Topology = Awaited<ReturnType<typeof startTopology>>;

/** A process of n8n with a user folder of its own, as on a machine of its own. */
export interface QueueProcess {
	n8n: N8n;
	/** Starts it again after it has ended, with the same user folder, at the same address. */
	startAgain(env?: Record<string, string>): Promise<void>;
	/** Ends it as the operating system does when memory is short. */
	kill(): Promise<void>;
}

/** For {@link startTopology}: the first run on a machine installs n8n. */
export const startMilliseconds = 15 * 60_000;

export const webhookSecret = 'webhook_secret_of_the_tests';

const actionType = 'n8n-nodes-resume-management.resumeManagement';
const triggerType = 'n8n-nodes-resume-management.resumeManagementTrigger';

const workerNiceness = 10;

/**
 * @param major of n8n
 * @param env more of n8n's environment variables, for every process
 * @param hasWebhookProcess whether a process of its own takes the production webhooks
 */
export async function startTopology(
	major: number,
	env: Record<string, string> = {},
	hasWebhookProcess = true,
) {
	const cleanups: Array<() => Promise<void>> = [];
	/** Ends everything and removes its data. */
	const close = async () => {
		for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
	};
	try {
		const services = await prepareServices();
		cleanups.push(services.remove);
		const folder = await mkdtemp(join(tmpdir(), 'resume-management-queue-'));
		cleanups.push(async () => await rm(folder, { recursive: true, force: true }));
		const sandbox = await startSandbox({ port: 0, record: true });
		cleanups.push(sandbox.close);
		const host = await installHost(major, reportTo(process.stderr));
		const withPackage = join(folder, 'package');
		await installPackage(withPackage, await packPackage(folder));
		const queueEnvironment = {
			EXECUTIONS_MODE: 'queue',
			// A process that is busy waits for its database. With n8n's defaults of 2 and 20000 it fails.
			DB_POSTGRESDB_POOL_SIZE: '10',
			DB_POSTGRESDB_CONNECTION_TIMEOUT: '60000',
			...(hasWebhookProcess && { N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true' }),
			N8N_ENCRYPTION_KEY: randomBytes(24).toString('hex'),
			// n8n makes an isolate of V8 for each webhook and each execution otherwise, at some 40 ms of
			// processor time, whether or not an expression needs it.
			N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true',
			// Workers tell at this level which executions they take.
			N8N_LOG_LEVEL: 'info',
			...services.env,
			...env,
		};

		const processes: QueueProcess[] = [];
		cleanups.push(async () => {
			await Promise.all(processes.map(async ({ n8n }) => await n8n.stop()));
		});
		const launch = async (
			name: string,
			command: N8nCommand,
			own: Record<string, string> = {},
		): Promise<QueueProcess> => {
			const userFolder = join(folder, name);
			await cp(withPackage, userFolder, { recursive: true });
			const start = async (port?: number, more: Record<string, string> = {}) => {
				const env = { ...queueEnvironment, ...own, ...more };
				const n8n = await startN8n({ host, command, userFolder, port, env });
				// On a machine of its own it would leave the webhook processor alone.
				if (command === 'worker') setPriority(n8n.pid, workerNiceness);
				return n8n;
			};
			const running: QueueProcess = {
				n8n: await start(),
				startAgain: async (more) => {
					running.n8n = await start(Number(new URL(running.n8n.url).port), more);
				},
				kill: async () => await running.n8n.kill(),
			};
			processes.push(running);
			return running;
		};

		// It creates the tables that the others need.
		const main = await launch('main', 'start', headless);
		// Production webhooks go to the main process, or to one that does nothing else.
		const [webhook, ...workers] = await Promise.all([
			hasWebhookProcess ? launch('webhook', 'webhook') : main,
			launch('worker-1', 'worker'),
			launch('worker-2', 'worker'),
		]);
		const api = new TestApi(main.n8n.url);
		await api.signIn(owner);
		const credential = await api.createCredential({
			name: 'Sandbox',
			type: 'resumeManagementApi',
			data: { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret },
		});
		const credentials = { resumeManagementApi: { id: credential.id, name: credential.name } };

		/** Activates a workflow that begins with our trigger, and answers its id and production URL. */
		const activate = async (action?: INodeParameters, before: NodeDefinition[] = []) => {
			const webhookId = randomUUID();
			const trigger = {
				name: 'Trigger',
				type: triggerType,
				typeVersion: 1.1,
				webhookId,
				credentials,
				parameters: { verification: 'header', headerName: 'X-Webhook-Secret' },
			};
			const follower = { name: 'Action', type: actionType, credentials, parameters: action };
			const nodes = action === undefined ? [trigger] : [trigger, ...before, follower];
			const { id } = await api.createWorkflow(chain(nodes));
			await api.activateWorkflow(id);
			return { workflowId: id, url: `${webhook.n8n.url}/webhook/${webhookId}/webhook` };
		};
		return { api, main, workers, webhook, sandbox, query: services.query, activate, close };
	} catch (error) {
		await close();
		throw error;
	}
}
