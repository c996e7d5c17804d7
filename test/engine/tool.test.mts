import { type Sandbox, startSandbox } from '../../sandbox/server.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { callTool } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';

let sandbox: Sandbox;
beforeEach(async () => {
	sandbox = await startSandbox({ port: 0, record: true });
});
afterEach(() => sandbox.close());

const call = (parameters: object, calls: object[], node = {}) =>
	callTool({
		parameters: { toolDescription: 'A tool', ...parameters },
		credential: { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live },
		items: calls as never,
		node,
	});
const fromAi = (name: string) => `={{ $fromAI('${name}', 'The ${name}', 'string') }}`;
const upgrade = {
	resource: 'plan',
	operation: 'upgrade',
	email: fromAi('email'),
	planId: fromAi('planId'),
};
const email = 'emma.larsen@example.com';

test('an agent reads a user with arguments of its own', async () => {
	const parameters = { resource: 'user', operation: 'get', userId: byId(fromAi('userId')) };
	const [first, second] = await call(parameters, [{ userId: 'user-001' }, { userId: 'user-002' }]);
	expect(JSON.parse(first!.answer as string)).toEqual([
		expect.objectContaining({ id: 'user-001', email }),
	]);
	expect(second!.answer).toContain('user-002');
	expect(sandbox.requests).toHaveLength(2);
});

test('an error comes back as a text that says what to do', async () => {
	const [answer] = await call(upgrade, [{ email, planId: 'unknown' }]);
	expect(JSON.parse(answer!.answer as string)).toEqual([
		{
			error: {
				message: 'The service answered: wrong plan ID (plan-upgrade-2)',
				code: 'plan-upgrade-2',
				httpStatus: 401,
				description: expect.stringContaining('exactly as your account manager supplied it'),
			},
		},
	]);
	expect(sandbox.requests).toHaveLength(1);
});

test('an argument that is empty is refused before anything is sent', async () => {
	const [answer] = await call(upgrade, [{ email, planId: '' }]);
	expect(answer!.answer).toContain("'Plan ID' is empty");
	expect(answer!.answer).toContain('Nothing was sent');
	expect(sandbox.requests).toEqual([]);
});

const RETRY_ON_FAIL = {
	onError: 'stopWorkflow',
	retryOnFail: true,
	maxTries: 3,
	waitBetweenTries: 1,
};

test('On Error = Stop Workflow fails the call, and Retry On Fail does not repeat an upgrade whose outcome is unknown', async () => {
	sandbox.faults.add({ path: '/plan/upgrade', drop: 'after', times: 1 });
	const [answer] = await call(upgrade, [{ email, planId: SANDBOX_PLANS.pro }], RETRY_ON_FAIL);
	expect(answer!.error).toContain('Outcome unknown');
	expect(sandbox.requests).toHaveLength(1);
});

test('a second call with the same arguments is another purchase', async () => {
	const purchase = { email, planId: SANDBOX_PLANS.pro };
	await call(upgrade, [purchase, purchase], RETRY_ON_FAIL);
	expect(sandbox.requests).toHaveLength(2);
});
