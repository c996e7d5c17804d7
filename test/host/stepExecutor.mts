/**
 * `node stepExecutor.mts <folder of an n8n 2> <StepToRun as JSON>`: runs a step through that n8n's own
 * step executor, in a process of its own, since jest has n8n-core loaded already. Prints a
 * {@link StepOutcome} as JSON.
 */
import { createRequire, registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';

export interface StepToRun {
	parameters: INodeParameters;
	/** Of the service that the credential is for. */
	baseUrl: string;
	items: IDataObject[];
}

export type StepOutcome = { outputs: Array<INodeExecutionData[] | null> } | { error: string };

/** What is used of @n8n/node-engine-compatibility, which is a part of n8n 2 alone. */
interface Compatibility {
	V1StepExecutor: new (needs: object) => {
		execute(request: object): Promise<Extract<StepOutcome, { outputs: unknown }>>;
	};
}

const [host, step] = process.argv.slice(2) as [string, string];
const { parameters, baseUrl, items } = JSON.parse(step) as StepToRun;
const parentURL = pathToFileURL(join(host, 'package.json')).href;
const require = createRequire(parentURL);

// The node and the tests' engine get n8n's own packages, as n8n itself gets them: by require.
registerHooks({
	resolve: (name, context, next) =>
		/^(n8n-core|n8n-workflow|reflect-metadata)$/.test(name)
			? next(name, { ...context, parentURL, conditions: ['node', 'require'] })
			: next(name, context),
});
const { loaded, NODE_TYPE, nodeTypes, TestCredentials } = await import('../support/engine.mts');
const { V1StepExecutor } = require('@n8n/node-engine-compatibility') as Compatibility;
const { Expression } = require('n8n-workflow') as typeof import('n8n-workflow');

await loaded;
// n8n's defaults (@n8n/config/src/configs/expression-engine.config.ts).
await Expression.initExpressionEngine({
	engine: 'vm',
	poolSize: 1,
	maxCodeCacheSize: 1024,
	bridgeTimeout: 5000,
	bridgeMemoryLimit: 128,
});
const node = {
	id: 'step',
	name: 'Step',
	type: 'v1-node',
	config: {
		nodeType: NODE_TYPE,
		typeVersion: 1,
		parameters,
		continueOnFail: false,
		credentials: { resumeManagementApi: { id: '1', name: 'Test' } },
	},
};
const executor = new V1StepExecutor({
	nodeTypes,
	additionalDataFactory: async () => ({
		credentialsHelper: new TestCredentials({ baseUrl, privateKey: 'a-key' }),
		executionId: '1',
		webhookWaitingBaseUrl: 'http://127.0.0.1/webhook-waiting',
		formWaitingBaseUrl: 'http://127.0.0.1/form-waiting',
	}),
	loadStepData: async () => ({ graph: { nodes: [node], edges: [] }, outputsByNode: {} }),
});
const outcome: StepOutcome = await executor
	.execute({
		node,
		inputs: [items.map((json) => ({ json }))],
		context: {
			executionId: '1',
			stepId: 'step',
			workflowId: '1',
			mode: 'production',
			iteration: 0,
			callerContext: { hostMode: 'trigger' },
		},
	})
	.catch((error: Error) => ({ error: error.message }));
process.stdout.write(JSON.stringify(outcome), () => process.exit());
