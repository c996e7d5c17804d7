import { withRetries } from '../../nodes/ResumeManagement/http/attempts.ts';
import { Failure } from '../../nodes/shared/failure.ts';
import { judge } from '../../nodes/ResumeManagement/http/judge.ts';

/** What an answer means, and whether its request may be sent again by itself. */

const error = (errorCode?: string, errorMessage?: string) => ({
	status: 'error',
	errorCode,
	errorMessage,
});
const LOCKED = error('user-9', 'user is locked');
const TWO_WAYS = { status: 'success', errorCode: 'plan-upgrade-2' };
const NOT_FOLLOWED = 'which was not followed to keep the key safe';
const PAGE = '<!DOCTYPE html><html><body>Bad gateway</body></html>';
const IN_PAGE = 'with a web page in place of JSON';
const SENTENCE = 'error code: connect-01, please contact administrator';
/** What an answer proves; without it, the request may have been carried out. */
const REFUSED = { mayHaveHappened: false };
const ON_HOLD = { ...REFUSED, onHold: true };

test.each<[status: number, body: unknown, message: string, facts?: object]>([
	[200, LOCKED, 'The service answered: user is locked (user-9)', { code: 'user-9', ...REFUSED }],
	[200, error(), 'The service answered: an error without a reason', REFUSED],
	[200, error(SENTENCE), `The service answered: ${SENTENCE}`, { code: 'connect-01', ...REFUSED }],
	[401, error('E1'), 'The service answered: E1', REFUSED],
	[429, error('plan-upgrade-1'), 'The service answered: stripe error (plan-upgrade-1)', ON_HOLD],
	[
		402,
		{ errorCode: 'PLAN-UPGRADE-1' },
		'The service answered: stripe error (PLAN-UPGRADE-1)',
		ON_HOLD,
	],
	[
		401,
		error('plan-upgrade-3'),
		'The service answered: unauthorized token (plan-upgrade-3)',
		REFUSED,
	],
	[
		401,
		error('plan-upgrade-4'),
		'The service answered: token type error (plan-upgrade-4)',
		REFUSED,
	],
	[200, error('connect-01'), 'The service answered: connect-01', REFUSED],
	[408, error('E1'), 'The service answered: E1'],
	[422, { status: 'success', errorCode: 'E1' }, 'The service answered: E1'],
	[500, error('E1'), 'The service answered: E1', { transient: true }],
	// Only what the specification calls an error proves that nothing was done.
	[200, TWO_WAYS, 'The service answered: wrong plan ID (plan-upgrade-2)'],
	[200, { status: 'ERROR', errorMessage: 'no' }, 'The service answered: no'],
	[302, '', `The service redirected the request, ${NOT_FOLLOWED} (HTTP 302)`],
	[401, {}, 'The service did not accept the private key (HTTP 401)', REFUSED],
	[404, {}, 'The service has nothing at this address (HTTP 404)', REFUSED],
	[400, { errors: { email: 'no' } }, 'The service rejected the request (HTTP 400)', REFUSED],
	[
		402,
		{ success: true, data: { plan_id: 'pro' } },
		'The service rejected the request (HTTP 402)',
		REFUSED,
	],
	[
		401,
		{ fault: { detail: {} } },
		'The service did not accept the private key (HTTP 401)',
		REFUSED,
	],
	[409, { status: 'success' }, 'The service rejected the request (HTTP 409)'],
	[409, '{"status":"succ', 'The service rejected the request (HTTP 409)', REFUSED],
	[418, '', 'The service rejected the request (HTTP 418)', REFUSED],
	[304, '', 'The service answered with HTTP 304 in place of 200'],
	[500, { oops: true }, 'The service had an internal error (HTTP 500)', { transient: true }],
	[500, PAGE, `The service had an internal error (HTTP 500, ${IN_PAGE})`],
	[502, PAGE, `The service is not available (HTTP 502, ${IN_PAGE})`, { transient: true }],
	[200, PAGE, 'A web page was received in place of JSON'],
	[200, 'hello', 'The answer is not JSON'],
	[200, '', 'The service sent an empty answer'],
	[200, '<?xml version="1.0"?><a/>', 'The answer is not JSON'],
])('HTTP %d with %j is an error', (statusCode, body, message, ...[facts]) => {
	let failure: unknown;
	try {
		judge({ statusCode, body });
	} catch (thrown) {
		failure = thrown;
	}
	const { mayHaveHappened, facts: known, message: said, description } = failure as Failure;
	expect([said, description]).toEqual([message, expect.stringMatching(/\w/)]);
	const wanted = { httpStatus: statusCode, mayHaveHappened: true, ...facts };
	expect({ ...known, mayHaveHappened }).toMatchObject(wanted);
});

test.each([undefined, null, '', 0, '0', false])('%j is no error code', (errorCode) => {
	const body = { status: 'success', errorCode };
	expect(judge({ statusCode: 200, body: body as never })).toBe(body);
});

test.each<[string, object, reads: number, writes: number]>([
	['whose outcome is unknown', {}, 3, 1],
	['of which nothing was done', REFUSED, 3, 3],
	['that a person has to settle', ON_HOLD, 3, 1],
	['that would fail again', { ...REFUSED, transient: false }, 1, 1],
	['after which the service asks for a pause of hours', { ...REFUSED, retryAfter: 1e7 }, 1, 1],
])('a request %s is sent so often', async (_, facts, ...times) => {
	const random = jest.spyOn(Math, 'random').mockReturnValue(0);
	for (const write of [false, true]) {
		const attempt = jest.fn(() =>
			Promise.reject(new Failure('service.error', {}, { transient: true, ...facts })),
		);
		await expect(withRetries({ retries: 2, write }, attempt)).rejects.toThrow();
		expect(attempt).toHaveBeenCalledTimes(times[write ? 1 : 0]!);
	}
	random.mockRestore();
});
