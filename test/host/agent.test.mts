import type { INode } from 'n8n-workflow';
import type { Credential, Execution } from '../../host/rest.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byId } from '../support/parameters.mts';
import {
	startScriptedModel,
	type ScriptedModel,
	type ToolCall,
} from '../support/scriptedModel.mts';
import { joinInstance, outputOf, type SharedInstance } from './instance.mts';

/** The node as the tools of n8n's AI Agent, with a chat model that calls what a test tells it. */

let instance: SharedInstance;
let model: ScriptedModel;
let service: Credential;
let openAi: Credential;

beforeAll(async () => {
	instance = await joinInstance();
	model = await startScriptedModel();
	const { api, sandbox } = instance;
	const { baseUrl } = sandbox;
	service = await api.createCredential({
		name: 'Sandbox',
		type: 'resumeManagementApi',
		data: { baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret: '' },
	});
	openAi = await api.createCredential({
		name: 'Scripted model',
		type: 'openAiApi',
		data: { apiKey: 'none', url: model.baseUrl },
	});
});

afterAll(async () => {
	await model?.close();
	await instance?.close();
});

const fromAi = (name: string) => `={{ $fromAI('${name}', 'The ${name}', 'string') }}`;

/** Operations, with whatever they require filled in by the model. */
const tools: Record<string, Record<string, unknown>> = {
	Get_users: { resource: 'user', operation: 'getAll', limit: 2 },
	Get_user: { resource: 'user', operation: 'get', userId: byId(fromAi('userId')) },
	Get_token: { resource: 'user', operation: 'getToken', email: fromAi('email') },
	Get_resumes: { resource: 'resume', operation: 'getAll', userId: byId(fromAi('userId')) },
	Get_resume: { resource: 'resume', operation: 'get', resumeId: byId(fromAi('resumeId')) },
	Create_resume: {
		resource: 'resume',
		operation: 'create',
		userId: byId(fromAi('userId')),
		bodyFields: { field: [{ name: 'title', value: fromAi('title') }] },
	},
	Download: { resource: 'resume', operation: 'download', resumeId: byId(fromAi('resumeId')) },
	Get_score: { resource: 'resume', operation: 'getScore', resumeId: byId(fromAi('resumeId')) },
	Upgrade: {
		resource: 'plan',
		operation: 'upgrade',
		email: fromAi('email'),
		planId: fromAi('planId'),
	},
	Read_path: { resource: 'customRequest', operation: 'get', path: fromAi('path') },
	Send_request: {
		resource: 'customRequest',
		operation: 'send',
		path: fromAi('path'),
		bodyFields: { field: [{ name: 'email', value: fromAi('email') }] },
	},
};

const email = 'emma.larsen@example.com';
const calls: ToolCall[] = [
	{ name: 'Get_users', arguments: {} },
	{ name: 'Get_user', arguments: { userId: 'user-001' } },
	{ name: 'Get_token', arguments: { email } },
	{ name: 'Get_resumes', arguments: { userId: 'user-001' } },
	{ name: 'Get_resume', arguments: { resumeId: 'resume-001' } },
	{ name: 'Create_resume', arguments: { userId: 'user-001', title: 'By an agent' } },
	{ name: 'Download', arguments: { resumeId: 'resume-001' } },
	{ name: 'Get_score', arguments: { resumeId: 'resume-001' } },
	{ name: 'Upgrade', arguments: { email, planId: SANDBOX_PLANS.pro } },
	{ name: 'Read_path', arguments: { path: 'user/user-001' } },
	{ name: 'Send_request', arguments: { path: 'connect', email } },
];
const failing: ToolCall[] = [
	{ name: 'Upgrade', arguments: { email, planId: 'unknown' } },
	{ name: 'Get_user', arguments: { userId: 'nobody' } },
	{ name: 'Upgrade', arguments: { email, planId: '' } },
];
/** Its answer is lost the first time. */
const buyer = 'noah.fischer@example.com';
const purchase = { name: 'Upgrade', arguments: { email: buyer, planId: SANDBOX_PLANS.basic } };

