import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IConnections, INode } from 'n8n-workflow';
import { runCommand } from '../../host/command.mts';
import { installHost } from '../../host/install.mts';
import { cacheFolder } from '../../host/paths.mts';
import type { Execution } from '../../host/rest.mts';
import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { http, startRawServer } from '../support/rawServer.mts';
import { emailsOf, joinInstance, outputOf, type SharedInstance } from './instance.mts';
import { tested } from './sharedN8n.mts';
import type { StepOutcome, StepToRun } from './stepExecutor.mts';

/** The ways by which n8n comes to an upgrade, but for those of test/engine: each item is billed once. */

const { pro } = SANDBOX_PLANS;
const upgrade = {
	resource: 'plan',
	operation: 'upgrade',
	email: '={{ $json.email }}',
	planId: pro,
};

/** Sent, and turned down: nothing happened. */
const refusal = {
	status: 401,
	body: JSON.stringify({ status: 'error', errorCode: 'plan-upgrade-2' }),
};

let instance: SharedInstance;
let emails: string[];

beforeAll(async () => {
	instance = await joinInstance();
	emails = emailsOf(instance.sandbox);
});

afterAll(async () => await instance?.close());

afterEach(() => instance.sandbox.faults.clear());

/** The upgrade of each item's email, with Retry On Fail. */
async function upgradeNode(onError: INode['onError']): Promise<Partial<INode>> {
	return {
		name: 'Upgrade',
		type: 'n8n-nodes-resume-management.resumeManagement',
		parameters: upgrade,
		credentials: await instance.addCredential(),
		onError,
		retryOnFail: true,
		waitBetweenTries: 1,
	};
}

const start: Partial<INode> = { name: 'Start', type: 'n8n-nodes-base.manualTrigger' };

/** Saves a workflow whose `Start`, where it has one, gives out an item for each email. */
async function createWorkflow(
	given: string[],
	nodes: Array<Partial<INode>>,
	connections: IConnections,
): Promise<string> {
	const { id } = await instance.api.createWorkflow({
		name: randomUUID(),
		nodes: nodes.map((node, index) => ({
			id: randomUUID(),
			typeVersion: 1,
			position: [index * 200, 0],
			parameters: {},
			...node,
		})) as INode[],
		connections,
		settings: { executionOrder: 'v1' },
		pinData: { Start: given.map((email) => ({ json: { email } })) },
	});
	return id;
}

const to = (node: string) => [{ node, type: 'main' as const, index: 0 }];

const runToEnd = async (id: string): Promise<Execution> =>
	await instance.api.waitForExecution(await instance.api.runWorkflow(id, 'Start'));

const billed = (email: string) =>
	instance.sandbox.database.prepare('SELECT 1 FROM upgrades WHERE email = ?').all(email).length;

/** The emails of the upgrades that arrive while something is done, in their order. */
async function arrivals(action: () => Promise<unknown>): Promise<string[]> {
	const before = instance.sandbox.requests.length;
	await action();
	return instance.sandbox.requests
		.slice(before)
		.map(({ body }) => (JSON.parse(body) as { email: string }).email);
}

test('each round of a loop bills once, and the same email in two rounds is two purchases', async () => {
	const [lost, refused, plain] = emails as [string, string, string];
	instance.sandbox.faults.add({ email: lost, times: 1, drop: 'after' });
	instance.sandbox.faults.add({ email: refused, times: 1, answer: refusal });
	const loop = {
		name: 'Loop',
		type: 'n8n-nodes-base.splitInBatches',
		typeVersion: 3,
		parameters: { batchSize: 1 },
	};
	const id = await createWorkflow(
		[lost, refused, lost, plain],
		[start, loop, await upgradeNode('continueRegularOutput')],
		{
			Start: { main: [to('Loop')] },
			Loop: { main: [[], to('Upgrade')] },
			Upgrade: { main: [to('Loop')] },
		},
	);
	let execution: Execution | undefined;
	const arrived = await arrivals(async () => (execution = await runToEnd(id)));
	expect(arrived).toEqual([lost, refused, refused, lost, plain]);
	expect([lost, refused, plain].map(billed)).toEqual([2, 1, 1]);
	// n8n 1.85 shows of a node that goes on the first try, and of the next ones nothing
	// (n8n-core/dist/execution-engine/workflow-execute.js, nodeSuccessData).
	const second = tested === 'lowest' ? undefined : pro;
	const plans = outputOf(execution!, 'Loop').map(({ json }) => json.plan_id);
	expect(plans).toEqual([undefined, second, pro, pro]);
});

/** Runs an upgrade in a workflow of its own, which the node `Call` of another one calls. */
async function runCalled(
	given: string[],
	node: Partial<INode>,
	more: Partial<INode> = {},
): Promise<Execution> {
	const trigger = {
		name: 'Called',
		type: 'n8n-nodes-base.executeWorkflowTrigger',
		typeVersion: 1.1,
		parameters: { inputSource: 'passthrough' },
	};
	const called = await createWorkflow([], [trigger, node], { Called: { main: [to('Upgrade')] } });
	const call = {
		name: 'Call',
		type: 'n8n-nodes-base.executeWorkflow',
		typeVersion: 1.1,
		parameters: { workflowId: { __rl: true, mode: 'id', value: called }, options: {} },
		...more,
	};
	const connections: IConnections = { Start: { main: [to('Call')] } };
	return await runToEnd(await createWorkflow(given, [start, call], connections));
}

