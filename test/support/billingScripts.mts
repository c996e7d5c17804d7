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

const bodies = {
	refusal: fc.constantFrom(...CODES.map(envelope)),
	bare: fc.constantFrom('', HTML, '{}', '{"message":"no"}'),
	odd: fc.constantFrom(
		'',
		'[]',
		'{}',
		HTML,
		'null',
		'{"status":"success"}',
		'{"status":"pending"}',
	),
};

export const answered = (
	bills: boolean,
	status: number,
	body: string,
	retryAfter = '',
): Behaviour => ({
	bills,
	answer: http(status, retryAfter ? { 'Retry-After': retryAfter } : {}, body),
});

/** What a truthful service may answer. */
const answers = weighted<Behaviour>(
	[
		4,
		fc
			.constantFrom<unknown>(1_700_000_000, 1_700_000_000_000_000, -1, 1e300, '1', null, {})
			.map((created) => success({ created })),
	],
	[
		3,
		fc
			.tuple(fc.constantFrom(200, 400, 401, 403, 404, 409, 422, 429), bodies.refusal)
			.map(([status, body]) => answered(false, status, body)),
	],
	[
		1,
		fc
			.tuple(fc.constantFrom(400, 401, 403, 404, 422), bodies.bare)
			.map(([status, body]) => answered(false, status, body)),
	],
	[
		2,
		fc
			.tuple(fc.constantFrom(...RETRY_AFTER), bodies.bare)
			.map(([retryAfter, body]) => answered(false, 429, body, retryAfter)),
	],
	// The service or something before it failed: nobody can tell what became of the upgrade.
	[
		3,
		fc
			.tuple(
				fc.boolean(),
				fc.constantFrom(301, 302, 303, 304, 307, 308, 408, 418, 499, 500, 502, 503, 504, 520),
				fc.oneof(bodies.refusal, bodies.bare, bodies.odd),
				fc.constantFrom(...RETRY_AFTER),
			)
			.map((given) => answered(...given)),
	],
	[
		1,
		fc
			.tuple(fc.boolean(), fc.constantFrom(200, 201, 202, 206), bodies.odd)
			.map((given) => answered(...given)),
	],
	[
		1,
		fc
			.constantFrom(400, 401, 403, 409, 429, 500)
			.map((status) => ({ ...success(), answer: success().answer!.replace('200', `${status}`) })),
	],
	[1, fc.boolean().map((bills) => ({ bills, answer: 'garbage\r\n\r\n' }))],
);

const behaviour = weighted<Behaviour>(
	[128, answers],
	[
		48,
		fc
			.tuple(answers, fc.nat(400), fc.boolean())
			.map(([answer, cut, resets]) => ({ ...answer, cut, resets })),
	],
	[16, fc.boolean().map((bills) => ({ bills, breaks: true }))],
	[1, fc.boolean().map((bills) => ({ bills }))],
);

/** The contract confirms an upgrade by its record; of any other write, the status says that it is done. */
function truthful({ writing, behaviours, ...rest }: Script): Script {
	const confirms = ({ answer = '' }: Behaviour) =>
		/^HTTP\/1.1 2/.test(answer) && /\r\n\r\n{"status":"success"/.test(answer);
	return {
		...rest,
		writing,
		behaviours:
			writing === 'upgrade'
				? behaviours
				: behaviours.map((requests) =>
						requests.map((one) => (confirms(one) ? { ...one, bills: true } : one)),
					),
	};
}

/** Mostly `false`, for each of so many items. */
const rarely = (count: number) =>
	fc.array(weighted([5, fc.constant(false)], [1, fc.constant(true)]), {
		minLength: count,
		maxLength: count,
	});

/** Most often each item buys something of its own. */
const purchases = (count: number) => {
	const own = [...Array(count).keys()];
	return weighted([3, fc.constant(own)], [1, fc.tuple(...own.map((item) => fc.nat(item)))]);
};

export const script: fc.Arbitrary<Script> = fc
	.array(fc.array(behaviour, { maxLength: 4 }), { minLength: 1, maxLength: 4 })
	.chain((behaviours) =>
		fc.record({
			writing: fc.constantFrom<Writing>('upgrade', 'upgrade', 'create', 'custom'),
			entry: fc.constantFrom<Entry>('run', 'run', 'execute', 'tool', 'toolAtOnce'),
			tls: fc.constantFrom('none', 'none', 'none', 'trusted', 'trusted', 'untrusted'),
			behaviours: fc.constant(behaviours),
			lists: weighted<Behaviour[]>(
				[3, fc.constant([])],
				[1, fc.array(behaviour, { maxLength: 4 })],
			),
			connections: fc.array(
				weighted<ConnectionFault>(
					[300, fc.constant('none')],
					[50, fc.constant('reset')],
					[1, fc.constant('stall')],
				),
				{ maxLength: 4 },
			),
			throwing: rarely(behaviours.length),
			purchases: purchases(behaviours.length),
			previews: rarely(behaviours.length),
			allowsRepeated: fc.boolean(),
			node: fc.record({
				onError: fc.constantFrom('stopWorkflow', 'continueErrorOutput', 'continueRegularOutput'),
				retryOnFail: fc.boolean(),
				maxTries: fc.integer({ min: 2, max: 5 }),
			}),
			timestamps: fc.constantFrom('iso', 'unix'),
			simplify: fc.boolean(),
			failingCredentialReads: weighted(
				[6, fc.constant<number[]>([])],
				[1, fc.array(fc.nat(4), { maxLength: 2 })],
			),
			cancelAt: weighted<number | undefined>([10, fc.constant(undefined)], [1, fc.nat(4)]),
		}),
	)
	.map(truthful);
