import { randomUUID } from 'node:crypto';
import type { INodeCredentials, INodeParameters } from 'n8n-workflow';
import type { Execution } from '../../host/rest.mts';
import { start, to } from '../../host/workflow.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byId, download, upgrade, userGet } from '../support/parameters.mts';
import { startScriptedModel } from '../support/scriptedModel.mts';
import type { ScriptedModel, ToolCall, Turn } from '../support/scriptedModel.mts';
import { actionType, instance, outputOf, useInstance } from './instance.mts';

/** The node as a tool of n8n's AI Agent, with a chat model that makes the calls of a test. */

let model: ScriptedModel;
let credentials: INodeCredentials;

useInstance();
beforeAll(async () => {
	model = await startScriptedModel();
	const [type, data] = ['openAiApi', { apiKey: 'none', url: model.baseUrl }];
	const { id, name } = await instance.api.createCredential({ name: 'Scripted model', type, data });
	credentials = { ...(await instance.addCredential()), openAiApi: { id, name } };
});

afterAll(async () => await model?.close());

const email = 'emma.larsen@example.com';
const fromAi = (name: string) => `={{ $fromAI('${name}', 'The ${name}', 'string') }}`;

const tools: Record<string, INodeParameters> = {
	user_get: userGet(fromAi('userId')),
	resume_download: { ...download, resumeId: byId(fromAi('resumeId')) },
	plan_upgrade: { ...upgrade, email: fromAi('email'), planId: fromAi('planId') },
};

const call = (name: string, args: ToolCall['arguments']): ToolCall => ({ name, arguments: args });
const buyer = 'noah.fischer@example.com';
const purchase = call('plan_upgrade', { email: buyer, planId: SANDBOX_PLANS.basic });
const calls = [
	call('user_get', { userId: 'user-001' }),
	call('resume_download', { resumeId: 'resume-001' }),
	call('plan_upgrade', { email, planId: SANDBOX_PLANS.pro }),
	call('plan_upgrade', { email, planId: 'plan_wrong' }),
	// The response to the first one is lost. Another call is another purchase.
	purchase,
	purchase,
];

// Version 3 runs tools as nodes of their own; earlier ones run them themselves.
test.each([3, 2.2])('AI Agent %d sends each call of the model once', async (typeVersion) => {
	const { sandbox } = instance;
	sandbox.requests.length = 0;
	sandbox.faults.add({ email: buyer, drop: 'after', times: 1 });
	const execution = await runAgent(typeVersion, [...calls.map((one) => [one]), 'Done.']);
	expect(outputOf(execution, 'Agent').map(({ json }) => json.output)).toEqual(['Done.']);
	expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
	const sent = sandbox.requests.map(({ method, url }) => `${method} ${url}`);
	expect(sent.slice(0, 3)).toEqual([
		'GET /v1/user/user-001',
		'GET /v1/resume/resume-001/download',
		'POST /v1/plan/upgrade',
	]);
	// Retry On Fail sends a refused upgrade again, and none of which the outcome is unknown.
	expect(sandbox.requests.filter(({ body }) => body.includes(buyer))).toHaveLength(2);

	expect(model.requests.at(-1)!.tools.find(({ name }) => name === 'plan_upgrade')).toMatchObject({
		description: expect.stringMatching(/This bills: each call may charge a payment/) as string,
		parameters: { required: ['email', 'planId'] },
	});
	const results = model.toolResults();
	const [refused, unknown, upgraded] = results.splice(3);
	expect(results.map((text) => JSON.parse(text) as unknown)).toMatchObject([
		[{ email }],
		[{ fileName: 'Emma Larsen, Software Engineer.pdf', mimeType: 'application/pdf' }],
		[{ plan_id: SANDBOX_PLANS.pro }],
	]);
	expect(refused).toContain('The service reported: wrong plan ID (plan-upgrade-2)');
	expect(unknown).toContain('Outcome unknown');
	expect(unknown).toContain('Find out what happened before you send it again');
	expect(upgraded).toContain(SANDBOX_PLANS.basic);
});

