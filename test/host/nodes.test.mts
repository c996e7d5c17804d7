import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { freePort } from '../../host/ports.mts';
import type { Execution } from '../../host/rest.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import type { Fault } from '../../sandbox/server.mts';
import { byId } from '../support/parameters.mts';
import {
	actionType,
	joinInstance,
	outputOf,
	triggerType,
	unlessLowest,
	type NodeToRun,
	type SharedInstance,
} from './instance.mts';

/** The package in a real n8n, node by node. */

let instance: SharedInstance;

beforeAll(async () => {
	instance = await joinInstance();
});

afterAll(async () => await instance?.close());

/** Runs our node with the sandbox's credential; answers what was sent, too. */
async function run(parameters: INodeParameters, more: NodeToRun = {}) {
	instance.sandbox.requests.length = 0;
	const credentials = await instance.addCredential();
	const execution = await instance.runNode({ parameters, credentials, ...more });
	expect(execution.storedData).not.toContain(SANDBOX_KEYS.live);
	return { execution, items: jsonOf(execution), sent: [...instance.sandbox.requests] };
}

const jsonOf = (execution: Execution) => outputOf(execution).map(({ json }) => json);

test('node types are registered under their public names, with the credential type', async () => {
	const nodes = await instance.api.nodeTypes();
	const found = nodes.map(({ name, displayName, version }) => [name, displayName, version]);
	expect(found).toEqual(
		expect.arrayContaining([
			[actionType, 'Resume Management', 1],
			[triggerType, 'Resume Management Trigger', 1.1],
		]),
	);
	const credentials = await instance.api.credentialTypes();
	const credential = credentials.find(({ name }) => name === 'resumeManagementApi');
	expect(credential?.displayName).toBe('Resume Management API');
	const names = ['baseUrl', 'privateKey', 'webhookSecret', 'olderWebhookSecret'];
	const fields = credential!.properties.map(({ name }) => name);
	expect(fields).toEqual(expect.arrayContaining(names));
});

