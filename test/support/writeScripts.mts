/** Random scripts for writes: executions of one workflow, and what the service and the network do meanwhile. */
import fc from 'fast-check';
import { type Drawn, weighted } from './arbitraries.mts';
import { confirmation, CONFIRMS, garbage } from './countingService.mts';
import type { Asked, ConnectionFault, Reaction } from './countingService.mts';
import { http, json } from './rawServer.mts';

export const PERSONS = 5;

const either = fc.boolean();
const HTML = '<html><body>Sorry</body></html>';
const CODES = [1, 2, 3, 4].map((code) => `plan-upgrade-${code}`).concat('other', '');
const RETRY_AFTER = ['', '0', '-1', '0.01', 'x', 'Wed, 21 Oct 2015 07:28:00 GMT', '86400'];
/** The service or a gateway failed, so nobody can tell what became of the write. */
const FAILED = [301, 302, 303, 304, 307, 308, 408, 500, 502, 503, 504, 520];

const envelope = (errorCode: string) => ({ status: 'error', errorCode });
const bare = ['', HTML, '{}', '[]', 'null', '{"message":"no"}', '{"status":"pending"}'];

/** Refuses a write. `plan-upgrade-1` proves nothing: the payment failed, and a person has to act. */
export const refuse = (errorCode: string, status = 401): Reaction => ({
	bills: false,
	...(errorCode !== 'plan-upgrade-1' && { proves: 'refusal' }),
	respond: () => json(envelope(errorCode), status),
});

export const refuseBare = (status: number, body = '', retryAfter = ''): Reaction => ({
	bills: false,
	proves: 'refusal',
	respond: () => http(status, retryAfter ? { 'Retry-After': retryAfter } : {}, body),
});

/** Responds without a proof, and carries the write out or not. */
const unclear = (respond: Reaction['respond']) =>
	either.map((bills): Reaction => ({ bills, respond }));

/** Changes that make a confirmation none, whatever was asked for. */
const CHANGES: object[] = [
	...[undefined, 'SUCCESS', 'failure', 'pending', 'Error'].map((status) => ({ status })),
	{ errorCode: 'plan-upgrade-2' },
];
/** Bodies that confirm another upgrade, or no token. */
const OTHERS: Array<[Asked['writing'], object]> = [
	['upgrade', { data: { plan_id: 'another' } }],
	['upgrade', { data: { plan_id: false } }],
	['upgrade', { data: { plan_id: '' } }],
	['upgrade', { data: [] }],
	['upgrade', {}],
	['token', {}],
	['token', { token: '' }],
	['token', { data: { token: 7 } }],
];

const statuses = (...all: number[]) => fc.constantFrom(...all);
const bodies = fc.constantFrom(...bare, ...CODES.map((code) => JSON.stringify(envelope(code))));

const refusals = fc
	.tuple(fc.constantFrom(...CODES), statuses(200, 400, 401, 403, 404, 409, 422, 429))
	.map((given) => refuse(...given));
const bareRefusals = fc
	.tuple(statuses(400, 401, 403, 404, 418, 422), fc.constantFrom(...bare))
	.map((given) => refuseBare(...given));
const failures = fc
	.tuple(statuses(...FAILED), bodies)
	.chain(([status, body]) => unclear(() => http(status, {}, body)));
const pages = statuses(200, 201, 202, 206).chain((one) => unclear(() => http(one, {}, HTML)));
const empty = fc.constantFrom('', '{}', '[]').chain((body) => unclear(() => http(200, {}, body)));
const changed = fc
	.constantFrom(...CHANGES)
	.chain((change) => unclear((asked) => json({ ...confirmation(asked), ...change })));
const others = fc.constantFrom(...OTHERS).chain(([writing, fields]) => {
	const body = { status: 'success', ...fields };
	return unclear((asked) => json(asked.writing === writing ? body : {}));
});
const odd = statuses(201, 202, 206, 400, 401, 403, 409, 429, 500).chain((status) =>
	unclear((asked) => json(confirmation(asked), status)),
);

