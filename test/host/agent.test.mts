import type { INodeCredentials, INodeParameters } from 'n8n-workflow';
import type { Execution } from '../../host/rest.mts';
import { start, to } from '../../host/workflow.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byId } from '../support/parameters.mts';
import {
	startScriptedModel,
	type ScriptedModel,
	type ToolCall,
} from '../support/scriptedModel.mts';
import { actionType, joinInstance, outputOf, type SharedInstance } from './instance.mts';

/** The node as the tools of n8n's AI Agent, with a chat model that calls what a test tells it. */

let instance: SharedInstance;
let model: ScriptedModel;
let credentials: INodeCredentials;

beforeAll(async () => {
	instance = await joinInstance();
	model = await startScriptedModel();
	const [type, data] = ['openAiApi', { apiKey: 'none', url: model.baseUrl }];
	const { id, name } = await instance.api.createCredential({ name: 'Scripted model', type, data });
	credentials = { ...(await instance.addCredential()), openAiApi: { id, name } };
});

afterAll(async () => {
	await model?.close();
	await instance?.close();
});

const email = 'emma.larsen@example.com';
const planId = SANDBOX_PLANS.pro;
const fromAi = (name: string) => `={{ $fromAI('${name}', 'The ${name}', 'string') }}`;
const [userId, resumeId] = [byId(fromAi('userId')), byId(fromAi('resumeId'))];
const upgrade = { email: fromAi('email'), planId: fromAi('planId') };
const some = (fields: object) => expect.objectContaining(fields) as unknown;
const reads = /Changes nothing\.$/;

/**
 * A tool of each kind, with whatever it requires filled in by the model: what the model is told of it, a
 * call, what that sends, and what the model is told of the answer. All of them: test/engine/pipeline.test.mts.
 */
const tools: Record<
	string,
	[INodeParameters, RegExp, call: Record<string, string>, sent: string, answer: unknown]
> = {
	'user.get': [{ userId }, reads, { userId: 'user-001' }, 'GET /v1/user/user-001', some({ email })],
	'resume.create': [
		{ userId, bodyFields: { field: [{ name: 'title', value: fromAi('title') }] } },
		/Each call creates another resume/,
		{ userId: 'user-002', title: 'By an agent' },
		'POST /v1/user/user-002/resume',
		some({ title: 'By an agent' }),
	],
	'resume.download': [
		{ resumeId },
		reads,
		{ resumeId: 'resume-001' },
		'GET /v1/resume/resume-001/download',
		{ fileName: 'Emma Larsen, Software Engineer.pdf', mimeType: 'application/pdf' },
	],
	'plan.upgrade': [
		upgrade,
		/This bills: each call may charge a payment/,
		{ email, planId },
		'POST /v1/plan/upgrade',
		some({ plan_id: planId }),
	],
	'customRequest.get': [
		{ path: fromAi('path') },
		reads,
		{ path: 'user/user-001' },
		'GET /v1/user/user-001',
		some({ email }),
	],
};

const nameOf = (operation: string) => operation.replace('.', '_');
const call = (operation: string, given: Record<string, string>): ToolCall => ({
	name: nameOf(operation),
	arguments: given,
});
const calls = Object.entries(tools).map(([name, [, , given]]) => call(name, given));
const failing = [
	call('plan.upgrade', { email, planId: 'unknown' }),
	call('user.get', { userId: 'nobody' }),
	call('plan.upgrade', { email, planId: '' }),
];
/** Its answer is lost the first time. */
const buyer = 'noah.fischer@example.com';
const purchase = call('plan.upgrade', { email: buyer, planId: SANDBOX_PLANS.basic });

