import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { freePort } from '../../host/ports.mts';
import type { Execution } from '../../host/rest.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byEmail, byId } from '../support/parameters.mts';
import type { CredentialTestResult } from '../support/testApi.mts';
import { joinInstance, outputOf, type NodeToRun, type SharedInstance } from './instance.mts';
import { tested } from './sharedN8n.mts';

/** The package in a real n8n, node by node. */

const type = 'n8n-nodes-resume-management.resumeManagement';

let instance: SharedInstance;

beforeAll(async () => {
	instance = await joinInstance();
});

afterAll(async () => await instance?.close());

/** Runs the node with the sandbox's credential. */
async function run(parameters: INodeParameters, more: Partial<NodeToRun> = {}): Promise<Execution> {
	const credentials = await instance.addCredential();
	return await instance.runNode({ type, parameters, credentials, ...more });
}

/** Rows of the sandbox's database. */
function query(sql: string, ...values: string[]): IDataObject[] {
	const rows = instance.sandbox.database.prepare(sql).all(...values);
	return rows.map((row) => ({ ...row }) as IDataObject);
}

describe('node types', () => {
	it('are registered under their public names, with the credential type', async () => {
		const nodes = await instance.api.nodeTypes();
		const found = nodes.filter(({ name }) => name.startsWith('n8n-nodes-resume-management.'));
		expect(found.map(({ name, displayName, version }) => [name, displayName, version])).toEqual(
			expect.arrayContaining([
				[type, 'Resume Management', 1],
				[`${type}Trigger`, 'Resume Management Trigger', 1.1],
			]),
		);

		const credentials = await instance.api.credentialTypes();
		const credential = credentials.find(({ name }) => name === 'resumeManagementApi');
		expect(credential?.displayName).toBe('Resume Management API');
		expect(credential?.properties.map(({ name }) => name)).toEqual(
			expect.arrayContaining(['baseUrl', 'privateKey', 'webhookSecret', 'olderWebhookSecret']),
		);
	});
});

