import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';

import { processedData } from '../support/deduplication.mts';
import { runNode } from '../support/engine.mts';
import { shared } from '../support/environment.mts';
import { bodyField, byId, customSend, getToken, upgrade } from '../support/parameters.mts';
import { json, type RawServer, startRawServer } from '../support/rawServer.mts';
import { weighted } from '../support/weighted.mts';

/**
 * The rule behind all writes: what is called a success was confirmed for this very account and request, and
 * a key is sent once, whatever else it is used for. Executions of one workflow, some of them at once, against
 * a service that keeps its own count.
 */

/** `PROOF_SCRIPTS=20000 npx jest …` for a long run. */
const SCRIPTS = Number(process.env.PROOF_SCRIPTS ?? 300);

type Writing = 'upgrade' | 'create' | 'token' | 'custom';

interface Item {
	writing: Writing;
	/** An account is a base URL and a private key. */
	account: [address: number, key: number];
	person: number;
	/** The plan, or what else is in the body. */
	content: string;
	/** Of the Send Once Key; undefined where it has none. */
	key?: number;
}

/** What the service does with one request. */
interface Reaction {
	bills: boolean;
	/** Whether it says what the contract says of a success. */
	confirms: boolean;
	/** Whether it says, as the contract does, that nothing was done. */
	refuses?: boolean;
	answer(wanted: Item): string;
	/** Bytes that arrive; all by default. */
	cut?: number;
}

interface Execution {
	items: Item[];
	/** The node that they come to, as two in one workflow may share their keys. */
	node: number;
	/** Whether the one after it starts before this one ends. */
	overlaps: boolean;
	reactions: Reaction[];
}

const confirmation = ({ writing, content }: Item): object => ({
	status: 'success',
	...(writing === 'token' ? { token: 'abcdefgh' } : { data: { plan_id: content } }),
});

const answerOf = (item: Item) => json(confirmation(item));
const CONFIRMS: Reaction = { bills: true, confirms: true, answer: answerOf };

/** Answers with a 2xx that confirm nothing: a service, or what stands before it, may send them either way. */
const UNCLEAR: unknown[] = [
	...[{ message: 'Service temporarily unavailable' }, {}, [], { error: 'busy' }, ''],
	...['failure', 'pending', 'Error'].map((status) => ({ status })),
	{ success: false },
];
/** What makes a confirmation one of these. */
const CHANGES = [{ status: undefined }, { errorCode: 'plan-upgrade-2' }, { status: 'SUCCESS' }];

/** Answers that only an operation which asked for more does not take for a success. */
const OTHER_SUBJECT: Array<[Writing, object]> = [
	...['another', false, ''].map((plan): [Writing, object] => [
		'upgrade',
		{ data: { plan_id: plan } },
	]),
	['upgrade', { data: [] }],
	['upgrade', {}],
	['token', {}],
	['token', { token: '' }],
	['token', { data: { token: 7 } }],
];

const writings: Writing[] = ['upgrade', 'create', 'token', 'custom'];

/** Whether it is carried out or not, nobody is told. */
const says = (answer: Reaction['answer']) =>
	fc.boolean().map((bills): Reaction => ({ bills, confirms: false, answer }));
const unclear = fc.oneof(
	fc.oneof(...UNCLEAR.map((body) => says(() => json(body)))),
	fc.oneof(...CHANGES.map((change) => says((item) => json({ ...confirmation(item), ...change })))),
	fc.oneof(
		...OTHER_SUBJECT.map(([writing, body]) =>
			says((item) => json(item.writing === writing ? { status: 'success', ...body } : {})),
		),
	),
	says(() => json({}, 502)),
);

const refusal = (errorCode: string, status: number): Reaction => ({
	bills: false,
	confirms: false,
	refuses: errorCode !== 'plan-upgrade-1',
	answer: () => json({ status: 'error', errorCode }, status),
});
const reaction = weighted<Reaction>(
	[5, fc.constant(CONFIRMS)],
	[5, unclear],
	[2, fc.nat(60).map((cut) => ({ ...CONFIRMS, confirms: false, cut }))],
	[2, fc.constantFrom(200, 401).map((status) => refusal('plan-upgrade-2', status))],
	[1, fc.constant(refusal('plan-upgrade-1', 401))],
);

