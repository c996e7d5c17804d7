import type { INodeParameters } from 'n8n-workflow';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { instance, outputOf, tested, useInstance, type NodeToRun } from './instance.mts';

/** The package in a real n8n: the credential, and one node at a time. */

useInstance();

const authentication = `Bearer ${SANDBOX_KEYS.live}`;
const headers = { authentication, 'content-type': 'application/json' };

/** Runs a node with the sandbox's credential, and returns the requests, too. */
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

	it.each(['', 'Bearer ', ' \nbearer  '])('accepts the live key after %j', async (before) => {
		const data = { privateKey: `${before}${SANDBOX_KEYS.live}${before && ' \n'}` };
		expect(await press(data)).toMatchObject({ status: 'OK' });
		expect(instance.sandbox.requests).toMatchObject([{ method: 'GET', url: '/v1/users', headers }]);
	});

	it.each<[string, RegExp, sent: number, () => Record<string, string>]>([
		['a key that the service does not know', /key/i, 1, () => ({ privateKey: 'not-a-key' })],
		['another program', /base url/i, 0, () => ({ baseUrl: `${instance.url}/v1` })],
		[
			'an address without a version',
			/^Base URL must start with https/,
			0,
			() => ({ baseUrl: instance.sandbox.url }),
		],
	])('refuses %s', async (_, sentence, sent, data) => {
		const { status, message } = await press(data());
		expect([status, message]).toEqual(['Error', expect.stringMatching(sentence)]);
		expect(instance.sandbox.requests).toHaveLength(sent);
	});

	it.each<[status: number, body: object, in2?: RegExp]>([
		[401, { status: 'success' }, /Check that Private Key is complete/],
		[404, {}, /is not from the resume-management service/],
		[200, { status: 'error', errorMessage: 'unknown key' }],
		[200, { users: [] }],
	])('refuses HTTP %d with %j', async (status, body, in2 = /./) => {
		const response = { status, body: JSON.stringify(body) };
		instance.sandbox.faults.add({ path: '/users', response });
		const message = expect.stringMatching(tested === '2' ? in2 : /./) as string;
		expect(await press({})).toMatchObject({ status: 'Error', message });
	});
});

// n8n hides the same fields in the messages that the HTTP Request node writes to the browser's console.
test("n8n does not give out the credential's secrets", async () => {
	const secrets = { webhookSecret: 'secret-1', olderWebhookSecret: 'secret-2' };
	const { resumeManagementApi } = await instance.addCredential(secrets);
	const shown = await instance.api.readCredentialData(resumeManagementApi!.id!);
	expect(Object.keys(shown)).toEqual(expect.arrayContaining(Object.keys(secrets)));
	for (const secret of [SANDBOX_KEYS.live, ...Object.values(secrets)]) {
		expect(Object.values(shown)).not.toContain(secret);
	}
});

test("n8n's HTTP Request node reaches the service with the predefined credential", async () => {
	const url = `${instance.sandbox.baseUrl}/users?limit=2`;
	const nodeCredentialType = 'resumeManagementApi';
	const parameters = { url, authentication: 'predefinedCredentialType', nodeCredentialType };
	const node = { type: 'n8n-nodes-base.httpRequest', typeVersion: 4.2 };
	const { execution, sent } = await run(parameters, node);
	expect(outputOf(execution)).toMatchObject([{ json: { status: 'success' } }]);
	expect(sent).toMatchObject([{ url: '/v1/users?limit=2', headers }]);
	expect(sent[0]!.headers).not.toHaveProperty('authorization');
});

test('a credential that no HTTP Request node may use works with our node', async () => {
	const credentials = await instance.addCredential({ allowedHttpRequestDomains: 'none' });
	const parameters = { resource: 'user', operation: 'getAll', limit: 1 };
	const { execution } = await run(parameters, { credentials });
	expect(outputOf(execution)).toHaveLength(1);
});