test('Retry On Fail in a sub-workflow bills once', async () => {
	const [done, refused, lost] = emails.slice(3) as [string, string, string];
	instance.sandbox.faults.add({ email: refused, times: 1, answer: refusal });
	instance.sandbox.faults.add({ email: lost, times: 1, drop: 'after' });
	const node = await upgradeNode('stopWorkflow');
	let execution: Execution | undefined;
	const arrived = await arrivals(
		async () => (execution = await runCalled([done, refused, lost], node)),
	);
	expect(execution!.data.resultData.error!.message).toMatch(/^Outcome unknown: /);
	expect(arrived).toEqual([done, refused, refused, lost]);
	expect([done, refused, lost].map(billed)).toEqual([1, 1, 1]);
});

test.each([
	['bills again', 10, '', 2],
	['bills once with a Send Once Key', 11, upgrade.email, 1],
])('Retry On Fail around a sub-workflow %s', async (_, index, sendOnceKey, bills) => {
	const email = emails[index]!;
	instance.sandbox.faults.add({ email, times: 1, drop: 'after' });
	const node = await upgradeNode('stopWorkflow');
	const keyed = { ...node, parameters: { ...upgrade, sendOnceKey } };
	await runCalled([email], keyed, { retryOnFail: true, waitBetweenTries: 1 });
	expect(billed(email)).toBe(bills);
});

// n8n 1.85 takes other parameters for it.
(tested === 'lowest' ? test.skip : test)(
	'Execute Step bills once, a later one is a new purchase, and one of a node behind it is none',
	async () => {
		const email = emails[6]!;
		instance.sandbox.faults.add({ email, times: 1, drop: 'after' });
		const after = { name: 'After', type: 'n8n-nodes-base.noOp' };
		const id = await createWorkflow([email], [start, await upgradeNode('stopWorkflow'), after], {
			Start: { main: [to('Upgrade')] },
			Upgrade: { main: [to('After')] },
		});
		const executeStep = async (node: string, earlier?: Execution) => {
			const runData = earlier?.data.resultData.runData;
			return await instance.api.waitForExecution(await instance.api.executeStep(id, node, runData));
		};
		const lost = await executeStep('Upgrade');
		expect(lost.data.resultData.error!.message).toMatch(/^Outcome unknown: /);
		expect(billed(email)).toBe(1);

		const again = await executeStep('Upgrade', lost);
		expect(again.status).toBe('success');
		expect(billed(email)).toBe(2);

		const behind = await executeStep('After', again);
		expect(outputOf(behind, 'After')).toEqual([
			expect.objectContaining({ json: expect.objectContaining({ plan_id: pro }) }),
		]);
		expect(billed(email)).toBe(2);
	},
);

// n8n 1 has none.
(tested === '2' ? describe : describe.skip)("n8n's step executor", () => {
	async function runStep(step: StepToRun): Promise<StepOutcome> {
		const { node, folder } = await installHost(tested);
		const script = join(import.meta.dirname, 'stepExecutor.mts');
		const args = [script, folder, JSON.stringify(step)];
		return JSON.parse(await runCommand(node, args, { cwd: cacheFolder() })) as StepOutcome;
	}

	/** A service that takes its time, so that requests that are sent at once are seen together. */
	async function startSlowService() {
		const arrived: string[] = [];
		let working = 0;
		let atOnce = 0;
		const server = await startRawServer(async (socket, { body }) => {
			arrived.push((JSON.parse(body) as { email: string }).email);
			atOnce = Math.max(atOnce, ++working);
			await sleep(200);
			working--;
			const answer = { status: 'success', data: { plan_id: pro } };
			socket.end(http(200, {}, JSON.stringify(answer)));
		});
		return {
			baseUrl: `http://127.0.0.1:${server.port}/v1`,
			arrived,
			atOnce: () => atOnce,
			close: server.close,
		};
	}

	test('sends upgrades one at a time, in order, and each once', async () => {
		const service = await startSlowService();
		try {
			const given = emails.slice(0, 4);
			const items = given.map((email) => ({ email }));
			const outcome = await runStep({ parameters: upgrade, baseUrl: service.baseUrl, items });
			const upgraded = given.map((_, item) =>
				expect.objectContaining({ json: { plan_id: pro }, pairedItem: { item } }),
			);
			expect(outcome).toEqual({ outputs: [upgraded] });
			expect(service.arrived).toEqual(given);
			expect(service.atOnce()).toBe(1);
		} finally {
			await service.close();
		}
	});

	test('sends nothing of a Custom API Call', async () => {
		const service = await startSlowService();
		try {
			const outcome = await runStep({
				parameters: { ...upgrade, operation: '__CUSTOM_API_CALL__' },
				baseUrl: service.baseUrl,
				items: [{ email: emails[0]! }],
			});
			expect(outcome).toEqual({ error: expect.stringMatching(/no such operation/) });
			expect(service.arrived).toEqual([]);
		} finally {
			await service.close();
		}
	});
});