const item: fc.Arbitrary<Item> = fc.record({
	writing: fc.constantFrom(...writings),
	account: fc.tuple(fc.nat(1), fc.nat(1)),
	person: fc.nat(1),
	content: fc.constantFrom('pro', 'max'),
	key: fc.oneof(fc.constant(undefined), fc.nat(1), fc.nat(1)),
});

/** Mostly the same item again, with one thing changed: that is how keys go wrong. */
const changed = fc.tuple(
	item,
	fc.constantFrom('', 'account', 'person', 'content', 'writing', 'all' as const),
);
const items: fc.Arbitrary<Item[]> = fc
	.tuple(item, fc.array(changed, { maxLength: 2 }))
	.map(([first, others]) => [
		first,
		...others.map(([other, change]) => {
			if (change === 'all') return other;
			return { ...first, ...(change && { [change]: other[change as keyof Item] }) };
		}),
	]);

const executions: fc.Arbitrary<Execution[]> = items.chain((pool) =>
	fc.array(
		fc.record({
			items: fc
				.array(fc.nat(pool.length - 1), { minLength: 1, maxLength: 3 })
				.map((indexes) => indexes.map((index) => pool[index]!)),
			node: fc.nat(1),
			overlaps: fc.boolean(),
			reactions: fc.array(reaction, { maxLength: 3 }),
		}),
		{ minLength: 1, maxLength: 4 },
	),
);

interface Counted {
	request: string;
	confirmed: boolean;
	billed: boolean;
	refused: boolean;
}

let server: RawServer;
let counted: Counted[] = [];
let reactions: Reaction[] = [];
let script = 0;
const totals = {
	...{ scripts: 0, requests: 0, bills: 0, confirmed: 0 },
	...{ succeeded: 0, alreadySent: 0, failed: 0 },
};

beforeAll(async () => {
	server = await startRawServer((socket, { method, path, headers, body }) => {
		const { wanted, request } = readRequest(method, path, headers.authentication!, body);
		const { bills, confirms, refuses = false, answer, cut } = reactions.shift() ?? CONFIRMS;
		const text = answer(wanted);
		const isWhole = cut === undefined || cut >= text.length;
		counted.push({ request, billed: bills, confirmed: confirms && isWhole, refused: refuses });
		if (text.slice(0, cut) === '') socket.destroy();
		else socket.end(text.slice(0, cut));
	});
});
afterAll(async () => {
	processedData.isThere = false;
	await server.close();
	process.stdout.write(`proof: ${JSON.stringify(totals)}\n`);
});

/** What identifies a request, as the service sees it. */
function readRequest(method: string, path: string, authentication: string, body: string) {
	const [, , address, , ...rest] = path.split('/');
	const sent = JSON.parse(body) as { planId?: string; content?: string };
	const writing =
		{ upgrade: 'upgrade', token: 'token', resume: 'create' }[rest.at(-1)!] ?? 'custom';
	const wanted = { writing, content: sent.planId ?? sent.content } as Item;
	return { wanted, request: JSON.stringify([address, authentication, method, rest, sent]) };
}

/** The key is a part of who it is for, so that the service's count tells the keys apart. */
const nameOf = ({ key, person }: Item) => `key-${key ?? 'none'}-person-${person}`;

/** What each kind of write is asked for with, and what it sends. */
const WRITINGS: Record<
	Writing,
	(name: string, content: string) => [INodeParameters, path: string[], body: object]
> = {
	upgrade: (name, content) => {
		const email = `${name}@example.com`;
		const options = { allowRepeatedUpgrades: true };
		const body = { planId: content, email };
		return [{ ...upgrade, ...body, options }, ['plan', 'upgrade'], body];
	},
	create: (name, content) => {
		const parameters = { resource: 'resume', operation: 'create', userId: byId(name) };
		return [
			{ ...parameters, ...bodyField('content', content) },
			['user', name, 'resume'],
			{ content },
		];
	},
	token: (name, content) => {
		const email = `${name}@example.com`;
		const parameters = { ...getToken, email, ...bodyField('content', content) };
		return [parameters, ['user', 'token'], { email, content }];
	},
	custom: (name, content) => {
		const parameters = { ...customSend, path: `custom/${name}`, ...bodyField('content', content) };
		return [parameters, ['custom', name], { content }];
	},
};

