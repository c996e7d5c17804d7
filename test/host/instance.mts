import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INodeExecutionData } from 'n8n-workflow';
import { connectExamples } from '../../host/events.mts';
import { installHost, installPackage, packPackage } from '../../host/install.mts';
import { startN8n, type N8n } from '../../host/n8n.mts';
import { reportTo } from '../../host/progress.mts';
import { EditorApi, type Credential, type Execution } from '../../host/rest.mts';
import { owner, prepareWorkspace, type ExampleWorkflow } from '../../host/workspace.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startSandbox, type Sandbox } from '../../sandbox/server.mts';

/** The first run on a machine installs n8n. */
export const startMilliseconds = 15 * 60_000;

export const webhookSecret = 'webhook_secret_of_the_tests';

/** A fresh n8n with the packed package and an owner, and a fresh sandbox, on free ports. */
export interface EmptyInstance {
	api: EditorApi;
	n8n: N8n;
	sandbox: Sandbox;
	/** The only folder that workflows may read from and write to. */
	filesFolder: string;
	/** Where n8n keeps the files of executions. */
	binaryFolder: string;
	/** The rows of a data table, by its name. */
	readTable(name: string): Promise<Array<Record<string, unknown>>>;
	/** Starts n8n again after `n8n.stop()`, with the same data and at the same address. */
	startN8nAgain(): Promise<void>;
	/** Ends both and removes their data. */
	close(): Promise<void>;
}

/** With the credential and the examples in place, as `npm start` does. */
export interface Instance extends EmptyInstance {
	/** The sandbox's, which the examples use. */
	credential: Credential;
	examples: ExampleWorkflow[];
	/** Runs a workflow of `workflows/` that is started by hand, by its file's name, to its end. */
	runExample(file: string): Promise<Execution>;
	/** The id of a workflow of `workflows/`, by its file's name. */
	exampleId(file: string): string;
}

/** Items of a node's output, in its only or last run. */
export function outputOf(execution: Execution, node: string, index = 0): INodeExecutionData[] {
	return execution.data.resultData.runData[node]?.at(-1)?.data?.main?.[index] ?? [];
}

/** Of the n8n to test, one that `host/` has a folder for. */
const major = Number(process.env.N8N_MAJOR ?? 2);

/**
 * n8n runs at its most talkative, so that its log shows what could leak into it.
 * @param env more of n8n's environment variables
 */
export async function startEmptyInstance(env: Record<string, string> = {}): Promise<EmptyInstance> {
	const folder = await mkdtemp(join(tmpdir(), 'resume-management-host-'));
	const userFolder = join(folder, 'n8n');
	let n8n: N8n | undefined;
	let sandbox: Sandbox | undefined;
	const close = async () => {
		await n8n?.stop();
		await sandbox?.close();
		await rm(folder, { recursive: true, force: true });
	};
	try {
		const host = await installHost(major, reportTo(process.stderr));
		await installPackage(userFolder, await packPackage(folder));
		const options = { host, userFolder, env: { N8N_LOG_LEVEL: 'debug', ...env } };
		n8n = await startN8n(options);
		sandbox = await startSandbox({ port: 0, record: true });
		const api = new EditorApi(n8n.url);
		await api.signIn(owner);

		const instance: EmptyInstance = {
			api,
			n8n,
			sandbox,
			filesFolder: join(userFolder, '.n8n-files'),
			readTable: async (name) => {
				const table = (await api.listDataTables()).find((one) => one.name === name);
				if (table === undefined) throw new Error(`There is no data table ${name}`);
				return await api.readRows(table.id);
			},
			binaryFolder: join(userFolder, '.n8n', major === 1 ? 'binaryData' : 'storage'),
			startN8nAgain: async () => {
				const port = Number(new URL(instance.n8n.url).port);
				n8n = instance.n8n = await startN8n({ ...options, port });
			},
			close,
		};
		return instance;
	} catch (error) {
		await close();
		throw error;
	}
}

/** @param env more of n8n's environment variables */
export async function startInstance(env: Record<string, string> = {}): Promise<Instance> {
	const instance = await startEmptyInstance(env);
	try {
		return Object.assign(instance, await prepare(instance));
	} catch (error) {
		await instance.close();
		throw error;
	}
}

async function prepare({
	api,
	n8n,
	sandbox,
}: EmptyInstance): Promise<Omit<Instance, keyof EmptyInstance>> {
	const { baseUrl, webhooks } = sandbox;
	const access = { baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	const examples = await prepareWorkspace(api, access);
	const [credential] = await api.listCredentials();
	const route = { api, editorUrl: n8n.url, webhooks, secret: webhookSecret };
	const problems = await connectExamples(route, examples);
	if (problems.length > 0) throw new Error(problems.join('\n'));

	const exampleId = (file: string) => {
		const example = examples.find((one) => one.file === file);
		if (example === undefined) throw new Error(`There is no workflows/${file}.json`);
		return example.id;
	};
	return {
		credential: credential!,
		examples,
		exampleId,
		runExample: async (file) =>
			await api.waitForExecution(await api.runWorkflow(exampleId(file), 'Start')),
	};
}