const twice = [[purchase], [purchase], 'Done.'];
// The agent fails after the call, and makes the call again.
const failing = [[purchase], 500, [purchase], 'Done.'];

/** Runs an agent with changes of its upgrade tool, and returns what the model read of the last call, and the upgrades. */
async function upgradeBy(typeVersion: number, turns: Turn[], parameters: INodeParameters) {
	const { sandbox } = instance;
	sandbox.requests.length = 0;
	const before = instance.billed(buyer);
	await runAgent(typeVersion, turns, { ...tools.plan_upgrade, ...parameters });
	const sent = sandbox.requests.length;
	return { read: model.toolResults().at(-1), sent, billed: instance.billed(buyer) - before };
}

const used = 'This Send Once Key was used before, so nothing was sent now';
const notStored = "could not store the Send Once Key.*needs version 3 of n8n's AI Agent";

describe.each(['={{ $json.paymentId }}', "={{ $('Start').item.json.paymentId }}"])(
	"a Send Once Key from the agent's input: %s",
	(sendOnceKey) => {
		test.each<[what: string, typeVersion: number, turns: Turn[], text: string, sent: number]>([
			['sends one request for two equal calls', 3, twice, '"alreadySent":true', 1],
			['sends one request if its own Retry On Fail runs it again', 3, failing, used, 1],
			['of version 2.2 sends nothing', 2.2, twice, notStored, 0],
		])('AI Agent %s', async (_, typeVersion, turns, text, sent) => {
			if (turns === failing) instance.sandbox.faults.add({ email: buyer, drop: 'after', times: 1 });
			const outcome = await upgradeBy(typeVersion, turns, { sendOnceKey });
			const read = expect.stringMatching(RegExp(text, 's')) as unknown;
			expect(outcome).toEqual({ read, sent, billed: sent });
		});
	},
);

test.each([3, 2.2])('AI Agent %d: the model can not choose the operation', async (typeVersion) => {
	const values = { ...purchase.arguments, operation: 'upgrade' };
	const turns = [[{ ...purchase, arguments: values }], 'Done.'];
	const { read, sent } = await upgradeBy(typeVersion, turns, { operation: fromAi('operation') });
	expect(read).toContain('This node has no such operation');
	expect(sent).toBe(0);
});

async function runAgent(
	typeVersion: number,
	turns: Turn[],
	plan_upgrade: INodeParameters = tools.plan_upgrade!,
): Promise<Execution> {
	const { api } = instance;
	model.script(turns);
	const langchain = '@n8n/n8n-nodes-langchain';
	const prompt = { promptType: 'define', text: 'Go.', options: { maxIterations: 30 } };
	const retries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	const locator = { __rl: true, mode: 'id', value: 'scripted' };
	const nodes = [
		start,
		{ name: 'Agent', type: `${langchain}.agent`, typeVersion, parameters: prompt, ...retries },
		{
			name: 'Model',
			type: `${langchain}.lmChatOpenAi`,
			typeVersion: 1.2,
			parameters: { model: locator, options: { maxRetries: 0 } },
			credentials,
		},
		...Object.entries({ ...tools, plan_upgrade }).map(([name, parameters]) => ({
			name,
			type: `${actionType}Tool`,
			parameters,
			credentials,
			...(name === 'plan_upgrade' && retries),
			// Version 3 stops the execution then.
			...(typeVersion < 3 && { onError: 'stopWorkflow' as const }),
		})),
	];
	const toAgent = (type: 'ai_tool' | 'ai_languageModel') => ({
		[type]: [[{ node: 'Agent', type, index: 0 }]],
	});
	const connections = {
		...Object.fromEntries(Object.keys(tools).map((name) => [name, toAgent('ai_tool')])),
		Agent: to([]),
		Model: toAgent('ai_languageModel'),
	};
	const pinData = { Start: [{ json: { paymentId: randomUUID() } }] };
	const id = await instance.createWorkflow(nodes, { connections, pinData });
	return await api.waitForExecution(await api.runWorkflow(id, 'Start'));
}
