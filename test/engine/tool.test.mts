import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { upgrade as fixed } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

/** The node as an agent's tool. In a real AI Agent: test/host/agent.test.mts. What it bills: billing.test.mts. */

const { sent, tool } = useSandbox();

const fromAi = (name: string) => `={{ $fromAI('${name}', 'The ${name}', 'string') }}`;
const email = 'emma.larsen@example.com';
const upgrade = { ...fixed, email: fromAi('email'), planId: fromAi('planId') };

test('an error comes back as a text that says what to do', async () => {
	const [answer] = await tool(upgrade, [{ email, planId: 'unknown' }]);
	const error = {
		message: 'The service answered: wrong plan ID (plan-upgrade-2)',
		...{ code: 'plan-upgrade-2', httpStatus: 401, id: 'service.wrongPlan', outcome: 'refused' },
		description: expect.stringContaining('exactly as your account manager supplied it') as string,
	};
	expect(JSON.parse(answer!.answer as string)).toEqual([{ error }]);
	expect(sent()).toHaveLength(1);
});

test('an unfit argument is named, and nothing is sent', async () => {
	const [answer] = await tool(upgrade, [{ email: '', planId: SANDBOX_PLANS.pro }]);
	expect(answer!.answer).toMatch(/'Email' is.*Nothing was sent/);
	expect(sent()).toEqual([]);
});
