import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byId, customSend, upgrade as fixed, userGet } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

/** The node as an agent's tool. In a real AI Agent: test/host/agent.test.mts. What it bills: billing.test.mts. */

const { sent, tool } = useSandbox();

const fromAi = (name: string) => `={{ $fromAI('${name}', 'The ${name}', 'string') }}`;
const email = 'emma.larsen@example.com';
const { pro } = SANDBOX_PLANS;
const upgrade = { ...fixed, email: fromAi('email'), planId: fromAi('planId') };

test('an agent reads a user with arguments of its own', async () => {
	const parameters = { ...userGet(''), userId: byId(fromAi('id')) };
	const [first, second] = await tool(parameters, [{ id: 'user-001' }, { id: 'user-002' }]);
	expect(JSON.parse(first!.answer as string)).toMatchObject([{ id: 'user-001', email }]);
	expect(second!.answer).toContain('user-002');
	expect(sent()).toHaveLength(2);
});

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

test.each<[field: string, parameters: object, args: object]>([
	['Email', upgrade, { email: '', planId: pro }],
	['Plan ID', upgrade, { email, planId: '' }],
	['Path', { ...customSend, path: fromAi('path') }, { path: '//elsewhere.example' }],
])('an unfit argument for %s is named, and nothing is sent', async (field, parameters, args) => {
	const [answer] = await tool(parameters as never, [args as never]);
	expect(answer!.answer).toMatch(new RegExp(`'${field}' is.*Nothing was sent`));
	expect(sent()).toEqual([]);
});