describe('credential test', () => {
	async function press(data: Record<string, string>) {
		const { baseUrl } = instance.sandbox;
		instance.sandbox.requests.length = 0;
		return await instance.api.testCredential({
			name: 'Resume Management API',
			type: 'resumeManagementApi',
			data: { baseUrl, privateKey: SANDBOX_KEYS.live, ...data },
		});
	}

	it('accepts the live key', async () => {
		expect(await press({})).toMatchObject({ status: 'OK' });
		const authentication = `Bearer ${SANDBOX_KEYS.live}`;
		const headers = { authentication, 'content-type': 'application/json' };
		expect(instance.sandbox.requests).toMatchObject([{ method: 'GET', url: '/v1/users', headers }]);
	});

	const tooPlain = /^Base URL must start with https/;

	it.each<[string, RegExp, sent: number, () => Record<string, string>]>([
		['a key that the service does not know', /key/i, 1, () => ({ privateKey: 'not-a-key' })],
		['another program', /base url/i, 0, () => ({ baseUrl: `${instance.url}/v1` })],
		[
			'an address that the service does not know',
			/Base URL is the address/,
			1,
			() => ({ baseUrl: `${instance.sandbox.url}/other/v1` }),
		],
		['an address without a version', tooPlain, 0, () => ({ baseUrl: instance.sandbox.url })],
		['http to another host', tooPlain, 0, () => ({ baseUrl: 'http://api.example.com/v1' })],
	])('refuses %s', async (_, sentence, sent, data) => {
		const { status, message } = await press(data());
		expect([status, message]).toEqual(['Error', expect.stringMatching(sentence)]);
		expect(instance.sandbox.requests).toHaveLength(sent);
	});

	/** n8n 2 shows the bare code: n8n/src/services/credentials-tester.service.ts, runRequestTest. */
	it('says that a host is unreachable', async () => {
		const { message } = await press({ baseUrl: `http://127.0.0.1:${await freePort()}/v1` });
		expect(message).toMatch(/^(ECONNREFUSED|The service refused the connection.*)$/);
	});

	it.each<[string, Fault['answer'], RegExp]>([
		[
			'a 200 with status "error"',
			{ status: 200, body: '{"status":"error","errorCode":"any-code"}' },
			/^The service refused the request/,
		],
		[
			'a server error',
			{ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad</h1>' },
			/^Something answered at this address/,
		],
	])('takes %s for a failure', async (_, answer, sentence) => {
		instance.sandbox.faults.add({ path: '/users', times: 1, answer });
		const { status, message } = await press({});
		expect([status, message]).toEqual(['Error', expect.stringMatching(sentence)]);
	});
});

describe('operations', () => {
	const userId = byId('user-001');
	const resumeId = byId('resume-001');
	const email = 'emma.larsen@example.com';
	const planId = SANDBOX_PLANS.pro;
	const title = { field: [{ name: 'title', value: 'Made in n8n' }] };
	const emma = expect.objectContaining({ id: 'user-001', email }) as IDataObject;
	const token = { token: expect.stringMatching(/^eyJ/) as string };
	const rows = (sql: string) =>
		instance.query(sql).map((row) => expect.objectContaining({ ...row }) as IDataObject);

	// One of each kind. All of them: test/engine/pipeline.test.mts.
	it.each<[string, INodeParameters, () => IDataObject[]]>([
		['user.getAll', { limit: 2 }, () => rows('SELECT id, email FROM users ORDER BY id LIMIT 2')],
		['user.get', { userId }, () => [emma]],
		[
			'resume.create',
			{ userId, bodyFields: title },
			() => rows("SELECT id, user_id AS userId FROM resumes WHERE title = 'Made in n8n'"),
		],
		[
			'plan.upgrade',
			{ email, planId },
			() =>
				rows("SELECT plan_id, current_period_end FROM subscriptions WHERE user_id = 'user-001'"),
		],
		[
			'customRequest.send',
			{ path: '/connect', bodyFields: { field: [{ name: 'email', value: email }] } },
			() => [token],
		],
	])('%s', async (name, parameters, expected) => {
		const [resource, operation] = name.split('.');
		const { execution, items, sent } = await run({ resource, operation, ...parameters });
		expect(execution.status).toBe('success');
		expect(items).toEqual(expected());
		expect(items.length).toBeGreaterThan(0);
		for (const { pairedItem } of outputOf(execution)) expect(pairedItem).toEqual({ item: 0 });
		expect(sent).toHaveLength(1);
	});

	it('resume.download', async () => {
		const { execution } = await run({ resource: 'resume', operation: 'download', resumeId });
		const [item] = outputOf(execution);
		expect(item).toMatchObject({ pairedItem: { item: 0 } });
		const { data, id, mimeType } = item!.binary!.data!;
		// n8n keeps a file in the execution itself, or in a folder that the id names.
		const content =
			id === undefined
				? Buffer.from(data, 'base64')
				: await readFile(join(instance.binaryFolder, id.replace(/^[^:]*:/, '')));
		expect([mimeType, content.toString('latin1', 0, 5)]).toEqual(['application/pdf', '%PDF-']);
	});
});

test('error output has the failed items, paired, with the error as data', async () => {
	const given = [
		{ email: 'emma.larsen@example.com', planId: SANDBOX_PLANS.premium },
		{ email: 'olivia.martin@example.com', planId: 'plan_that_does_not_exist' },
		{ email: 'noah.fischer@example.com', planId: SANDBOX_PLANS.pro },
	];
	const [email, planId] = ['={{ $json.email }}', '={{ $json.planId }}'];
	const parameters = { resource: 'plan', operation: 'upgrade', email, planId };
	const { execution } = await run(parameters, { items: given, onError: 'continueErrorOutput' });
	expect(execution.status).toBe('success');
	expect(outputOf(execution).map(({ json, pairedItem }) => [json.plan_id, pairedItem])).toEqual([
		[SANDBOX_PLANS.premium, { item: 0 }],
		[SANDBOX_PLANS.pro, { item: 2 }],
	]);
	const error = {
		message: expect.stringContaining('wrong plan ID') as string,
		code: 'plan-upgrade-2',
		httpStatus: 401,
		description: expect.stringMatching(/account manager/) as string,
		id: 'service.wrongPlan',
		outcome: 'refused',
	};
	expect(outputOf(execution, undefined, 1)).toEqual([
		expect.objectContaining({ pairedItem: { item: 1 }, json: { ...given[1], error } }),
	]);
});

describe("n8n's HTTP Request node", () => {
	const request = async (data?: Record<string, string>) =>
		await run(
			{
				url: `${instance.sandbox.baseUrl}/users?limit=2`,
				authentication: 'predefinedCredentialType',
				nodeCredentialType: 'resumeManagementApi',
			},
			{
				type: 'n8n-nodes-base.httpRequest',
				typeVersion: 4.2,
				credentials: await instance.addCredential(data),
			},
		);

	it('reaches the service with the predefined credential', async () => {
		const { execution, items, sent } = await request();
		expect(execution.status).toBe('success');
		expect(items).toMatchObject([{ status: 'success' }]);
		const authentication = `Bearer ${SANDBOX_KEYS.live}`;
		const headers = { authentication, 'content-type': 'application/json' };
		expect(sent).toMatchObject([{ url: '/v1/users?limit=2', headers }]);
		expect(sent[0]!.headers).not.toHaveProperty('authorization');
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
	unlessLowest('is refused a credential that is not for it', async () => {
		const { execution, sent } = await request({ allowedHttpRequestDomains: 'none' });
		expect([execution.status, sent]).toEqual(['error', []]);
	});
});

it.each([
	['no domain', { allowedHttpRequestDomains: 'none' }],
	['another domain', { allowedHttpRequestDomains: 'domains', allowedDomains: 'example.com' }],
])('a credential that the HTTP Request node may use for %s works in ours', async (_, data) => {
	const parameters = { resource: 'user', operation: 'getAll', limit: 1 };
	const credentials = await instance.addCredential(data);
	expect((await run(parameters, { credentials })).items).toHaveLength(1);
});