/** n8n runs tools in two ways: version 3 of the agent as nodes of their own, the earlier ones itself. */
describe.each([3, 2.2])('AI Agent %d', (typeVersion) => {
	let execution: Execution;
	/** What arrived at the service, and what the model was told of its calls, in their order. */
	let sent: string[];
	let told: string[];

	beforeAll(async () => {
		const { sandbox } = instance;
		sandbox.requests.length = 0;
		sandbox.faults.add({ email: buyer, drop: 'after', times: 1 });
		execution = await runAgent(typeVersion, [...calls, ...failing, purchase, purchase]);
		sent = sandbox.requests.map(({ method, url }) => `${method} ${url}`);
		const { messages } = model.requests.at(-1)!;
		told = messages.filter(({ role }) => role === 'tool').map(({ content }) => content ?? '');
	});

	it('calls the operations with the arguments of the model', () => {
		expect(sent.slice(0, calls.length)).toEqual([
			'GET /v1/users',
			'GET /v1/user/user-001',
			'POST /v1/user/token',
			'GET /v1/user/user-001/resumes',
			'GET /v1/resume/resume-001',
			'POST /v1/user/user-001/resume',
			'GET /v1/resume/resume-001/download',
			'GET /v1/resume/resume-001/score',
			'POST /v1/plan/upgrade',
			'GET /v1/user/user-001',
			'POST /v1/connect',
		]);
		const [users, ...others] = told
			.slice(0, calls.length)
			.map((answer) => JSON.parse(answer) as object[]);
		expect(users).toHaveLength(2);
		expect(others).toEqual([
			[expect.objectContaining({ id: 'user-001', email })],
			[{ token: expect.any(String) }],
			expect.arrayContaining([expect.objectContaining({ id: 'resume-001' })]),
			[expect.objectContaining({ id: 'resume-001', sections: expect.any(Array) })],
			[expect.objectContaining({ userId: 'user-001', title: 'By an agent' })],
			[{ fileName: 'Emma Larsen, Software Engineer.pdf', mimeType: 'application/pdf' }],
			[expect.objectContaining({ score: expect.any(Number) })],
			[expect.objectContaining({ plan_id: SANDBOX_PLANS.pro })],
			[expect.objectContaining({ id: 'user-001', email })],
			[{ token: expect.any(String) }],
		]);
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
	});

	it('tells the model what each operation does, and what it bills', () => {
		const offered = model.requests.at(-1)!.tools;
		const descriptions = new Map(offered.map((tool) => [tool.name, tool.description]));
		expect([...descriptions.keys()].sort()).toEqual(Object.keys(tools).sort());
		const writes: Record<string, RegExp> = {
			Upgrade: /This bills: each call may charge a payment/,
			Create_resume: /Each call creates another resume/,
			Get_token: /issues a secret/,
			Send_request: /may change or delete data, or bill/,
		};
		for (const [name, description] of descriptions) {
			expect([name, description]).toEqual([
				name,
				expect.stringMatching(writes[name] ?? /Changes nothing\.$/),
			]);
		}
		const upgrade = offered.find(({ name }) => name === 'Upgrade');
		expect(upgrade!.parameters.required).toEqual(['email', 'planId']);
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
	const nodes: INode[] = [
		plain('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
		plain('Agent', `${langchain}.agent`, typeVersion, {
			promptType: 'define',
			text: 'Go.',
			options: { maxIterations: 30 },
		}),
		{
			...plain('Model', `${langchain}.lmChatOpenAi`, 1.2, {
				model: { __rl: true, mode: 'id', value: 'scripted' },
			}),
			credentials: { openAiApi: openAi },
		},
		...Object.entries(tools).map(([name, parameters]) => ({
			...plain(name, 'n8n-nodes-resume-management.resumeManagementTool', 1, parameters),
			credentials: { resumeManagementApi: service },
			retryOnFail: parameters.operation === 'upgrade',
			maxTries: 3,
			waitBetweenTries: 1,
		})),
	];
	const toAgent = (type: 'main' | 'ai_tool' | 'ai_languageModel') => ({
		[type]: [[{ node: 'Agent', type, index: 0 }]],
	});
	const { id } = await api.createWorkflow({
		name: 'Agent',
		nodes,
		connections: {
			Start: toAgent('main'),
			Model: toAgent('ai_languageModel'),
			...Object.fromEntries(Object.keys(tools).map((name) => [name, toAgent('ai_tool')])),
		},
		settings: { executionOrder: 'v1' },
	});
	const execution = await api.waitForExecution(await api.runWorkflow(id, 'Start'));
	expect(execution.data.resultData.error).toBeUndefined();
	expect(outputOf(execution, 'Agent').map(({ json }) => json.output)).toEqual(['Done.']);
	return execution;
}

function plain(name: string, type: string, typeVersion: number, parameters: object): INode {
	return { id: name, name, type, typeVersion, position: [0, 0], parameters: parameters as never };
}