const responses = weighted<Reaction>(
	[8, fc.constant(CONFIRMS)],
	[3, refusals],
	[1, bareRefusals],
	[2, fc.constantFrom(...RETRY_AFTER).map((later) => refuseBare(429, '', later))],
	[3, failures],
	[1, pages],
	[1, empty],
	[2, changed],
	[2, others],
	[1, odd],
	[1, unclear(garbage)],
);

const cutShort = fc
	.tuple(responses, fc.nat(400), either)
	.map(([whole, cut, resets]): Reaction => ({ ...whole, cut, resets }));

const reaction = weighted<Reaction>(
	[800, responses],
	[200, cutShort],
	[100, unclear(garbage).map((one): Reaction => ({ ...one, breaks: true }))],
	[1, unclear(() => undefined)],
);
const reactions = (maxLength: number) => fc.array(reaction, { maxLength });

const rarely = fc.nat(5).map((drawn) => drawn === 0);
const connection = weighted<ConnectionFault>(
	[900, fc.constant('none')],
	[150, fc.constant('reset')],
	[1, fc.constant('stall')],
);

export type Item = Drawn<typeof item>;
const item = fc.record({
	person: fc.nat(PERSONS - 1),
	content: fc.constantFrom('pro', 'max'),
	key: fc.nat(1),
	previews: rarely,
	/** Makes its Simplify an expression that throws. */
	throws: rarely,
});

export type Execution = Drawn<typeof execution>;
const execution = fc.record({
	writing: fc.constantFrom('upgrade', 'upgrade', 'create', 'token', 'custom'),
	/**
	 * How n8n calls the node: in a run, by the step executor, or as a tool, one call after the other or all at once, or as
	 * version 3 of n8n's AI Agent does, which has n8n run tools as nodes.
	 */
	entry: fc.constantFrom('run', 'run', 'run', 'execute', 'tool', 'toolAtOnce', 'toolNode'),
	address: fc.nat(1),
	/** ID of the credential in n8n. */
	credential: fc.nat(1),
	/** The credential has a new private key. */
	rotated: either,
	node: fc.nat(1),
	keyed: either,
	items: fc.array(item, { minLength: 1, maxLength: 4 }),
	settings: fc.record({
		onError: fc.constantFrom('stopWorkflow', 'continueErrorOutput', 'continueRegularOutput'),
		retryOnFail: either,
		maxTries: fc.integer({ min: 2, max: 5 }),
	}),
	allowsRepeated: either,
	failingCredentialReads: weighted<number[]>(
		[8, fc.constant([])],
		[1, fc.array(fc.nat(4), { maxLength: 2 })],
	),
	cancelAt: weighted<number | undefined>([12, fc.constant(undefined)], [1, fc.nat(4)]),
	overlaps: either,
	reactions: reactions(6),
	lists: weighted<Reaction[]>([4, fc.constant([])], [1, reactions(3)]),
	connections: fc.array(connection, { maxLength: 4 }),
});

const SHARED = ['writing', 'address', 'credential', 'rotated', 'node', 'keyed', 'items'] as const;

/** Returns an execution that differs from the first one in one thing at most: that is where a key goes wrong. */
const similar = (first: Execution) =>
	fc
		.tuple(execution, fc.subarray([...SHARED], { maxLength: 1 }))
		.map(([other, changes]): Execution => {
			const kept = SHARED.filter((name) => !changes.includes(name));
			return { ...other, ...Object.fromEntries(kept.map((name) => [name, first[name]])) };
		});

export type Script = Drawn<typeof script>;
export const script = execution.chain((first) =>
	fc.record({
		tls: fc.constantFrom('none', 'none', 'none', 'trusted', 'trusted', 'untrusted'),
		executions: fc.array(similar(first), { maxLength: 2 }).map((others) => [first, ...others]),
	}),
);
