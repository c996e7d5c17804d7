import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byId, customSend, getToken, upgrade, userGet } from '../support/parameters.mts';
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

const confirmed = (data: object) => ({ status: 'success', data });
const NOT_CONFIRMED = 'The service did not confirm the request: ';

test.each<[body: unknown, message: string, status?: number]>([
	// As a proxy may answer by itself.
	[confirmed({ plan_id: pro }), 'The service answered with HTTP 201 in place of 200', 201],
	[confirmed({ plan_id: pro }), 'The service answered with HTTP 203 in place of 200', 203],
	[
		confirmed({ plan_id: pro, errorCode: 'plan-upgrade-1' }),
		`${NOT_CONFIRMED}its data reports an error`,
	],
	[{ status: 'pending' }, `${NOT_CONFIRMED}its status is "pending"`],
	[
		confirmed({ plan_id: 'basic' }),
		`${NOT_CONFIRMED}its subscription is not of the requested plan`,
	],
])(
	'an upgrade that is answered by %j has an unknown outcome',
	async (body, message, ...[status = 200]) => {
		answers('/plan/upgrade', status, body as object);
		const { error } = await run({ ...upgrade, email: EMMA, planId: pro });
		expect(error?.message).toBe(`Outcome unknown: ${message}`);
		expect(error?.description).toContain('before you send it again');
		expect(sent()).toHaveLength(1);
	},
);

const CREATE = { resource: 'resume', operation: 'create', userId: byId('user-001') };
const CONNECT = { ...getToken, operation: 'connect' };
const SEND = { ...customSend, path: 'connect' };

test.each([
	['Create', CREATE, '/user/user-001/resume'],
	['Get Token', { ...getToken, email: EMMA }, '/user/token'],
	['Connect', { ...CONNECT, email: EMMA }, '/connect'],
	['Send', SEND, '/connect'],
])(
	'%s is confirmed by nothing but HTTP 200 with a success throughout',
	async (_, parameters, path) => {
		const success = { status: 'success', token: 'a-token', data: { id: 1 } };
		const failed = { ...success, data: { status: 'error', errorCode: 'E1' } };
		const cases: Array<[number, object]> = [
			[201, success],
			[203, success],
			[200, failed],
		];
		for (const [status, body] of cases) {
			answers(path, status, body);
			const { error, log } = await run(parameters);
			expect(error?.message).toMatch(/^Outcome unknown: /);
			expect(JSON.stringify(error) + log).not.toContain('a-token');
			sandbox().faults.clear();
		}
		expect(sent()).toHaveLength(cases.length);
	},
);

test('a refusal by a gateway is a refusal, and frees the item for a retry', async () => {
	const gateway = { fault: { faultstring: 'Invalid ApiKey', detail: { errorcode: 'oauth.v2' } } };
	answers('/plan/upgrade', 401, gateway);
	const node = { onError: 'continueErrorOutput' } as const;
	const { failures } = await run({ ...upgrade, email: EMMA, planId: pro }, { node });
	expect(failures).toMatchObject([{ outcome: 'refused', id: 'service.keyRefused' }]);
});

test('an answer that is not an HTTP error is not repeated in an error, as it may hold a token', async () => {
	for (const status of [200, 202]) {
		answers('/user/token', status, { status: 'pending', jwt: 'a-token' });
		const { error, log } = await run({ ...getToken, email: EMMA });
		expect(error?.message).toMatch(/^Outcome unknown: /);
		expect(JSON.stringify(error) + log).not.toContain('a-token');
		sandbox().faults.clear();
	}
});
