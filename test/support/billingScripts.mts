/** What {@link Script}s the billing test plays, and how they come about. */
import fc from 'fast-check';

import { type Behaviour, type ConnectionFault, success } from './billingService.mts';
import { http } from './rawServer.mts';
import { weighted } from './weighted.mts';

export type Entry = 'run' | 'execute' | 'tool' | 'toolAtOnce';

/** What writes: `create` names its users by e-mail, and `custom` is a Custom Request. */
export type Writing = 'upgrade' | 'create' | 'custom';

export interface Script {
	writing: Writing;
	entry: Entry;
	tls: 'none' | 'trusted' | 'untrusted';
	/** What each item buys; another item may buy the same. */
	purchases: number[];
	/** Which items are previews alone. */
	previews: boolean[];
	allowsRepeated: boolean;
	/** What the service does with the requests for each purchase, one after the other. */
	behaviours: Behaviour[][];
	/** What it does with requests for the list of users. */
	lists: Behaviour[];
	connections: ConnectionFault[];
	/** Which items' Simplify is an expression that throws. */
	throwing: boolean[];
	node: { onError: string; retryOnFail: boolean; maxTries: number };
	timestamps: 'iso' | 'unix';
	simplify: boolean;
	failingCredentialReads: number[];
	/** Cancels the execution at this request. */
	cancelAt?: number;
}

export const envelope = (errorCode: string) => JSON.stringify({ status: 'error', errorCode });
const HTML = '<html><body>Sorry</body></html>';
const RETRY_AFTER = ['', '0', '-1', '0.01', 'x', 'Wed, 21 Oct 2015 07:28:00 GMT', '86400'];
const CODES = [1, 2, 3, 4].map((code) => `plan-upgrade-${code}`).concat('other', '');

const refusal = fc.constantFrom(...CODES.map(envelope));
const bare = fc.constantFrom('', HTML, '{}', '{"message":"no"}');
const odd = fc.constantFrom(
	...['', '[]', '{}', HTML, 'null', '{"status":"success"}', '{"status":"pending"}'],
);

export const answered = (
	bills: boolean,
	status: number,
	body: string,
	retryAfter = '',
): Behaviour => ({
	bills,
	answer: http(status, retryAfter ? { 'Retry-After': retryAfter } : {}, body),
});

const either = fc.boolean();
const nothing = fc.constant(false);
const later = fc.constantFrom(...RETRY_AFTER);
const answeredBy = (
	bills: fc.Arbitrary<boolean>,
	statuses: number[],
	body: fc.Arbitrary<string>,
	retryAfter: fc.Arbitrary<string> = fc.constant(''),
) => {
	const given = fc.tuple(bills, fc.constantFrom(...statuses), body, retryAfter);
	return given.map((all) => answered(...all));
};

const CREATED: unknown[] = [1_700_000_000, 1_700_000_000_000_000, -1, 1e300, '1', null, {}];
/** The service or something before it failed: nobody can tell what became of the upgrade. */
const FAILED = [301, 302, 303, 304, 307, 308, 408, 500, 502, 503, 504, 520];
const withStatus = (status: number): Behaviour => ({
	...success(),
	answer: success().answer!.replace('200', `${status}`),
});

/** What a truthful service may answer. */
const answers = weighted<Behaviour>(
	[4, fc.constantFrom(...CREATED).map((created) => success({ created }))],
	[3, answeredBy(nothing, [200, 400, 401, 403, 404, 409, 422, 429], refusal)],
	[1, answeredBy(nothing, [400, 401, 403, 404, 418, 422, 499], fc.oneof(bare, odd))],
	[2, answeredBy(nothing, [429], bare, later)],
	[3, answeredBy(either, FAILED, fc.oneof(refusal, bare, odd), later)],
	[1, answeredBy(either, [200, 201, 202, 206], odd)],
	[1, fc.constantFrom(400, 401, 403, 409, 429, 500).map(withStatus)],
	[1, either.map((bills) => ({ bills, answer: 'garbage\r\n\r\n' }))],
);

const cutShort = fc
	.tuple(answers, fc.nat(400), fc.boolean())
	.map(([answer, cut, resets]): Behaviour => ({ ...answer, cut, resets }));
const behaviour = weighted<Behaviour>(
	[128, answers],
	[48, cutShort],
	[16, either.map((bills) => ({ bills, breaks: true }))],
	[1, either.map((bills) => ({ bills }))],
);
const behaviours = fc.array(behaviour, { maxLength: 4 });

/** The contract confirms an upgrade by its record; of any other write, the status says that it is done. */
function truthful({ writing, behaviours, ...rest }: Script): Script {
	const confirms = ({ answer = '' }: Behaviour) =>
		/^HTTP\/1.1 2/.test(answer) && /\r\n\r\n{"status":"success"/.test(answer);
	const told = (one: Behaviour) => (confirms(one) ? { ...one, bills: true } : one);
	const isProved = writing === 'upgrade';
	const own = isProved ? behaviours : behaviours.map((requests) => requests.map(told));
	return { ...rest, writing, behaviours: own };
}

/** Mostly `false`, for each of so many items. */
const rarely = (count: number) =>
	fc.array(fc.constantFrom(false, false, false, false, false, true), {
		minLength: count,
		maxLength: count,
	});

/** Most often each item buys something of its own. */
const purchases = (count: number) => {
	const own = [...Array(count).keys()];
	return weighted([3, fc.constant(own)], [1, fc.tuple(...own.map((item) => fc.nat(item)))]);
};

const connections = fc.array(
	weighted<ConnectionFault>(
		[300, fc.constant('none')],
		[50, fc.constant('reset')],
		[1, fc.constant('stall')],
	),
	{ maxLength: 4 },
);

export const script: fc.Arbitrary<Script> = fc
	.array(behaviours, { minLength: 1, maxLength: 4 })
	.chain((ofItems) =>
		fc.record({
			writing: fc.constantFrom<Writing>('upgrade', 'upgrade', 'create', 'custom'),
			entry: fc.constantFrom<Entry>('run', 'run', 'execute', 'tool', 'toolAtOnce'),
			tls: fc.constantFrom('none', 'none', 'none', 'trusted', 'trusted', 'untrusted'),
			behaviours: fc.constant(ofItems),
			lists: weighted<Behaviour[]>([3, fc.constant([])], [1, behaviours]),
			connections,
			throwing: rarely(ofItems.length),
			purchases: purchases(ofItems.length),
			previews: rarely(ofItems.length),
			allowsRepeated: fc.boolean(),
			node: fc.record({
				onError: fc.constantFrom('stopWorkflow', 'continueErrorOutput', 'continueRegularOutput'),
				retryOnFail: fc.boolean(),
				maxTries: fc.integer({ min: 2, max: 5 }),
			}),
			timestamps: fc.constantFrom('iso', 'unix'),
			simplify: fc.boolean(),
			failingCredentialReads: weighted<number[]>(
				[6, fc.constant([])],
				[1, fc.array(fc.nat(4), { maxLength: 2 })],
			),
			cancelAt: weighted<number | undefined>([10, fc.constant(undefined)], [1, fc.nat(4)]),
		}),
	)
	.map(truthful);
