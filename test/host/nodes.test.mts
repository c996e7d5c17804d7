import axios from 'axios';
import type { INodeExecutionData } from 'n8n-workflow';
import { connectExamples } from '../../host/events.mts';
import { freePort } from '../../host/ports.mts';
import type { CredentialTestResult, Execution } from '../../host/rest.mts';
import { prepareWorkspace } from '../../host/workspace.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startInstance, startMilliseconds, webhookSecret, type Instance } from './instance.mts';

let instance: Instance;

beforeAll(async () => {
	instance = await startInstance();
}, startMilliseconds);

afterAll(async () => {
	await instance?.close();
}, 60_000);

/** Items of a node's output in its only run. */
function output(execution: Execution, node: string, index = 0): INodeExecutionData[] {
	return execution.data.resultData.runData[node]?.[0]?.data?.main?.[index] ?? [];
}

describe('the package in n8n', () => {
	it('registers the node and the credential under their public names', async () => {
		const nodes = await instance.api.nodeTypes();
		const node = nodes.find(({ name }) => name === 'n8n-nodes-resume-management.resumeManagement');
		expect(node).toMatchObject({ displayName: 'Resume Management', version: 1 });

		const credentials = await instance.api.credentialTypes();
		const credential = credentials.find(({ name }) => name === 'resumeManagementApi');
		expect(credential?.displayName).toBe('Resume Management API');
		expect(credential?.properties.map(({ name }) => name)).toEqual(
			expect.arrayContaining(['baseUrl', 'privateKey', 'webhookSecret']),
		);
	});

	it('serves the output schemas where the editor asks for them', async () => {
		for (const [path, field] of [
			['resumeManagement/1.0.0/plan/upgrade', 'plan_id'],
			['resumeManagement/1.0.0/user/getToken', 'token'],
			['resumeManagementTrigger/1.0.0', 'deliveryId'],
		]) {
			const address = `/schemas/n8n-nodes-resume-management.${path}.json`;
			const { data } = await axios.get<{ properties: object }>(instance.n8n.url + address);
			expect(data.properties).toHaveProperty(field!);
		}
	});

	it('is set up once, however often the launcher runs', async () => {
		const { api, n8n, sandbox, examples } = instance;
		const { webhooks } = sandbox;
		const access = {
			baseUrl: sandbox.baseUrl,
			privateKey: SANDBOX_KEYS.live,
			webhookSecret: '',
		};
		expect(await prepareWorkspace(api, access)).toEqual(examples);
		expect(await api.listWorkflows()).toHaveLength(examples.length);
		expect(await api.listCredentials()).toHaveLength(2);
		expect(await api.listDataTables()).toHaveLength(3);

		const route = { api, editorUrl: n8n.url, webhooks, secret: webhookSecret };
		const registered = webhooks.list();
		expect(await connectExamples(route, examples)).toEqual([]);
		expect(webhooks.list()).toEqual(registered);
		expect(registered).toEqual([
			expect.objectContaining({ style: 'header', headerName: 'X-Webhook-Secret' }),
		]);

		// n8n on another port: the address from before would reach nobody.
		const editorUrl = 'http://127.0.0.1:1';
		await connectExamples({ ...route, editorUrl }, examples);
		expect(webhooks.list().map(({ url }) => new URL(url).origin)).toEqual([editorUrl]);
		await connectExamples(route, examples);
	});
});

describe("the credential's Test button", () => {
	async function press(data: {
		baseUrl?: string;
		privateKey?: string;
	}): Promise<CredentialTestResult> {
		const credential = {
			baseUrl: instance.sandbox.baseUrl,
			privateKey: SANDBOX_KEYS.live,
			...data,
		};
		const name = 'Resume Management API';
		return await instance.api.testCredential({
			name,
			type: 'resumeManagementApi',
			data: credential,
		});
	}

	/** Puts what a person reads beside the assertion, in the test's output. */
	async function refusal(data: { baseUrl?: string; privateKey?: string }): Promise<string> {
		const { status, message } = await press(data);
		process.stderr.write(`  Test button, ${expect.getState().currentTestName}: ${message}\n`);
		expect(status).toBe('Error');
		return message;
	}

	it('accepts the live key', async () => {
		expect(await press({})).toMatchObject({ status: 'OK' });
		expect(instance.sandbox.requests.at(-1)).toMatchObject({
			method: 'GET',
			url: '/v1/users',
			headers: {
				authentication: `Bearer ${SANDBOX_KEYS.live}`,
				'content-type': 'application/json',
			},
		});
	});

	it('names the key when the service does not know it', async () => {
		expect(await refusal({ privateKey: 'not-a-key' })).toMatch(/key/i);
	});

	it('names the base URL when another program answers there', async () => {
		expect(await refusal({ baseUrl: `${instance.n8n.url}/v1` })).toMatch(/base url/i);
	});

	it('fails when the service knows no such address', async () => {
		expect(await refusal({ baseUrl: `${instance.sandbox.url}/other/v1` })).toMatch(
			/Base URL is the address/,
		);
	});

	it.each([
		['has no version segment', () => instance.sandbox.url],
		['is plain http on another host', () => 'http://api.example.com/v1'],
	])('sends the key nowhere when the base URL %s', async (_, baseUrl) => {
		const before = instance.sandbox.requests.length;
		expect(await refusal({ baseUrl: baseUrl() })).toMatch(/^Base URL must start with https/);
		expect(instance.sandbox.requests).toHaveLength(before);
	});

	/** n8n 2 shows the bare code: n8n/src/services/credentials-tester.service.ts, runRequestTest. */
	it('says that a host is unreachable', async () => {
		const baseUrl = `http://127.0.0.1:${await freePort()}/v1`;
		expect(await refusal({ baseUrl })).toMatch(
			/^(ECONNREFUSED|The service refused the connection.*)$/,
		);
	});

	it('takes a 200 with status "error" for a failure', async () => {
		const body = JSON.stringify({ status: 'error', errorCode: 'any-code' });
		instance.sandbox.faults.add({ path: '/users', times: 1, answer: { status: 200, body } });
		expect(await refusal({})).toMatch(/^The service refused the request/);
	});

	it('takes a server error for a failure', async () => {
		const answer = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad</h1>' };
		instance.sandbox.faults.add({ path: '/users', times: 1, answer });
		expect(await refusal({})).toMatch(/^Something answered at this address/);
	});
});