describe('credential test', () => {
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
		expect(await refusal({ baseUrl: `${instance.url}/v1` })).toMatch(/base url/i);
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

describe('operations', () => {
	const userId = byId('user-001');
	const resumeId = byId('resume-001');
	const email = 'emma.larsen@example.com';

	/** What the one item in gives out, each item of it paired. */
	async function results(parameters: INodeParameters): Promise<IDataObject[]> {
		const execution = await run(parameters);
		expect(execution.status).toBe('success');
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
		const items = outputOf(execution);
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(items.map(() => ({ item: 0 })));
		return items.map(({ json }) => json);
	}

	const tested: Record<string, (operation: INodeParameters) => Promise<void>> = {
		'user.getAll': async (operation) => {
			const users = await results({ ...operation, limit: 2 });
			const rows = query('SELECT id, email FROM users ORDER BY id LIMIT 2');
			expect(users).toEqual(rows.map((row) => expect.objectContaining(row)));
		},
		'user.get': async (operation) => {
			expect(await results({ ...operation, userId })).toEqual([
				expect.objectContaining({ id: 'user-001', email }),
			]);
		},
		'user.getToken': async (operation) => {
			const [answer] = await results({ ...operation, email });
			const claims = Buffer.from(String(answer!.token).split('.')[1]!, 'base64url').toString();
			expect(JSON.parse(claims)).toMatchObject({ sub: 'user-001' });
		},
		'resume.getAll': async (operation) => {
			const resumes = await results({ ...operation, userId, returnAll: true });
			const rows = query("SELECT id FROM resumes WHERE user_id = 'user-001' ORDER BY id");
			expect(resumes.map(({ id }) => ({ id }))).toEqual(rows);
		},
		'resume.get': async (operation) => {
			const [row] = query("SELECT id, title FROM resumes WHERE id = 'resume-001'");
			expect(await results({ ...operation, resumeId })).toEqual([expect.objectContaining(row!)]);
		},
		'resume.create': async (operation) => {
			const bodyFields = { field: [{ name: 'title', value: 'Made in n8n' }] };
			const [resume] = await results({ ...operation, userId, bodyFields });
			expect(query('SELECT user_id, title FROM resumes WHERE id = ?', String(resume!.id))).toEqual([
				{ user_id: 'user-001', title: 'Made in n8n' },
			]);
		},
		'resume.download': async (operation) => {
			const execution = await run({ ...operation, resumeId });
			const [item] = outputOf(execution);
			expect(item).toMatchObject({ pairedItem: { item: 0 } });
			const { data, id, mimeType } = item!.binary!.data!;
			// n8n keeps a file in the execution itself, or in a folder that the id names.
			const content =
				id === undefined
					? Buffer.from(data, 'base64')
					: await readFile(join(instance.binaryFolder, id.replace(/^[^:]*:/, '')));
			expect([mimeType, content.toString('latin1', 0, 5)]).toEqual(['application/pdf', '%PDF-']);
		},
		'resume.getScore': async (operation) => {
			const [answer] = await results({ ...operation, resumeId });
			expect(answer!.score).toEqual(expect.any(Number));
		},
		'plan.upgrade': async (operation) => {
			const planId = SANDBOX_PLANS.pro;
			const [subscription] = await results({ ...operation, email, planId });
			expect(subscription).toMatchObject({ plan_id: planId, status: 'active' });
			expect(query('SELECT email, plan_id AS planId FROM upgrades')).toEqual([{ email, planId }]);
		},
		'customRequest.get': async (operation) => {
			const users = await results({ ...operation, path: 'user/user-001' });
			expect(users).toEqual([expect.objectContaining({ id: 'user-001', email })]);
		},
		'customRequest.send': async (operation) => {
			const bodyFields = { field: [{ name: 'email', value: email }] };
			const answers = await results({ ...operation, path: '/connect', bodyFields });
			expect(answers).toEqual([{ token: expect.any(String) }]);
		},
	};

	it.each(Object.keys(tested))('%s', async (name) => {
		const [resource, operation] = name.split('.');
		await tested[name]!({ resource, operation });
	});
});

it('finds users by e-mail in one list', async () => {
	const before = instance.sandbox.requests.length;
	const emails = ['EMMA.larsen@example.com', 'nobody@example.com', 'noah.fischer@example.com'];
	const execution = await run(
		{
			resource: 'user',
			operation: 'get',
			userId: byEmail('={{ $json.email }}'),
			options: { fieldsToReturn: 'email, unknown' },
		},
		{ items: emails.map((email) => ({ email })), onError: 'continueRegularOutput' },
	);
	expect(outputOf(execution).map(({ json }) => json)).toEqual([
		{ email: emails[0]!.toLowerCase() },
		{ error: expect.objectContaining({ message: 'No user has this e-mail address' }) as unknown },
		{ email: emails[2] },
	]);
	const sent = instance.sandbox.requests.slice(before).map(({ url }) => url);
	expect(sent.sort()).toEqual(['/v1/user/user-001', '/v1/user/user-002', '/v1/users']);
});

describe('error output', () => {
	it('has the failed items, paired, with the error as data', async () => {
		const items = [
			{ email: 'emma.larsen@example.com', planId: SANDBOX_PLANS.premium },
			{ email: 'olivia.martin@example.com', planId: 'plan_that_does_not_exist' },
			{ email: 'noah.fischer@example.com', planId: SANDBOX_PLANS.pro },
		];
		const execution = await run(
			{
				resource: 'plan',
				operation: 'upgrade',
				email: '={{ $json.email }}',
				planId: '={{ $json.planId }}',
			},
			{ items, onError: 'continueErrorOutput' },
		);

		expect(execution.status).toBe('success');
		expect(outputOf(execution).map(({ json, pairedItem }) => [json.plan_id, pairedItem])).toEqual([
			[SANDBOX_PLANS.premium, { item: 0 }],
			[SANDBOX_PLANS.pro, { item: 2 }],
		]);
		expect(outputOf(execution, undefined, 1)).toEqual([
			expect.objectContaining({
				pairedItem: { item: 1 },
				json: {
					...items[1],
					error: {
						message: expect.stringContaining('wrong plan ID'),
						code: 'plan-upgrade-2',
						httpStatus: 401,
						description: expect.stringMatching(/account manager/),
						id: 'service.wrongPlan',
						outcome: 'refused',
					},
				},
			}),
		]);
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
	});
});

describe("n8n's HTTP Request node", () => {
	const request = async (data?: Parameters<SharedInstance['addCredential']>[0]) =>
		await instance.runNode({
			type: 'n8n-nodes-base.httpRequest',
			typeVersion: 4.2,
			parameters: {
				url: `${instance.sandbox.baseUrl}/users?limit=2`,
				authentication: 'predefinedCredentialType',
				nodeCredentialType: 'resumeManagementApi',
			},
			credentials: await instance.addCredential(data),
		});

	it('reaches the service with the predefined credential', async () => {
		const execution = await request();
		expect(execution.status).toBe('success');
		expect(outputOf(execution)[0]?.json).toMatchObject({ status: 'success' });
		const received = instance.sandbox.requests.at(-1);
		expect(received?.url).toBe('/v1/users?limit=2');
		expect(received?.headers.authentication).toBe(`Bearer ${SANDBOX_KEYS.live}`);
		expect(received?.headers['content-type']).toBe('application/json');
		expect(received?.headers).not.toHaveProperty('authorization');
		expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
	});

	it("shows the request in the browser's console without the key", async () => {
		const window = await instance.api.openWindow();
		await request();
		const isConsole = (message: string) => message.includes('"sendConsoleMessage"');
		while (!window.messages.some(isConsole)) await sleep(50);
		window.close();
		expect(window.messages.join()).not.toContain(SANDBOX_KEYS.live);
	});

	// n8n 1.85 does not limit a credential.
	(tested === 'lowest' ? it.skip : it)('is refused a credential that is not for it', async () => {
		const before = instance.sandbox.requests.length;
		const execution = await request({ allowedHttpRequestDomains: 'none' });
		expect(execution.status).toBe('error');
		expect(instance.sandbox.requests).toHaveLength(before);
	});
});

it.each([
	['no domain', { allowedHttpRequestDomains: 'none' }],
	['another domain', { allowedHttpRequestDomains: 'domains', allowedDomains: 'example.com' }],
])('a credential that the HTTP Request node may use for %s works in ours', async (_, data) => {
	const credentials = await instance.addCredential(data);
	const parameters = { resource: 'user', operation: 'getAll', limit: 1 };
	const execution = await instance.runNode({ type, parameters, credentials });
	expect(execution.status).toBe('success');
	expect(outputOf(execution)).toHaveLength(1);
});

describe('what is not one of the operations', () => {
	it.each([
		['Custom API Call', { resource: 'user', operation: '__CUSTOM_API_CALL__' }],
		['Custom API Call of no resource', { resource: '__CUSTOM_API_CALL__' }],
		['a name that JavaScript objects have', { resource: 'user', operation: 'constructor' }],
	])('sends nothing: %s', async (_, parameters) => {
		const before = instance.sandbox.requests.length;
		const execution = await run(parameters);
		expect(execution.status).toBe('error');
		const { message, description } = execution.data.resultData.error!;
		expect(message).toMatch(/no such operation/);
		expect(description).toContain('Custom Request');
		expect(instance.sandbox.requests).toHaveLength(before);
	});
});

it('a credential with an expression is that of each item', async () => {
	const credentials = await instance.addCredential({ privateKey: '={{ $json.tenantKey }}' });
	const keys = ['tenant-key-of-a', 'tenant-key-of-a', 'tenant-key-of-b', 'tenant-key-of-c'];
	const before = instance.sandbox.requests.length;
	const execution = await instance.runNode({
		type,
		parameters: { resource: 'user', operation: 'get', userId: '={{ $json.id }}' },
		credentials,
		onError: 'continueRegularOutput',
		items: [...keys, ''].map((tenantKey, id) => ({ tenantKey, id: `user-00${id + 1}` })),
	});
	const sent = instance.sandbox.requests.slice(before).map(({ url, headers }) => [url, headers]);
	expect(sent.map(([url]) => url).sort()).toEqual(keys.map((_, id) => `/v1/user/user-00${id + 1}`));
	for (const [url, headers] of sent) {
		const key = keys[Number(String(url).at(-1)) - 1];
		expect(headers).toMatchObject({ authentication: `Bearer ${key}` });
	}
	const { error } = outputOf(execution)[4]!.json as { error: { message: string } };
	expect(error.message).toBe("The credential's Private Key can't be used");
});
