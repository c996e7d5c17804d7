import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import type { EngineRun } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

/** The node as an agent's tool. In a real AI Agent: test/host/agent.test.mts. */

const { sandbox, sent, tool } = useSandbox();

const fromAi = (name: string) => `={{ $fromAI('${name}', 'The ${name}', 'string') }}`;
const email = 'emma.larsen@example.com';
const { pro } = SANDBOX_PLANS;
const upgrade = {
	resource: 'plan',
	operation: 'upgrade',
	email: fromAi('email'),
	planId: fromAi('planId'),
};

test('an agent reads a user with arguments of its own', async () => {
	const parameters = { resource: 'user', operation: 'get', userId: byId(fromAi('id')) };
	const [first, second] = await tool(parameters, [{ id: 'user-001' }, { id: 'user-002' }]);
	expect(JSON.parse(first!.answer as string)).toMatchObject([{ id: 'user-001', email }]);
	expect(second!.answer).toContain('user-002');
	expect(sent()).toHaveLength(2);
});

test('an error comes back as a text that says what to do', async () => {
	const [answer] = await tool(upgrade, [{ email, planId: 'unknown' }]);
	expect(JSON.parse(answer!.answer as string)).toEqual([
		{
			error: {
				message: 'The service answered: wrong plan ID (plan-upgrade-2)',
				code: 'plan-upgrade-2',
				httpStatus: 401,
				description: expect.stringContaining('exactly as your account manager supplied it'),
				id: 'service.wrongPlan',
				outcome: 'refused',
			},
		},
	]);
	expect(sent()).toHaveLength(1);
});

test.each<[field: string, parameters: object, args: object]>([
	['Email', upgrade, { email: '', planId: pro }],
	['Plan ID', upgrade, { email, planId: '' }],
	[
		'Path',
		{ resource: 'customRequest', operation: 'send', path: fromAi('path') },
		{ path: '//elsewhere.example' },
	],
])('an unfit argument for %s is named, and nothing is sent', async (field, parameters, args) => {
	const [answer] = await tool(parameters as never, [args as never]);
	expect(answer!.answer).toContain(`'${field}' is`);
	expect(answer!.answer).toContain('Nothing was sent');
	expect(sent()).toEqual([]);
});

const RETRY_ON_FAIL = {
	node: { onError: 'stopWorkflow', retryOnFail: true, maxTries: 3, waitBetweenTries: 1 },
} as Partial<EngineRun>;

test('On Error = Stop Workflow fails the call, and Retry On Fail does not repeat an upgrade whose outcome is unknown', async () => {
	sandbox().faults.add({ path: '/plan/upgrade', drop: 'after', times: 1 });
	const [answer] = await tool(upgrade, [{ email, planId: pro }], RETRY_ON_FAIL);
	expect(answer!.error).toContain('Outcome unknown');
	expect(sent()).toHaveLength(1);
});

test('a second call with the same arguments is another purchase', async () => {
	const purchase = { email, planId: pro };
	await tool(upgrade, [purchase, purchase], RETRY_ON_FAIL);
	expect(sent()).toHaveLength(2);
});
