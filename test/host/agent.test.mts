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
const fromAi = (name: string) => `={{ $fromAI('${name}', 'The ${name}', 'string') }}`;

/**
 * A tool of each kind, with whatever it requires filled in by the model: what the model is told of it, a
 * call, what that sends, and what the model is told of the answer. All of them: test/engine/pipeline.test.mts.
 */
const tools: Record<
	string,
	[INodeParameters, RegExp, call: Record<string, string>, sent: string, answer: unknown]
> = {
	'user.get': [
		{ userId: byId(fromAi('userId')) },
		/Changes nothing\.$/,
		{ userId: 'user-001' },
		'GET /v1/user/user-001',
		expect.objectContaining({ email }),
	],
	'resume.download': [
		{ resumeId: byId(fromAi('resumeId')) },
		/Changes nothing\.$/,
		{ resumeId: 'resume-001' },
		'GET /v1/resume/resume-001/download',
		{ fileName: 'Emma Larsen, Software Engineer.pdf', mimeType: 'application/pdf' },
	],
	'plan.upgrade': [
		{ email: fromAi('email'), planId: fromAi('planId') },
		/This bills: each call may charge a payment/,
		{ email, planId: SANDBOX_PLANS.pro },
		'POST /v1/plan/upgrade',
		expect.objectContaining({ plan_id: SANDBOX_PLANS.pro }),
	],
};

const nameOf = (operation: string) => operation.replace('.', '_');
const call = (operation: string, given: Record<string, string>): ToolCall => ({
	name: nameOf(operation),
	arguments: given,
});
const calls = Object.entries(tools).map(([name, [, , given]]) => call(name, given));
/** What the model is told of it: test/engine/tool.test.mts. */
const failing = call('plan.upgrade', { email, planId: 'unknown' });
/** Its answer is lost the first time. */
const buyer = 'noah.fischer@example.com';
const purchase = call('plan.upgrade', { email: buyer, planId: SANDBOX_PLANS.basic });

/** n8n runs tools in two ways: version 3 of the agent as nodes of their own, the earlier ones itself. */
test.each([3, 2.2])(
	'AI Agent %d calls the tools that the model wants, each once',
	async (typeVersion) => {
		const { sandbox } = instance;
		sandbox.requests.length = 0;
		sandbox.faults.add({ email: buyer, drop: 'after', times: 1 });
		const execution = await runAgent(typeVersion, [...calls, failing, purchase, purchase]);
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);

		const request = model.requests.at(-1)!;
		const described = request.tools.map(({ name, description }) => [name, description]);
		const expected = Object.entries(tools).map(([name, [, says]]) => [
			nameOf(name),
			expect.stringMatching(says) as string,
		]);
		expect(described.sort()).toEqual(expected.sort());
		const { parameters } = request.tools.find(({ name }) => name === nameOf('plan.upgrade'))!;
		expect(parameters.required).toEqual(['email', 'planId']);

		const sent = sandbox.requests.map(({ method, url }) => `${method} ${url}`);
		expect(sent.slice(0, calls.length)).toEqual(Object.values(tools).map(([, , , one]) => one));
		// Another call is another purchase, but none is repeated by itself.
		expect(sandbox.requests.filter(({ body }) => body.includes(buyer))).toHaveLength(2);
		const told = request.messages.flatMap(({ role, content }) =>
			role === 'tool' ? [content!] : [],
		);
		const [refused, first, second] = told.splice(calls.length);
		expect(told.map((text) => JSON.parse(text) as unknown)).toEqual(
			Object.values(tools).map(([, , , , answer]) => [answer]),
		);
		expect(refused).toContain('The service answered: wrong plan ID (plan-upgrade-2)');
		expect(first).toContain('Outcome unknown');
		expect(first).toContain('Read the current state before you send it again');
		expect(second).toContain(SANDBOX_PLANS.basic);
	},
);

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
	expect(outputOf(execution, 'Agent').map(({ json }) => json.output)).toEqual(['Done.']);
	return execution;
}
