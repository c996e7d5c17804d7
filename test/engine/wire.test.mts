import type { INodeParameters } from 'n8n-workflow';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import type { RecordedRequest } from '../../sandbox/server.mts';
import { byId } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

const { credential, run, sandbox } = useSandbox();

const titled = { field: [{ name: 'title', value: 'Engineer' }] };
const query = { queryParameters: { parameter: [{ name: 'full text', value: 'a&b' }] } };
const [email, planId] = ['nathan@example.com', 'plan_pro'];
const [userId, resumeId] = [byId('7'), byId('7')];

/** Each operation as it leaves n8n, against the partner API specification §4. */
test.each<[request: string, operation: string, parameters: INodeParameters, body?: object]>([
	['GET /v1/users', 'user.getAll', { returnAll: true }],
	['GET /v1/user/a%2Fb', 'user.get', { userId: byId('a/b') }],
	['POST /v1/user/token', 'user.getToken', { email: ` ${email} ` }, { email }],
	['GET /v1/user/7/resumes', 'resume.getAll', { userId }],
	['GET /v1/resume/7', 'resume.get', { resumeId }],
	[
		'POST /v1/user/7/resume',
		'resume.create',
		{ userId, bodyFields: titled },
		{ title: 'Engineer' },
	],
	['POST /v1/user/7/resume', 'resume.create', { userId, specifyBody: 'json', jsonBody: '{}' }, {}],
	['GET /v1/resume/7/download', 'resume.download', { resumeId }],
	['GET /v1/resume/7/score?full%20text=a%26b', 'resume.getScore', { resumeId, options: query }],
	['POST /v1/plan/upgrade', 'plan.upgrade', { email, planId, aiTokenId: ' ' }, { planId, email }],
	[
		'POST /v1/plan/upgrade',
		'plan.upgrade',
		{ email, planId, aiTokenId: 'ai-100' },
		{ planId, email, aiTokenId: 'ai-100' },
	],
	[
		'GET /v1/connect?full%20text=a%26b',
		'customRequest.get',
		{ path: ' /connect ', options: query },
	],
	...['POST', 'PUT', 'PATCH'].map((method): [string, string, INodeParameters, object] => [
		`${method} /v1/user/a%20b/%C3%A9/?full%20text=a%26b`,
		'customRequest.send',
		{ method, path: 'user/a b/é/', bodyFields: titled, options: query },
		{ title: 'Engineer' },
	]),
	['POST /v1/users:search;v=1', 'customRequest.send', { path: 'users:search;v=1' }, {}],
	['DELETE /v1/a%2Fb', 'customRequest.send', { method: 'DELETE', path: 'a%2Fb' }],
	[
		'DELETE /v1/a',
		'customRequest.send',
		{ method: 'DELETE', path: 'a', bodyFields: titled },
		{ title: 'Engineer' },
	],
])(
	'%s is sent as the specification writes it: %s %j',
	async (expected, name, parameters, ...[body]) => {
		const [resource, operation] = name.split('.') as [string, string];
		await run(
			{ resource, operation, ...parameters },
			{ credential: { ...credential(), baseUrl: `${credential().baseUrl}/` } },
		);
		const { requests } = sandbox();
		expect(requests).toHaveLength(1);
		const [request] = requests as [RecordedRequest];
		expect(`${request.method} ${request.url}`).toBe(expected);
		expect(request.headers.authentication).toBe(`Bearer ${SANDBOX_KEYS.live}`);
		expect(request.headers['content-type']).toBe('application/json');
		expect(request.headers).not.toHaveProperty('authorization');
		expect(request.rawHeaders).toContain('Authentication');
		expect(request.body === '' ? undefined : JSON.parse(request.body)).toEqual(body);
	},
);
