import { type Fault, type Sandbox, startSandbox } from '../../sandbox/server.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { type EngineResult, runNode } from '../support/engine.mts';
import { planUpgrade, userGet } from '../support/parameters.mts';

let sandbox: Sandbox;
let emails: string[];
let userIds: string[];
beforeAll(async () => {
	sandbox = await startSandbox({ port: 0, record: true });
	const users = sandbox.database.prepare('SELECT id, email FROM users').all();
	emails = users.map(({ email }) => String(email));
	userIds = users.map(({ id }) => String(id));
});
beforeEach(() => {
	sandbox.requests.length = 0;
	sandbox.faults.clear();
});
afterAll(() => sandbox.close());

const PRIVATE_KEY = SANDBOX_KEYS.live;
const WEBHOOK_SECRET = 'whsec-of-the-tests';

const run = (
	parameters: object,
	{ privateKey = PRIVATE_KEY, ...rest }: { privateKey?: string; [key: string]: unknown } = {},
) =>
	runNode({
		parameters: parameters as never,
		credential: { baseUrl: sandbox.baseUrl, privateKey, webhookSecret: WEBHOOK_SECRET },
		...rest,
	});

/** Everything that n8n would store, show or log of an execution. */
function expectNoSecret({ run: execution, error, log }: EngineResult, secrets = [PRIVATE_KEY]) {
	const seen = JSON.stringify(execution) + JSON.stringify(error ?? {}) + (error?.stack ?? '') + log;
	for (const secret of [...secrets, WEBHOOK_SECRET]) expect(seen).not.toContain(secret);
}

describe('errors of the plan upgrade', () => {
	const upgradeOf = (email: string, planId: string) => ({ ...planUpgrade, email, planId });

	test.each([
		['plan-upgrade-1', 'stripe error', SANDBOX_PLANS.failingPayment, 'account manager'],
		['plan-upgrade-2', 'wrong plan ID', 'plan-unknown', 'exactly as your account manager'],
	])('%s names its reason and is sent once', async (code, reason, planId, hint) => {
		const result = await run(upgradeOf(emails[0]!, planId));
		expect(result.error?.message).toBe(`The service answered: ${reason} (${code})`);
		expect(result.error?.description).toContain(hint);
		expect(result.error?.httpCode).toBe('401');
		expect(sandbox.requests).toHaveLength(1);
		expectNoSecret(result);
	});

	test('plan-upgrade-3: a key without the arrangement', async () => {
		const privateKey = SANDBOX_KEYS.unarranged;
		const result = await run(upgradeOf(emails[0]!, SANDBOX_PLANS.pro), { privateKey });
		expect(result.error?.message).toBe('The service answered: unauthorized token (plan-upgrade-3)');
		expect(result.error?.description).toContain('not arranged for your account');
		expect(sandbox.requests).toHaveLength(1);
		expectNoSecret(result, [privateKey]);
	});

	test('plan-upgrade-4: a user token in place of the key', async () => {
		const token = await run({ resource: 'user', operation: 'getToken', email: emails[0]! });
		const privateKey = token.outputs[0]![0]!.json.token as string;
		sandbox.requests.length = 0;
		const result = await run(upgradeOf(emails[0]!, SANDBOX_PLANS.pro), { privateKey });
		expect(result.error?.message).toBe('The service answered: token type error (plan-upgrade-4)');
		expect(result.error?.description).toContain('private API key');
		expect(sandbox.requests).toHaveLength(1);
		expectNoSecret(result, [privateKey]);
	});
});

const json = (status: number, body: unknown): Fault['answer'] => ({
	status,
	headers: { 'content-type': 'application/json' },
	body: JSON.stringify(body),
});
const html = (status: number): Fault['answer'] => ({
	status,
	headers: { 'content-type': 'text/html' },
	body: '<!DOCTYPE html><html><body>Bad gateway</body></html>',
});