describe('workflows/plan-upgrade.json', () => {
	let execution: Execution;

	beforeAll(async () => {
		execution = await instance.runExample('plan-upgrade');
	});

	it('succeeds, and the service has upgraded whom it says', () => {
		expect(execution.status).toBe('success');
		const upgrades = instance.sandbox.database
			.prepare('SELECT email, plan_id AS planId FROM upgrades ORDER BY id')
			.all();
		expect(upgrades.map((row) => ({ ...row }))).toEqual([
			{ email: 'emma.larsen@example.com', planId: 'plan_premium' },
			{ email: 'noah.fischer@example.com', planId: 'plan_pro' },
		]);
		expect(output(execution, 'Upgraded').map(({ json }) => json.summary)).toEqual([
			expect.stringMatching(
				/^emma\.larsen@example\.com is on plan_premium until \d{4}-\d\d-\d\d\.$/,
			),
			expect.stringMatching(/^noah\.fischer@example\.com is on plan_pro until \d{4}-\d\d-\d\d\.$/),
		]);
	});

	it('has the failed item on the error output, paired, with its error as data', () => {
		expect(output(execution, 'Upgrade plan', 0).map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
		]);
		expect(output(execution, 'Upgrade plan', 1)).toEqual([
			expect.objectContaining({
				pairedItem: { item: 2 },
				json: expect.objectContaining({
					error: {
						message: expect.stringContaining('wrong plan ID'),
						code: 'plan-upgrade-2',
						httpStatus: 401,
						description: expect.stringMatching(/account manager/),
					},
				}),
			}),
		]);
		const json = output(execution, 'Not upgraded')[0]?.json;
		expect(json?.code).toBe('plan-upgrade-2');
		expect(json?.summary).toMatch(
			/^olivia\.martin@example\.com was not upgraded to plan_that_does_not_exist: .*wrong plan ID/,
		);
	});

	it('leaves the private key out of the execution', () => {
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
	});
});

describe('workflows/users-resumes-scores.json', () => {
	it('keeps one row a resume, however often it runs', async () => {
		const { sandbox } = instance;
		const resumes = sandbox.database
			.prepare(
				`SELECT resumes.id AS resumeId, title, users.id AS userId, email
				FROM resumes JOIN users ON users.id = user_id ORDER BY resumes.id`,
			)
			.all();
		for (const run of ['first', 'second']) {
			const execution = await instance.runExample('users-resumes-scores');
			expect([run, execution.status]).toEqual([run, 'success']);
			expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);

			const rows = await instance.readTable('Resume scores');
			const kept = rows
				.map(({ resumeId, title, userId, email }) => ({ resumeId, title, userId, email }))
				.sort((a, b) => (String(a.resumeId) < String(b.resumeId) ? -1 : 1));
			expect(kept).toEqual(resumes.map((row) => ({ ...row })));
			expect(rows.every(({ score }) => typeof score === 'number' && score > 0)).toBe(true);
		}
	}, 120_000);
});

describe("n8n's HTTP Request node", () => {
	it('reaches the service with the predefined credential', async () => {
		const { api, sandbox } = instance;
		const credentials = await api.listCredentials();
		const credential = credentials.find(({ type }) => type === 'resumeManagementApi');
		const { id } = await api.createWorkflow({
			name: 'Custom API call',
			nodes: [
				{
					id: 'start',
					name: 'Start',
					type: 'n8n-nodes-base.manualTrigger',
					typeVersion: 1,
					position: [0, 0],
					parameters: {},
				},
				{
					id: 'call',
					name: 'Call',
					type: 'n8n-nodes-base.httpRequest',
					typeVersion: 4.2,
					position: [200, 0],
					parameters: {
						url: `${sandbox.baseUrl}/users?limit=2`,
						authentication: 'predefinedCredentialType',
						nodeCredentialType: 'resumeManagementApi',
					},
					credentials: {
						resumeManagementApi: { id: credential?.id ?? '', name: credential?.name ?? '' },
					},
				},
			],
			connections: { Start: { main: [[{ node: 'Call', type: 'main', index: 0 }]] } },
		});
		const execution = await api.waitForExecution(await api.runWorkflow(id, 'Start'));

		expect(execution.status).toBe('success');
		expect(output(execution, 'Call')[0]?.json).toMatchObject({ status: 'success' });
		const request = sandbox.requests.at(-1);
		expect(request?.url).toBe('/v1/users?limit=2');
		expect(request?.headers.authentication).toBe(`Bearer ${SANDBOX_KEYS.live}`);
		expect(request?.headers['content-type']).toBe('application/json');
		expect(request?.headers).not.toHaveProperty('authorization');
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
	});
});

/** Last in the file: by now n8n has logged everything above. */
describe("n8n's log", () => {
	it('holds neither the private key nor the webhook secret', () => {
		const log = instance.n8n.log();
		expect(log).toContain('n8n ready');
		expect(log).not.toContain(SANDBOX_KEYS.live);
		expect(log).not.toContain(webhookSecret);
	});
});
