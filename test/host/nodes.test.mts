import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INodeCredentials, INodeParameters } from 'n8n-workflow';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byId, download } from '../support/parameters.mts';
import {
	joinInstance,
	outputOf,
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
	return { execution, sent: [...instance.sandbox.requests] };
}

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

	it.each<[string, RegExp, sent: number, () => Record<string, string>]>([
		['a key that the service does not know', /key/i, 1, () => ({ privateKey: 'not-a-key' })],
		['another program', /base url/i, 0, () => ({ baseUrl: `${instance.url}/v1` })],
		['an address without a version', /URL/i, 0, () => ({ baseUrl: instance.sandbox.url })],
	])('refuses %s', async (_, sentence, sent, data) => {
		const { status, message } = await press(data());
		expect([status, message]).toEqual(['Error', expect.stringMatching(sentence)]);
		expect(instance.sandbox.requests).toHaveLength(sent);
	});

	it.each<[status: number, body: object]>([
		[404, { timestamp: 1, status: 404, error: 'Not Found', path: '/v1/users' }],
		[403, { type: 'about:blank', title: 'Forbidden', status: 403 }],
		[401, { status: 'success' }],
		[500, { status: 'success' }],
		[200, { type: 'about:blank', status: 403 }],
		[200, { status: 'UP' }],
		[200, { status: 'fail', data: { key: 'unknown' } }],
		[200, { status: 'success', errorCode: 'user-1' }],
		[200, { users: [] }],
	])('refuses what the node does not accept: HTTP %d with %j', async (status, body) => {
		const answer = { status, body: JSON.stringify(body) };
		instance.sandbox.faults.add({ path: '/users', answer });
		expect(await press({})).toMatchObject({ status: 'Error' });
		instance.sandbox.faults.clear();
	});
});

// All operations: test/engine/pipeline.test.mts.
test('a list, a new record and a file become items', async () => {
	const { execution: listed } = await run({ resource: 'user', operation: 'getAll', limit: 2 });
	const users = instance.query('SELECT id, email FROM users ORDER BY id LIMIT 2');
	expect(outputOf(listed)).toMatchObject(
		users.map((user) => ({ json: { ...user }, pairedItem: { item: 0 } })),
	);

	const bodyFields = { field: [{ name: 'title', value: 'Made in n8n' }] };
	const userId = byId('user-001');
	const created = await run({ resource: 'resume', operation: 'create', userId, bodyFields });
	const resumes = instance.query("SELECT id FROM resumes WHERE title = 'Made in n8n'");
	expect(resumes).toHaveLength(1);
	expect(outputOf(created.execution)).toMatchObject([{ json: { ...resumes[0] } }]);

	const downloaded = await run({ ...download, resumeId: byId('resume-001') });
	const { data, id, mimeType } = outputOf(downloaded.execution)[0]!.binary!.data!;
	// n8n keeps a file in the execution itself, or in a folder that the id names.
	const content =
		id === undefined
			? Buffer.from(data, 'base64')
			: await readFile(join(instance.binaryFolder, id.replace(/^[^:]*:/, '')));
	expect([mimeType, content.toString('latin1', 0, 5)]).toEqual(['application/pdf', '%PDF-']);
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
	const request = async (credentials?: INodeCredentials) =>
		await run(
			{
				url: `${instance.sandbox.baseUrl}/users?limit=2`,
				authentication: 'predefinedCredentialType',
				nodeCredentialType: 'resumeManagementApi',
			},
			{ type: 'n8n-nodes-base.httpRequest', typeVersion: 4.2, ...(credentials && { credentials }) },
		);

	it("reaches the service with the predefined credential, which the browser's console does not show", async () => {
		const window = await instance.api.openWindow();
		const { execution, sent } = await request();
		expect(outputOf(execution)).toMatchObject([{ json: { status: 'success' } }]);
		const authentication = `Bearer ${SANDBOX_KEYS.live}`;
		const headers = { authentication, 'content-type': 'application/json' };
		expect(sent).toMatchObject([{ url: '/v1/users?limit=2', headers }]);
		expect(sent[0]!.headers).not.toHaveProperty('authorization');
		const isConsole = (message: string) => message.includes('"sendConsoleMessage"');
		while (!window.messages.some(isConsole)) await sleep(50);
		window.close();
		expect(window.messages.join()).not.toContain(SANDBOX_KEYS.live);
	});

	// n8n 1.85 does not limit a credential.
	unlessLowest(
		'is refused a credential that is not for it, with which our node works',
		async () => {
			const credentials = await instance.addCredential({ allowedHttpRequestDomains: 'none' });
			const { execution, sent } = await request(credentials);
			expect([execution.status, sent]).toEqual(['error', []]);
			const ours = await run({ resource: 'user', operation: 'getAll', limit: 1 }, { credentials });
			expect(outputOf(ours.execution)).toHaveLength(1);
		},
	);
});
