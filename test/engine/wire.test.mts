import { type RecordedRequest, type Sandbox, startSandbox } from '../../sandbox/server.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { runNode } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await startSandbox({ port: 0, record: true });
});
afterAll(() => sandbox.close());

const field = (name: string, value: string) => ({ field: [{ name, value }] });

/** Each operation as it leaves n8n, against the partner API specification §4. */
const operations = [
	{
		parameters: { resource: 'user', operation: 'getAll', returnAll: true },
		request: 'GET /v1/users',
	},
	{
		parameters: { resource: 'user', operation: 'get', userId: byId('a/b') },
		request: 'GET /v1/user/a%2Fb',
	},
	{
		parameters: { resource: 'user', operation: 'getToken', email: ' nathan@example.com ' },
		request: 'POST /v1/user/token',
		body: { email: 'nathan@example.com' },
	},
	{
		parameters: { resource: 'resume', operation: 'getAll', userId: byId('7') },
		request: 'GET /v1/user/7/resumes',
	},
	{
		parameters: { resource: 'resume', operation: 'get', resumeId: byId('7') },
		request: 'GET /v1/resume/7',
	},
	{
		parameters: {
			resource: 'resume',
			operation: 'create',
			userId: byId('7'),
			bodyFields: field('title', 'Engineer'),
		},
		request: 'POST /v1/user/7/resume',
		body: { title: 'Engineer' },
	},
	{
		parameters: {
			resource: 'resume',
			operation: 'create',
			userId: byId('7'),
			specifyBody: 'json',
			jsonBody: '{}',
		},
		request: 'POST /v1/user/7/resume',
		body: {},
	},
	{
		parameters: { resource: 'resume', operation: 'download', resumeId: byId('7') },
		request: 'GET /v1/resume/7/download',
	},
	{
		parameters: {
			resource: 'resume',
			operation: 'getScore',
			resumeId: byId('7'),
			options: { queryParameters: { parameter: [{ name: 'full text', value: 'a&b' }] } },
		},
		request: 'GET /v1/resume/7/score?full%20text=a%26b',
	},
	{
		parameters: {
			resource: 'plan',
			operation: 'upgrade',
			email: 'nathan@example.com',
			planId: SANDBOX_PLANS.pro,
			aiTokenId: ' ',
		},
		request: 'POST /v1/plan/upgrade',
		body: { planId: SANDBOX_PLANS.pro, email: 'nathan@example.com' },
	},
	{
		parameters: {
			resource: 'plan',
			operation: 'upgrade',
			email: 'nathan@example.com',
			planId: SANDBOX_PLANS.pro,
			aiTokenId: 'ai-100',
		},
		request: 'POST /v1/plan/upgrade',
		body: { planId: SANDBOX_PLANS.pro, email: 'nathan@example.com', aiTokenId: 'ai-100' },
	},
];

test.each(operations)('$request is sent as the specification writes it', async (operation) => {
	sandbox.requests.length = 0;
	await runNode({
		parameters: operation.parameters,
		credential: { baseUrl: `${sandbox.baseUrl}/`, privateKey: SANDBOX_KEYS.live },
	});
	expect(sandbox.requests).toHaveLength(1);
	const [request] = sandbox.requests as [RecordedRequest];
	expect(`${request.method} ${request.url}`).toBe(operation.request);
	expect(request.headers.authentication).toBe(`Bearer ${SANDBOX_KEYS.live}`);
	expect(request.headers['content-type']).toBe('application/json');
	expect(request.headers).not.toHaveProperty('authorization');
	expect(request.rawHeaders).toContain('Authentication');
	expect(request.body === '' ? undefined : JSON.parse(request.body)).toEqual(operation.body);
});
