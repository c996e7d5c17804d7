import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { getToken, upgrade, userGet } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

/** What a user reads of answers that are no success. What each answer means: test/unit/judge.test.mts. */

const { run, sandbox, sent } = useSandbox();

const PRIVATE_KEY = SANDBOX_KEYS.live;
const EMMA = 'emma.larsen@example.com';
const { pro } = SANDBOX_PLANS;

const answers = (path: string, status: number, body: object) =>
	sandbox().faults.add({ path, answer: { status, body: JSON.stringify(body) } });

const BAD_KEY = { status: 'error', errorCode: 'user-9', errorMessage: `bad key ${PRIVATE_KEY}` };
test.each([
	[200, BAD_KEY, 'The service answered: bad key [hidden] (user-9)', 'user-9'],
	[404, { detail: 'no' }, 'The service has nothing at this address (HTTP 404)', null],
])('HTTP %d with %j is an error of its item', async (httpStatus, body, message, code) => {
	answers('/user/user-002', httpStatus, body);
	const items = ['user-001', 'user-002', 'user-003'].map((id) => ({ id }));
	const parameters = userGet('={{ $json.id }}');

	const continued = await run(parameters, { items, node: { onError: 'continueErrorOutput' } });
	expect(continued.pairs).toEqual([[0, 2], [1]]);
	expect(continued.items).toMatchObject([items[0], items[2]]);
	const id = expect.stringMatching(/^\w+\.\w+$/) as string;
	const words = code === null ? `It answered: ${JSON.stringify(body)}` : 'credential';
	const description = expect.stringContaining(words) as string;
	const error = { message, code, httpStatus, description, id };
	expect(continued.outputs[1]![0]!.json).toEqual({ id: 'user-002', error });

	const stopped = await run(parameters, { items });
	expect(stopped.error).toMatchObject({ message, description, httpCode: String(httpStatus) });
});

const OTHER_PERSON = 'its subscription is of another person';
const HAS_CODE = 'its subscription reports an error';
const confirmed = (data: object) => ({ status: 'success', data });

test.each<[body: unknown, reason: string, status?: number]>([
	// As a proxy may answer by itself.
	[confirmed({ plan_id: pro }), 'its HTTP status is 201 and not 200', 201],
	[confirmed({ plan_id: pro, email: 'ada@example.com' }), OTHER_PERSON],
	[confirmed({ plan_id: pro, Email_Address: 'ada@example.com' }), OTHER_PERSON],
	[confirmed({ plan_id: pro, errorCode: 'plan-upgrade-1' }), HAS_CODE],
	[{ status: 'pending' }, 'its status is "pending"'],
])(
	'an upgrade that is answered by %j has an unknown outcome',
	async (body, reason, ...[status = 200]) => {
		answers('/plan/upgrade', status, body as object);
		const { error } = await run({ ...upgrade, email: EMMA, planId: pro });
		expect(error?.message).toBe(`Outcome unknown: The service did not confirm it: ${reason}`);
		expect(error?.description).toContain('before you send it again');
		expect(error?.description).toContain(`It answered: ${JSON.stringify(body)}`);
		expect(sent()).toHaveLength(1);
	},
);

test('what is repeated of an unclear answer holds no token', async () => {
	answers('/user/token', 200, { status: 'pending', access_token: 'a-token' });
	const { error, log } = await run({ ...getToken, email: EMMA });
	expect(error?.description).toContain('"access_token":"[hidden]"');
	expect(JSON.stringify(error) + log).not.toContain('a-token');
});
