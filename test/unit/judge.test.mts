import { withRetries } from '../../nodes/ResumeManagement/http/request.ts';
import { judge } from '../../nodes/ResumeManagement/http/judge.ts';
import { Failure } from '../../nodes/shared/failure.ts';
import { shared } from '../support/environment.mts';

/** The meaning of each response. For the requests that are sent again: test/engine/faults.test.mts. */

const error = (errorCode?: string, errorMessage?: string) => {
	return { status: 'error', errorCode, errorMessage };
};
const LOCKED = error('user-9', 'user is locked.');
const TWO_WAYS = { status: 'success', errorCode: 'plan-upgrade-2' };
const SENTENCE = 'error code: connect-01, please contact administrator';
const SENTENCE_1 = 'error code: plan-upgrade-1, please contact administrator';
const SORRY = 'error code: plan-upgrade-1. Sorry';
const PAGE = '<!DOCTYPE html><html><body>Bad gateway</body></html>';
const XML = '<Error><Code>AccessDenied</Code></Error>';
const KEY_REFUSED = 'The service refused access';
const REJECTED = 'The service rejected the request';
/** Proved by the response. Without a proof, the request may have been carried out. */
const REFUSED = { outcome: 'refused' } as const;
const HELD = { outcome: 'held' } as const;
const TRANSIENT = { transient: true };