const answers: Array<[string, Fault['answer'], string, string | null]> = [
	[
		'200 with an error',
		json(200, { status: 'error', errorCode: 'user-9', errorMessage: 'user is locked' }),
		'The service answered: user is locked (user-9)',
		'user-9',
	],
	[
		'200 with an error and no reason',
		json(200, { status: 'error' }),
		'The service answered with an error and gave no reason',
		null,
	],
	[
		'an errorCode in a sentence',
		json(200, {
			status: 'error',
			errorCode: 'error code: connect-01, please contact administrator',
		}),
		'The service answered: error code: connect-01, please contact administrator',
		'connect-01',
	],
	[
		'500 with an envelope',
		json(500, { status: 'error', errorCode: 'E1' }),
		'The service answered: E1',
		'E1',
	],
	[
		'500 with other JSON',
		json(500, { oops: true }),
		'The service had an internal error (HTTP 500)',
		null,
	],
	['500 with an empty body', { status: 500 }, 'The service had an internal error (HTTP 500)', null],
	[
		'500 with a web page',
		html(500),
		'The service had an internal error (HTTP 500, with a web page in place of JSON)',
		null,
	],
	[
		'502 with a web page',
		html(502),
		'The service is not available (HTTP 502, with a web page in place of JSON)',
		null,
	],
	['200 with a web page', html(200), 'A web page was received in place of JSON', null],
	['200 with a text', { status: 200, body: 'hello' }, 'The answer is not JSON', null],
	['an empty 200', { status: 200 }, 'The service sent an empty answer', null],
	['204', { status: 204 }, 'The service sent an empty answer', null],
	[
		'a redirect to another host',
		{ status: 302, headers: { location: 'http://localhost:9/v1/user/1' } },
		'The service redirected the request, which was not followed to keep the key safe (HTTP 302)',
		null,
	],
	[
		'401 without an envelope',
		json(401, {}),
		'The service did not accept the private key (HTTP 401)',
		null,
	],
	['404', json(404, {}), 'The service has nothing at this address (HTTP 404)', null],
	['418', { status: 418 }, 'The service rejected the request (HTTP 418)', null],
	[
		'a service that repeats the key',
		json(200, { status: 'error', errorMessage: `bad key ${PRIVATE_KEY}` }),
		'The service answered: bad key [hidden]',
		null,
	],
];

test.each(answers)('%s is a clear error of its item', async (_, answer, message, code) => {
	sandbox.faults.add({ path: `/user/${userIds[1]}`, answer });
	const items = [0, 1, 2].map((index) => ({ id: userIds[index]! }));
	const parameters = { ...userGet('={{ $json.id }}'), options: { retries: 0 } };

	const continued = await run(parameters, { items, node: { onError: 'continueErrorOutput' } });
	expect(continued.outputs[0]!.map(({ json: { id }, pairedItem }) => [id, pairedItem])).toEqual([
		[userIds[0], { item: 0 }],
		[userIds[2], { item: 2 }],
	]);
	expect(continued.outputs[1]).toEqual([
		{
			json: {
				id: userIds[1],
				error: {
					message,
					code,
					httpStatus: answer!.status,
					description: expect.stringMatching(/\w/) as string,
				},
			},
			pairedItem: { item: 1 },
		},
	]);
	expectNoSecret(continued);

	const stopped = await run(parameters, { items });
	expect(stopped.error?.message).toBe(message);
	expect(stopped.error?.httpCode).toBe(String(answer!.status));
	expectNoSecret(stopped);
});

describe('an upgrade that is answered, but not confirmed', () => {
	test.each([
		['without data', json(200, { status: 'success' })],
		['with a record without plan_id', json(200, { status: 'success', data: {} })],
		['without a status', json(200, { data: { plan_id: SANDBOX_PLANS.pro } })],
		['with an array', json(200, [])],
	])('%s has an unknown outcome', async (_, answer) => {
		sandbox.faults.add({ path: '/plan/upgrade', answer });
		const result = await run({
			...planUpgrade,
			email: emails[0]!,
			planId: SANDBOX_PLANS.pro,
		});
		expect(result.error?.message).toBe(
			'Outcome unknown: The service answered without a subscription',
		);
		expect(result.error?.description).toContain('before you send it again');
		expect(sandbox.requests).toHaveLength(1);
		expectNoSecret(result);
	});
});

test('properties that nobody knows, and a missing status, are accepted', async () => {
	sandbox.faults.add({ path: '/user/7', answer: json(200, { id: 7, novel: { a: [1] } }) });
	const { outputs } = await run(userGet('7'));
	expect(outputs[0]![0]!.json).toEqual({ id: 7, novel: { a: [1] } });
});
