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

/** The node as a tool of n8n's AI Agent, with a chat model that makes the calls of a test. */

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

/** A read, a file and a write. */
const tools: Record<string, INodeParameters> = {
	user_get: { resource: 'user', operation: 'get', userId: byId(fromAi('userId')) },
	resume_download: {
		resource: 'resume',
		operation: 'download',
		resumeId: byId(fromAi('resumeId')),
	},
	plan_upgrade: {
		resource: 'plan',
		operation: 'upgrade',
		email: fromAi('email'),
		planId: fromAi('planId'),
	},
};

const call = (name: string, values: Record<string, string>): ToolCall => ({
	name,
	arguments: values,
});
const buyer = 'noah.fischer@example.com';
const purchase = call('plan_upgrade', { email: buyer, planId: SANDBOX_PLANS.basic });
const calls = [
	call('user_get', { userId: 'user-001' }),
	call('resume_download', { resumeId: 'resume-001' }),
	call('plan_upgrade', { email, planId: SANDBOX_PLANS.pro }),
	call('plan_upgrade', { email, planId: 'unknown' }),
	// The response to the first one is lost. Another call is another purchase.
	...[purchase, purchase],
];

// Version 3 runs tools as nodes of their own; earlier ones run them themselves.
test.each([3, 2.2])('AI Agent %d sends each call of the model once', async (typeVersion) => {
	const { sandbox } = instance;
	sandbox.requests.length = 0;
	sandbox.faults.add({ email: buyer, drop: 'after', times: 1 });
	const execution = await runAgent(typeVersion);
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

	const { messages, tools: offered } = model.requests.at(-1)!;
	expect(offered.find(({ name }) => name === 'plan_upgrade')).toMatchObject({
		description: expect.stringMatching(/This bills: each call may charge a payment/) as string,
		parameters: { required: ['email', 'planId'] },
	});
	const answers = messages.flatMap(({ role, content }) => (role === 'tool' ? [content!] : []));
	const [refused, unknown, upgraded] = answers.splice(3);
	expect(answers.map((text) => JSON.parse(text) as unknown)).toMatchObject([
		[{ email }],
		[{ fileName: 'Emma Larsen, Software Engineer.pdf', mimeType: 'application/pdf' }],
		[{ plan_id: SANDBOX_PLANS.pro }],
	]);
	expect(refused).toContain('The service reported: wrong plan ID (plan-upgrade-2)');
	expect(unknown).toContain('Outcome unknown');
	expect(unknown).toContain('Read the current state before you send it again');
	expect(upgraded).toContain(SANDBOX_PLANS.basic);
});

/** Runs an agent that makes the calls, one after the other. */
async function runAgent(typeVersion: number): Promise<Execution> {
	const { api } = instance;
	model.script([...calls.map((one) => [one]), 'Done.']);
	const langchain = '@n8n/n8n-nodes-langchain';
	const prompt = { promptType: 'define', text: 'Go.', options: { maxIterations: 30 } };
	const nodes = [
		start,
		{ name: 'Agent', type: `${langchain}.agent`, typeVersion, parameters: prompt },
		{
			name: 'Model',
			type: `${langchain}.lmChatOpenAi`,
			typeVersion: 1.2,
			parameters: { model: { __rl: true, mode: 'id', value: 'scripted' } },
			credentials,
		},
		...Object.entries(tools).map(([name, parameters]) => ({
			...{ name, type: `${actionType}Tool`, parameters, credentials },
			...{ retryOnFail: parameters.operation === 'upgrade', maxTries: 3, waitBetweenTries: 1 },
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
	const id = await instance.createWorkflow(nodes, { connections });
	return await api.waitForExecution(await api.runWorkflow(id, 'Start'));
}