const REPORTED = 'The service reported: ';
const STRIPE = 'stripe error (plan-upgrade-1)';
test.each<[status: number, body: unknown, message: string, facts?: Failure['facts']]>([
	[200, LOCKED, `${REPORTED}user is locked (user-9)`, { code: 'user-9', ...REFUSED }],
	[200, error('p-1', 'The p-10 is wrong'), `${REPORTED}The p-10 is wrong (p-1)`, REFUSED],
	[200, error('X-9', 'x-9: bad'), `${REPORTED}x-9: bad`, REFUSED],
	[200, error('E1', 'wait ...'), `${REPORTED}wait ... (E1)`, REFUSED],
	[200, error(), `${REPORTED}an error, without errorCode and errorMessage`, REFUSED],
	// Services beside the specification: nothing proves that nothing was done.
	[
		200,
		{ status: 'fail', data: { id: 'none' } },
		`${REPORTED}an error, without errorCode and errorMessage`,
	],
	[
		200,
		{ success: false, message: 'no' },
		`${REPORTED}an error, without errorCode and errorMessage`,
	],
	[200, error(SENTENCE), REPORTED + SENTENCE, { code: 'connect-01', ...REFUSED }],
	[200, error('connect-01'), `${REPORTED}connect-01`, REFUSED],
	[429, error('plan-upgrade-1'), `${REPORTED}stripe error (plan-upgrade-1)`, HELD],
	[401, error(SORRY), REPORTED + SORRY, HELD],
	[402, { errorCode: 'PLAN-UPGRADE-1' }, `${REPORTED}stripe error (PLAN-UPGRADE-1)`, HELD],
	// A code of the specification under another name.
	[200, { status: 'error', error: { code: 'plan-upgrade-1' } }, `${REPORTED}${STRIPE}`, HELD],
	[200, { status: 'error', error_code: 'plan-upgrade-1' }, `${REPORTED}${STRIPE}`, HELD],
	[200, { status: 'error', errorCode: ['plan-upgrade-1'] }, `${REPORTED}${STRIPE}`, HELD],
	[400, { error: { code: 'plan-upgrade-1' } }, `${REJECTED} (HTTP 400)`, HELD],
	[200, error(undefined, 'Failed:\nplan-upgrade-1'), `${REPORTED}Failed:\nplan-upgrade-1`, HELD],
	[
		200,
		{ ...error('plan-upgrade-2'), docs: '#plan-upgrade-1' },
		`${REPORTED}wrong plan ID (plan-upgrade-2)`,
		REFUSED,
	],
	[200, { docs: '#connect-01', ...error('plan-upgrade-1') }, `${REPORTED}${STRIPE}`, HELD],
	[400, 'plan-upgrade-1', `${REJECTED} (HTTP 400)`, HELD],
	[401, error('plan-upgrade-3'), `${REPORTED}unauthorized token (plan-upgrade-3)`, REFUSED],
	[408, error('E1'), `${REPORTED}E1`],
	[503, error('E1', 'slow'), `${REPORTED}slow (E1)`, TRANSIENT],
	[422, { status: 'success', errorCode: 'E1' }, `${REPORTED}E1`],
	[500, error('E1'), `${REPORTED}E1`, TRANSIENT],
	// Without a reason, the status says more.
	[500, error(), 'The service had an internal error (HTTP 500)', TRANSIENT],
	[401, { success: false, message: 'no' }, `${KEY_REFUSED} (HTTP 401)`, REFUSED],
	// Only an error in the form of the specification proves that nothing was done.
	[200, TWO_WAYS, `${REPORTED}wrong plan ID (plan-upgrade-2)`],
	[200, { status: 'ERROR', errorMessage: 'no' }, `${REPORTED}no`],
	[302, '', 'The service redirected the request (HTTP 302)'],
	[401, {}, `${KEY_REFUSED} (HTTP 401)`, REFUSED],
	[404, {}, 'The service has nothing at this address (HTTP 404)', REFUSED],
	[400, { errors: { email: 'no' } }, `${REJECTED} (HTTP 400)`, REFUSED],
	[409, { status: 'success' }, `${REJECTED} (HTTP 409)`],
	// A body that breaks off may have said that the write was carried out.
	[409, '{"status":"succ', `${REJECTED} (HTTP 409)`],
	[401, error(undefined, SENTENCE_1), REPORTED + SENTENCE_1, { code: 'plan-upgrade-1', ...HELD }],
	[304, '', 'Expected HTTP 200, got 304'],
	[500, { oops: true }, 'The service had an internal error (HTTP 500)', TRANSIENT],
	[500, PAGE, `The service had an internal error (HTTP 500, with a web page)`, TRANSIENT],
	[502, PAGE, `The service is not available (HTTP 502, with a web page)`, TRANSIENT],
	[200, PAGE, 'The response is a web page'],
	[200, '', 'The service sent an empty response'],
	[403, XML, `${KEY_REFUSED} (HTTP 403)`, REFUSED],
	[200, `<?xml version="1.0"?>${XML}`, 'The response is not JSON'],
])('HTTP %d with %j is an error', async (statusCode, body, message, facts = {}) => {
	const { outcome = 'unknown', ...others } = facts;
	const known = { httpStatus: statusCode, ...others };
	const description = expect.stringMatching(/\w/) as string;
	const failure = { message, description, outcome, facts: known };
	await expect(async () => judge({ statusCode, headers: {}, body })).rejects.toMatchObject(failure);
});

test.each([undefined, null, '', 0, '0', false])('%j is no error code', (errorCode) => {
	const body = { status: 'success', errorCode };
	expect(judge({ statusCode: 200, headers: {}, body })).toBe(body);
});

test('no pause before a repetition is longer than a minute', async () => {
	const { setTimeout } = shared;
	const pauses: unknown[] = [];
	const run = (resume: () => void, pause?: number) => setTimeout(resume, void pauses.push(pause));
	jest.spyOn(shared, 'setTimeout').mockImplementation(run as typeof setTimeout);
	jest.spyOn(Math, 'random').mockReturnValue(0.9);
	const failure = new Failure('network.lost', {}, { transient: true });
	const attempt = () => Promise.reject(failure);
	await expect(withRetries({ retries: 9, write: false }, undefined, attempt)).rejects.toBe(failure);
	jest.restoreAllMocks();
	// Jest itself waits half a second now and then.
	const seconds = pauses.filter((one) => one !== 500).map((one) => Number(one) / 1_000);
	expect(seconds).toEqual([0.45, 0.9, 1.8, 3.6, 7.2, 14.4, 28.8, 54, 54]);
});
