import type { INode, INodeParameters } from 'n8n-workflow';
import type { Execution } from '../../host/rest.mts';
import { start, to, type NodeDefinition } from '../../host/workflow.mts';
import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { upgrade as fixed } from '../support/parameters.mts';
import { actionType, instance, outputOf, tested, useInstance } from './instance.mts';

/** The ways in which a real n8n runs an upgrade: each item is billed once. The others are in test/engine. */

const { pro } = SANDBOX_PLANS;
const emailOfItem = '={{ $json.email }}';
const upgrade = { ...fixed, email: emailOfItem, planId: pro };

useInstance();

const lose = (email: string) => instance.sandbox.faults.add({ email, times: 1, drop: 'after' });

function refuse(email: string): void {
	const body = JSON.stringify({ status: 'error', errorCode: 'plan-upgrade-2' });
	instance.sandbox.faults.add({ email, times: 1, response: { status: 401, body } });
}

/** Returns a node with Retry On Fail that upgrades the user of each item. */
async function upgradeNode(
	onError: INode['onError'],
	parameters: INodeParameters = upgrade,
): Promise<NodeDefinition> {
	const credentials = await instance.addCredential();
	const retries = { retryOnFail: true, waitBetweenTries: 1 };
	return { name: 'Upgrade', type: actionType, parameters, credentials, onError, ...retries };
}

async function create(given: string[], nodes: NodeDefinition[], connections = {}): Promise<string> {
	const pinData = { Start: given.map((email) => ({ json: { email } })) };
	return await instance.createWorkflow([start, ...nodes], { connections, pinData });
}

const run = async (id: string) =>
	await instance.api.waitForExecution(await instance.api.runWorkflow(id, 'Start'));
const billed = (...given: string[]) => given.map((email) => instance.billed(email));

/** Returns the emails of the upgrades that the service received since the last call. */
const arrived = () =>
	instance.sandbox.requests
		.splice(0)
		.map(({ body }) => (JSON.parse(body) as { email: string }).email);

test('each round of a loop bills once, and the same email in two rounds is two purchases', async () => {
	const [lost, refused, plain] = instance.emails.splice(0, 3) as [string, string, string];
	lose(lost);
	refuse(refused);
	const type = 'n8n-nodes-base.splitInBatches';
	const loop = { name: 'Loop', type, typeVersion: 3, parameters: { batchSize: 1 } };
	const nodes = [loop, await upgradeNode('continueRegularOutput')];
	const connections = { Loop: to([], ['Upgrade']), Upgrade: to(['Loop']) };
	const execution = await run(await create([lost, refused, lost, plain], nodes, connections));
	expect(arrived()).toEqual([lost, refused, refused, lost, plain]);
	expect(billed(lost, refused, plain)).toEqual([2, 1, 1]);
	// n8n 1.85 shows the first try of a node that continues on an error, and none of its retries
	// (n8n-core/dist/execution-engine/workflow-execute.js, nodeSuccessData).
	const second = tested === 'lowest' ? undefined : pro;
	const plans = outputOf(execution, 'Loop').map(({ json }) => json.plan_id);
	expect(plans).toEqual([undefined, second, pro, pro]);
});

test.each([
	['in a sub-workflow bills once', '', false, 1],
	['around a sub-workflow bills again', '', true, 2],
	['around a sub-workflow bills once with a Send Once Key', emailOfItem, true, 1],
])('Retry On Fail %s', async (_, sendOnceKey, around, bills) => {
	const email = instance.emails.shift()!;
	lose(email);
	const node = await upgradeNode('stopWorkflow', { ...upgrade, sendOnceKey });
	const trigger = {
		name: 'Called',
		type: 'n8n-nodes-base.executeWorkflowTrigger',
		typeVersion: 1.1,
		parameters: { inputSource: 'passthrough' },
	};
	const called = await instance.createWorkflow([trigger, node]);
	const call = {
		name: 'Call',
		type: 'n8n-nodes-base.executeWorkflow',
		typeVersion: 1.1,
		parameters: { workflowId: { __rl: true, mode: 'id', value: called }, options: {} },
		...(around && { retryOnFail: true, waitBetweenTries: 1 }),
	};
	await run(await create([email], [call]));
	expect(billed(email)).toEqual([bills]);
});

// n8n 1.85 expects other parameters.
(tested === 'lowest' ? test.skip : test)(
	'Execute Step bills once; a second one is a new purchase; one of the next node bills nothing',
	async () => {
		const email = instance.emails.shift()!;
		lose(email);
		const after = { name: 'After', type: 'n8n-nodes-base.noOp' };
		const id = await create([email], [await upgradeNode('stopWorkflow'), after]);
		const executeStep = async (node: string, earlier?: Execution) => {
			const runData = earlier?.data.resultData.runData;
			return await instance.api.waitForExecution(await instance.api.executeStep(id, node, runData));
		};
		const lost = await executeStep('Upgrade');
		expect(lost.data.resultData.error!.message).toMatch(/^Outcome unknown: /);
		expect(billed(email)).toEqual([1]);

		const again = await executeStep('Upgrade', lost);
		expect(again.status).toBe('success');
		expect(billed(email)).toEqual([2]);

		const behind = await executeStep('After', again);
		expect(outputOf(behind, 'After')).toMatchObject([{ json: { plan_id: pro } }]);
		expect(billed(email)).toEqual([2]);
	},
);
