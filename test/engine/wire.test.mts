import type { INodeParameters } from 'n8n-workflow';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import type { RecordedRequest } from '../../sandbox/server.mts';
import { documentedOperations, judgeRequest } from '../support/openapi.mts';
import { offered } from '../support/operations.mts';
import { byId } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

const { credential, run, sandbox } = useSandbox();

const title = { title: 'Engineer' };
const titled = { bodyFields: { field: [{ name: 'title', value: 'Engineer' }] } };
const options = { queryParameters: { parameter: [{ name: 'full text', value: 'a&b' }] } };
const [email, planId, aiTokenId] = ['nathan@example.com', 'plan_pro', 'ai-100'];
const bought = { planId, email };
const [userId, resumeId] = [byId('7'), byId('7')];
const emptyJson = { specifyBody: 'json', jsonBody: '{}' };
const custom = (method: string, path: string, more = {}) => ({ method, path, ...more });

/** The requests of all operations (partner API specification, §4). */
const rows: Array<[request: string, name: string, parameters: INodeParameters, body?: object]> = [
	['GET /v1/users', 'user.getAll', { returnAll: true }],
	['GET /v1/user/a%2Fb', 'user.get', { userId: byId('a/b') }],
	['POST /v1/user/token', 'user.getToken', { email: ` ${email} ` }, { email }],
	['POST /v1/connect', 'user.connect', { email }, { email }],
	['GET /v1/user/7/resumes', 'resume.getAll', { userId }],
	['GET /v1/resume/7', 'resume.get', { resumeId }],
	['POST /v1/user/7/resume', 'resume.create', { userId, ...titled }, title],
	['POST /v1/user/7/resume', 'resume.create', { userId, ...emptyJson }, {}],
	['GET /v1/resume/7/download', 'resume.download', { resumeId }],
	['GET /v1/resume/7/score?full%20text=a%26b', 'resume.getScore', { resumeId, options }],
	['POST /v1/plan/upgrade', 'plan.upgrade', { ...bought, aiTokenId: ' ' }, bought],
	['POST /v1/plan/upgrade', 'plan.upgrade', { ...bought, aiTokenId }, { ...bought, aiTokenId }],
	['GET /v1/connect?full%20text=a%26b', 'customRequest.get', { path: ' /connect ', options }],
	['POST /v1/a%3Ab/c%3D%24%26', 'customRequest.send', custom('POST', '/a:b/c=$&'), {}],
	['PUT /v1/a%20b?full%20text=a%26b', 'customRequest.send', custom('PUT', 'a b', { options }), {}],
	['PATCH /v1/%C3%A9', 'customRequest.send', custom('PATCH', 'é', titled), title],
	['DELETE /v1/a%2Fb', 'customRequest.send', custom('DELETE', 'a%2Fb')],
	['DELETE /v1/a', 'customRequest.send', custom('DELETE', 'a', titled), title],
];

/** Writes that do no harm if they are sent twice. */
const REPEATABLE = ['user.connect', 'user.getToken'];

const documented = documentedOperations();
const named = offered().map((all) => ({ ...all, name: `${all.resource}.${all.value}` }));
const ownPaths = named.filter(({ resource }) => resource !== 'customRequest');

test.each(ownPaths)('$name is in the OpenAPI document, and has a row in this test', (operation) => {
	const { name, method, path, write = false, description, fields } = operation;
	const request = `${method} ${path.replace(/:(\w+)/g, '{$1}')}`;
	const entry = documented.find(({ operationId }) => operationId === name);
	const isRead = method === 'GET';
	const hasKey = fields.some((field) => field.name === 'sendOnceKey');
	expect([
		entry?.request !== request &&
			`Add ${request} with the operationId ${name} to openapi/partner-api.yaml`,
		!rows.some((row) => row[1] === name) && `Add a row for ${name} to test/engine/wire.test.mts`,
		write === isRead && `Set write of ${name} to ${!isRead}, because it sends ${method}`,
		description.includes('Changes nothing.') !== isRead &&
			`Say in the description of ${name} what it changes or bills`,
		!(isRead || hasKey || REPEATABLE.includes(name)) &&
			`Add sendOnceKey to the fields of ${name}, or add ${name} to REPEATABLE in this test`,
	]).toEqual(Array(5).fill(false));
});

const registry = 'nodes/ResumeManagement/operations/index.ts';

test('the node offers each operation of the OpenAPI document', () => {
	const names = named.map(({ name }) => name);
	const missing = documented.filter(({ operationId }) => !names.includes(operationId));
	expect(missing.map(({ operationId }) => `Add ${operationId} to ${registry}`)).toEqual([]);
});

test(`${registry} has the operations in alphabetical order`, () => {
	const names = offered().map(({ resource, name }) => `${resource} ${name}`);
	expect(names).toEqual(names.toSorted());
});

test.each(rows)('%s is sent by %s with %j', async (...[line, name, parameters, body]) => {
	const [resource, operation] = name.split('.') as [string, string];
	await run(
		{ resource, operation, ...parameters },
		{ credential: { ...credential(), baseUrl: `${credential().baseUrl}//` } },
	);
	const { requests } = sandbox();
	expect(requests).toHaveLength(1);
	const [request] = requests as [RecordedRequest];
	expect(`${request.method} ${request.url}`).toBe(line);
	const entry = documented.find(({ operationId }) => operationId === name);
	if (entry) expect(judgeRequest(entry, request)).toBe('');
	expect(request.headers.authentication).toBe(`Bearer ${SANDBOX_KEYS.live}`);
	expect(request.headers['content-type']).toBe('application/json');
	expect(request.headers).not.toHaveProperty('authorization');
	expect(request.rawHeaders).toContain('Authentication');
	expect(request.body === '' ? undefined : JSON.parse(request.body)).toEqual(body);
});
