import type { INodeParameters } from 'n8n-workflow';

import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import type { EngineResult, EngineRun } from '../support/engine.mts';
import { planUpgrade, userGet } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

/** What a user reads of answers that are no success. What each answer means: test/unit/judge.test.mts. */

const service = useSandbox();
const { sandbox, sent } = service;

const PRIVATE_KEY = SANDBOX_KEYS.live;
const WEBHOOK_SECRET = 'whsec-of-the-tests';
const EMMA = 'emma.larsen@example.com';

const run = (
	parameters: INodeParameters,
	rest: Partial<EngineRun> = {},
	privateKey: string = PRIVATE_KEY,
) => {
	const credential = { ...service.credential(), privateKey, webhookSecret: WEBHOOK_SECRET };
	return service.run(parameters, { credential, ...rest });
};
const upgrade = (planId: string, privateKey?: string) =>
	run({ ...planUpgrade, email: EMMA, planId }, {}, privateKey);

/** Everything that n8n would store, show or log of an execution. */
function expectNoSecret({ run: execution, error, log }: EngineResult, secret = PRIVATE_KEY) {
	const seen = JSON.stringify(execution) + JSON.stringify(error ?? {}) + (error?.stack ?? '') + log;
	for (const one of [secret, WEBHOOK_SECRET]) expect(seen).not.toContain(one);
}

const userToken = async () => {
	const { items } = await run({ resource: 'user', operation: 'getToken', email: EMMA });
	return items[0]!.token as string;
};

test.each<
	[code: string, reason: string, planId: string, hint: string, key?: () => Promise<string>]
>([
	['plan-upgrade-1', 'stripe error', SANDBOX_PLANS.failingPayment, 'account manager'],
	['plan-upgrade-2', 'wrong plan ID', 'plan-unknown', 'exactly as your account manager'],
	[
		'plan-upgrade-3',
		'unauthorized token',
		SANDBOX_PLANS.pro,
		'not arranged for your account',
		async () => SANDBOX_KEYS.unarranged,
	],
	['plan-upgrade-4', 'token type error', SANDBOX_PLANS.pro, 'private API key', userToken],
])('%s names its reason and is sent once', async (code, reason, planId, hint, ...[key]) => {
	const privateKey = (await key?.()) ?? PRIVATE_KEY;
	sandbox().requests.length = 0;
	const result = await upgrade(planId, privateKey);
	expect(result.error?.message).toBe(`The service answered: ${reason} (${code})`);
	expect(result.error?.description).toContain(hint);
	expect(result.error?.httpCode).toBe('401');
	expect(sent()).toHaveLength(1);
	expectNoSecret(result, privateKey);
});

test.each([
	[
		200,
		{ status: 'error', errorCode: 'user-9', errorMessage: `bad key ${PRIVATE_KEY}` },
		'The service answered: bad key [hidden] (user-9)',
		'user-9',
	],
	[404, {}, 'The service has nothing at this address (HTTP 404)', null],
])('HTTP %d with %j is an error of its item', async (status, body, message, code) => {
	const answer = { status, body: JSON.stringify(body) };
	sandbox().faults.add({ path: '/user/user-002', answer });
	const items = ['user-001', 'user-002', 'user-003'].map((id) => ({ id }));
	const parameters = userGet('={{ $json.id }}');

	const continued = await run(parameters, { items, node: { onError: 'continueErrorOutput' } });
	expect(continued.pairs).toEqual([[0, 2], [1]]);
	expect(continued.items).toMatchObject([items[0], items[2]]);
	expect(continued.outputs[1]![0]!.json).toEqual({
		id: 'user-002',
		error: {
			message,
			code,
			httpStatus: status,
			description: expect.stringMatching(/\w/) as string,
			id: expect.stringMatching(/^\w+\.\w+$/) as string,
		},
	});
	expectNoSecret(continued);

	const stopped = await run(parameters, { items });
	expect([stopped.error?.message, stopped.error?.httpCode]).toEqual([message, String(status)]);
	expectNoSecret(stopped);
});

const { pro, basic } = SANDBOX_PLANS;
const OTHER_PLAN = 'its subscription is not of the plan that was asked for';

test.each<[body: unknown, reason: string]>([
	[{ status: 'success' }, 'it holds no subscription'],
	[{ status: 'success', data: {} }, OTHER_PLAN],
	[{ status: 'success', data: { plan_id: basic } }, OTHER_PLAN],
	[{ data: { plan_id: pro } }, 'it has no status'],
	[[], 'it has no status'],
	[{ status: 'pending' }, 'its status is "pending"'],
])('an upgrade that is answered by %j has an unknown outcome', async (answer, reason) => {
	const body = JSON.stringify(answer);
	sandbox().faults.add({ path: '/plan/upgrade', answer: { status: 200, body } });
	const result = await upgrade(pro);
	const message = `Outcome unknown: The service did not confirm it: ${reason}`;
	expect(result.error?.message).toBe(message);
	expect(result.error?.description).toContain('before you send it again');
	expect(result.error?.description).toContain(`It answered: ${body}`);
	expect(sent()).toHaveLength(1);
	expectNoSecret(result);
});

test('what is repeated of an unclear answer holds no token', async () => {
	const body = JSON.stringify({ status: 'pending', access_token: 'a-token' });
	sandbox().faults.add({ path: '/user/token', answer: { status: 200, body } });
	const { error, log } = await run({ resource: 'user', operation: 'getToken', email: EMMA });
	expect(error?.description).toContain('"access_token":"[hidden]"');
	expect(JSON.stringify(error) + log).not.toContain('a-token');
});