function requestOf(one: Item): string {
	const [address, key] = one.account;
	const [, path, body] = WRITINGS[one.writing](nameOf(one), one.content);
	return JSON.stringify([`a${address}`, `Bearer private-key-${key}`, 'POST', path, body]);
}

function parametersOf(one: Item): INodeParameters {
	const [parameters] = WRITINGS[one.writing](nameOf(one), one.content);
	const takesKey = one.key !== undefined && one.writing !== 'token';
	return { ...parameters, ...(takesKey && { sendOnceKey: `payment-${one.key}` }) };
}

type Told = 'succeeded' | 'alreadySent' | 'failed';

async function send(one: Item, node: number): Promise<Told> {
	const [address, key] = one.account;
	const { items } = await runNode({
		parameters: parametersOf(one),
		credential: {
			baseUrl: `http://127.0.0.1:${server.port}/${script}/a${address}/v1`,
			privateKey: `private-key-${key}`,
		},
		node: { id: `node-${node}`, onError: 'continueRegularOutput' },
	});
	if (items[0]!.error) return 'failed';
	return items[0]!.alreadySent ? 'alreadySent' : 'succeeded';
}

/** Items of different kinds can't share a node's run, so each is an execution of its own. */
async function play(given: Execution[]): Promise<Array<[Item, Told]>> {
	script++;
	counted = [];
	processedData.clear();
	const told: Array<[Item, Told]> = [];
	let running: Array<Promise<void>> = [];
	for (const { items: sent, node, overlaps, reactions: next } of given) {
		reactions = [...next];
		const run = async () => {
			for (const one of sent) told.push([one, await send(one, node)]);
		};
		running.push(run());
		if (!overlaps) {
			await Promise.all(running);
			running = [];
		}
	}
	await Promise.all(running);
	return told;
}

function assertProved(told: Array<[Item, Told]>): void {
	const requests = new Set([
		...told.map(([one]) => requestOf(one)),
		...counted.map(({ request }) => request),
	]);
	for (const request of requests) {
		const asked = told.filter(([one]) => requestOf(one) === request);
		const count = (wanted: Told) => asked.filter(([, outcome]) => outcome === wanted).length;
		const confirmed = counted.filter((one) => one.request === request && one.confirmed).length;
		// Each success has a confirmed request of its own account, person and body, and each of these is told.
		expect(count('succeeded')).toBe(confirmed);
		if (count('alreadySent') > 0) expect(confirmed).toBe(1);
	}
	for (const key of [0, 1]) {
		const ofKey = ({ request }: Counted) =>
			request.includes(`key-${key}-`) && !request.includes('"token"');
		const sent = counted.filter(ofKey);
		expect(sent.filter(({ billed }) => billed).length).toBeLessThanOrEqual(1);
		// Only what was certainly not done makes a key free again.
		expect(sent.filter(({ refused }) => !refused).length).toBeLessThanOrEqual(1);
	}
	for (const [, outcome] of told) totals[outcome]++;
}

test(`a success is proved, in ${SCRIPTS} random scripts`, async () => {
	// The clock runs ahead, so that nobody waits for long: who has a claim ends at once, or never.
	let jump = 0;
	const { now } = Date;
	jest.spyOn(shared.Date, 'now').mockImplementation(() => {
		return now() + (jump += totals.scripts % 10 === 0 ? 3_000 : 20_000);
	});
	const property = fc.asyncProperty(executions, async (given) => {
		const told = await play(given);
		totals.scripts++;
		totals.requests += counted.length;
		totals.bills += counted.filter(({ billed }) => billed).length;
		totals.confirmed += counted.filter(({ confirmed }) => confirmed).length;
		assertProved(told);
	});
	await fc.assert(property, { numRuns: SCRIPTS, endOnFailure: SCRIPTS > 300 });
	jest.restoreAllMocks();
}, 3_600_000);