/** n8n runs tools in two ways: version 3 of the agent as nodes of their own, the earlier ones itself. */
describe.each([3, 2.2])('AI Agent %d', (typeVersion) => {
	let execution: Execution;
	/** What the model was told of its calls, in their order. */
	let told: string[];

	beforeAll(async () => {
		const { sandbox } = instance;
		sandbox.requests.length = 0;
		sandbox.faults.add({ email: buyer, drop: 'after', times: 1 });
		execution = await runAgent(typeVersion, [...calls, ...failing, purchase, purchase]);
		const { messages } = model.requests.at(-1)!;
		told = messages.filter(({ role }) => role === 'tool').map(({ content }) => content ?? '');
	});

	it('calls the operations with the arguments of the model', () => {
		const sent = instance.sandbox.requests.map(({ method, url }) => `${method} ${url}`);
		expect(sent.slice(0, calls.length)).toEqual(Object.values(tools).map(([, , , one]) => one));
		const answers = told.slice(0, calls.length).map((text) => JSON.parse(text) as unknown[]);
		expect(answers).toEqual(Object.values(tools).map(([, , , , one]) => [one]));
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
	});

	it('tells the model what each operation does, and what it bills', () => {
		const offered = model.requests.at(-1)!.tools;
		const told = new Map(offered.map(({ name, description }) => [name, description]));
		expect(told.size).toBe(calls.length);
		for (const [name, [, says]] of Object.entries(tools)) {
			expect([name, told.get(nameOf(name))]).toEqual([name, expect.stringMatching(says)]);
		}
		const { parameters } = offered.find(({ name }) => name === nameOf('plan.upgrade'))!;
		expect(parameters.required).toEqual(['email', 'planId']);
	});

	it('tells the model what went wrong and what to do, and goes on', () => {
		const [refused, unknown, empty] = told.slice(calls.length);
		expect(refused).toContain('The service answered: wrong plan ID (plan-upgrade-2)');
		expect(refused).toContain('Use the plan ID exactly as your account manager supplied it.');
		expect(unknown).toContain('There is no user nobody.');
		expect(empty).toContain("'Plan ID' is empty");
		expect(empty).toContain('Nothing was sent');
	});

	it('sends an upgrade whose outcome is unknown once, and another call as another purchase', () => {
		const [first, second] = told.slice(-2);
		expect(first).toContain('Outcome unknown');
		expect(first).toContain('Read the current state before you send it again');
		expect(second).toContain(SANDBOX_PLANS.basic);
		const upgrades = instance.sandbox.requests
			.filter(({ url }) => url === '/v1/plan/upgrade')
			.map(({ body }) => JSON.parse(body) as { email: string; planId: string });
		expect(upgrades.filter((one) => one.email === buyer)).toHaveLength(2);
		expect(upgrades.map(({ planId }) => planId)).not.toContain('');
	});
});

/** Lets an agent make these calls, one after the other. */
async function runAgent(typeVersion: number, script: ToolCall[]): Promise<Execution> {
	const { api } = instance;
	model.script([...script.map((call) => [call]), 'Done.']);
	const langchain = '@n8n/n8n-nodes-langchain';
	const prompt = { promptType: 'define', text: 'Go.', options: { maxIterations: 30 } };
	const llm = { model: { __rl: true, mode: 'id', value: 'scripted' } };
	const nodes = [
		start,
		{ name: 'Agent', type: `${langchain}.agent`, typeVersion, parameters: prompt },
		{
			name: 'Model',
			type: `${langchain}.lmChatOpenAi`,
			typeVersion: 1.2,
			parameters: llm,
			credentials,
		},
		...Object.entries(tools).map(([name, [parameters]]) => {
			const [resource, operation] = name.split('.');
			return {
				name: nameOf(name),
				type: `${actionType}Tool`,
				parameters: { resource, operation, ...parameters },
				credentials,
				retryOnFail: operation === 'upgrade',
				maxTries: 3,
				waitBetweenTries: 1,
			};
		}),
	];
	const toAgent = (type: 'ai_tool' | 'ai_languageModel') => ({
		[type]: [[{ node: 'Agent', type, index: 0 }]],
	});
	const connections = {
		...Object.fromEntries(calls.map(({ name }) => [name, toAgent('ai_tool')])),
		Agent: to([]),
		Model: toAgent('ai_languageModel'),
	};
	const id = await instance.createWorkflow(nodes, { connections });
	const execution = await api.waitForExecution(await api.runWorkflow(id, 'Start'));
	expect(execution.data.resultData.error).toBeUndefined();
	expect(outputOf(execution, 'Agent').map(({ json }) => json.output)).toEqual(['Done.']);
	return execution;
}
