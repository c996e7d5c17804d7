import fc from 'fast-check';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import {
	answered,
	envelope,
	type Script,
	script,
	type Writing,
} from '../support/billingScripts.mts';
import {
	type Account,
	type Behaviour,
	type BillingService,
	type ConnectionFault,
	emailOf,
	idOf,
	startBillingService,
	success,
} from '../support/billingService.mts';
import { callTool, type EngineRun, runNode } from '../support/engine.mts';
import { byEmail, planUpgrade } from '../support/parameters.mts';

/**
 * The first promise as an invariant: whatever the service, the network, the settings and the
 * expressions do, a write is carried out at most once in an execution, and nobody is told otherwise. The
 * service may fail in any way; what it says in full is true.
 */

/** `BILLING_SCRIPTS=20000 npx jest …` for a long run. */
const SCRIPTS = Number(process.env.BILLING_SCRIPTS ?? 500);

/** Milliseconds that an answer may take; long enough for a busy machine, so silence is rare. */
const TIMEOUT = 1_000;

type Outcome = 'succeeded' | 'unknown' | 'failed' | 'previewed';

function outcomeOf(message?: string, json: INodeExecutionData['json'] = {}): Outcome {
	if (message === undefined) return json.preview === true ? 'previewed' : 'succeeded';
	return message.startsWith('Outcome unknown') ? 'unknown' : 'failed';
}

/** How often an item may have been carried out, by what its user was told. */
const POSSIBLE: Record<Outcome, [least: number, most: number]> = {
	succeeded: [1, 1],
	unknown: [0, 1],
	failed: [0, 0],
	previewed: [0, 0],
};

/** What the user is told, by item; nothing of items that a stopped node does not tell of. */
interface Report {
	outcomes: Map<number, Outcome>;
	/** Said to be not sent, by an error that stopped the node. */
	unsent: number[];
	applied: number[];
}

let service: BillingService;
const totals = {
	...{ scripts: 0, requests: 0, bills: 0 },
	...{ succeeded: 0, unknown: 0, failed: 0, previewed: 0 },
};
beforeAll(async () => {
	service = await startBillingService();
	jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterAll(async () => {
	await service.close();
	process.stdout.write(`billing: ${JSON.stringify(totals)}\n`);
});

interface Played {
	/** All requests. */
	seen: number;
	account: Account;
	report: Report;
	/** On a busy machine a request can time out before the service has read it. */
	mayHaveTimedOut: boolean;
}

const fromItem = (name: string) => `={{ $json.${name} }}`;
const fromAi = (name: string) =>
	`={{ $fromAI('${name}', '', '${name === 'preview' ? 'boolean' : 'string'}') }}`;

/** The same address is written in several ways. */
const writtenIn = (item: number, email: string) => (item % 2 ? ` ${email.toUpperCase()} ` : email);

const WRITINGS: Record<Writing, (from: (name: string) => string) => INodeParameters> = {
	upgrade: (from) => ({
		...planUpgrade,
		email: from('email'),
		planId: from('planId'),
		aiTokenId: '',
		preview: from('preview'),
	}),
	create: (from) => ({
		resource: 'resume',
		operation: 'create',
		userId: byEmail(from('email')),
	}),
	custom: (from) => ({
		resource: 'customRequest',
		operation: 'send',
		method: from('method'),
		path: from('path'),
	}),
};

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];

async function play(given: Script): Promise<Played> {
	const begin = Date.now();
	const account = service.begin(given.behaviours, given.connections, given.lists);
	const cancel = new AbortController();
	let seen = 0;
	account.onRequest = () => {
		if (seen++ === given.cancelAt) cancel.abort();
	};
	// There an expression that throws ends n8n's own loop, which then waits for none of its requests.
	const leavesLoop = given.entry === 'execute' && given.node.onError === 'stopWorkflow';
	const isTool = given.entry === 'tool' || given.entry === 'toolAtOnce';
	const simplify = `={{ $json.throws ? $('No such node').first().json : ${given.simplify} }}`;
	const parameters: INodeParameters = {
		...WRITINGS[given.writing](isTool ? fromAi : fromItem),
		simplify: isTool ? given.simplify : simplify,
		options: { timestamps: given.timestamps, allowRepeatedUpgrades: given.allowsRepeated },
		requestOptions: {
			timeout: TIMEOUT,
			...(given.tls === 'trusted' && { allowUnauthorizedCerts: true }),
		},
	};
	const run: EngineRun = {
		parameters,
		credential: { baseUrl: service.baseUrl(given.tls !== 'none'), privateKey: 'private-key' },
		items: given.behaviours.map((_, item) => ({
			email: writtenIn(item, emailOf(given.purchases[item]!)),
			planId: 'pro',
			method: METHODS[item]!,
			path: `/purchases/${idOf(given.purchases[item]!)}`,
			preview: given.previews[item] ?? false,
			throws: (given.throwing[item] ?? false) && !leavesLoop,
		})),
		node: { ...given.node, waitBetweenTries: 1 } as EngineRun['node'],
		byExecute: given.entry === 'execute',
		failingCredentialReads: given.failingCredentialReads,
		signal: given.cancelAt === undefined ? undefined : cancel.signal,
	};
	const report = isTool
		? toolReport(await callTool({ ...run, atOnce: given.entry === 'toolAtOnce' }))
		: runReport(await runNode(run), given.behaviours.length);
	return { seen, account, report, mayHaveTimedOut: Date.now() - begin >= TIMEOUT };
}

function toolReport(answers: INodeExecutionData['json'][]): Report {
	const outcomes = answers.map(({ answer, error }, item): [number, Outcome] => {
		if (typeof error === 'string') return [item, outcomeOf(error)];
		// In place of what the tool returned, n8n tells the agent in words that a run was cancelled.
		if (!String(answer).startsWith('[')) return [item, 'failed'];
		const [first = {}] = JSON.parse(String(answer)) as Array<INodeExecutionData['json']>;
		return [item, outcomeOf(messageIn(first), first)];
	});
	return { outcomes: new Map(outcomes), unsent: [], applied: [] };
}

function runReport({ outputs, error }: Awaited<ReturnType<typeof runNode>>, count: number): Report {
	if (error) {
		const { itemIndex } = (error as { context?: { itemIndex?: number } }).context ?? {};
		const listed = (words: RegExp) => itemsIn(words.exec(error.description ?? '')?.[1]);
		return {
			outcomes: new Map(itemIndex === undefined ? [] : [[itemIndex, outcomeOf(error.message)]]),
			unsent: listed(/Not sent: ([^.]*)\./),
			applied: listed(/Already applied: \d+ of \d+ \(([^)]*)\)/),
		};
	}
	const items = outputs.flat();
	expect(items).toHaveLength(count);
	const outcomes = items.flatMap(({ json, pairedItem }): Array<[number, Outcome]> => {
		// n8n's own loop says of what it failed at itself neither which item it was nor more than a text.
		if (pairedItem === undefined) return [];
		const message = typeof json.error === 'string' ? json.error : messageIn(json);
		return [[(pairedItem as { item: number }).item, outcomeOf(message, json)]];
	});
	return { outcomes: new Map(outcomes), unsent: [], applied: [] };
}

function messageIn({ error }: INodeExecutionData['json']): string | undefined {
	return (error as { message: string } | undefined)?.message;
}

/** The numbers in words such as `items 0 to 2, 4`. */
function itemsIn(words = ''): number[] {
	return [...words.matchAll(/(\d+)(?: to (\d+))?/g)].flatMap(([, first, last]) => {
		const items = [];
		for (let item = Number(first); item <= Number(last ?? first); item++) items.push(item);
		return items;
	});
}

function assertPromises(given: Script, { seen, account, report, mayHaveTimedOut }: Played) {
	// Nothing is sent once the execution is cancelled.
	expect(seen).toBeLessThanOrEqual((given.cancelAt ?? Infinity) + 1);
	const { purchases, entry, writing, connections, failingCredentialReads: unread } = given;
	const isPreview = (item: number) => writing === 'upgrade' && (given.previews[item] ?? false);
	// A request that the client has given up may still be worked on.
	if (!mayHaveTimedOut) expect(account.overlapped).toBe(false);
	// An item that did not get as far as the service is sent by a later attempt, after the others.
	const allArrive = !mayHaveTimedOut && connections.every((fault) => fault === 'none');
	const areApart = purchases.every((purchase, item) => purchase === item);
	if (allArrive && areApart && unread.length === 0 && given.lists.length === 0) {
		expect(account.order).toEqual([...account.order].sort((a, b) => a - b));
	}
	// n8n's own loop reads the credential before it asks the node, and says so in place of what was before.
	const isTold = given.cancelAt === undefined && (entry === 'run' || unread.length === 0);
	const outcomes = isTold ? report.outcomes : new Map<number, Outcome>();
	const possible = (item: number): [least: number, most: number] => {
		if (report.unsent.includes(item)) return [0, 0];
		if (report.applied.includes(item)) return [1, 1];
		return POSSIBLE[outcomes.get(item) ?? (isPreview(item) ? 'previewed' : 'unknown')];
	};
	// An agent's calls are purchases of their own.
	const refuses = writing === 'upgrade' && !given.allowsRepeated && /run|execute/.test(entry);
	for (const [purchase, bills] of account.bills.entries()) {
		const buyers = [...purchases.keys()].filter((item) => purchases[item] === purchase);
		const bounds = buyers.map(possible);
		expect(bills).toBeGreaterThanOrEqual(bounds.reduce((sum, [least]) => sum + least, 0));
		expect(bills).toBeLessThanOrEqual(bounds.reduce((sum, [, most]) => sum + most, 0));
		if (refuses) expect(bills).toBeLessThanOrEqual(1);
	}
	for (const [item, outcome] of outcomes) {
		if (isPreview(item)) expect(['previewed', 'failed']).toContain(outcome);
		else expect(outcome).not.toBe('previewed');
		// What the client has written to a connection that then breaks, the service may not have read.
		const faults: ConnectionFault[] = given.tls === 'none' ? ['reset', 'stall'] : ['reset'];
		const mayHaveLeft = mayHaveTimedOut || connections.some((fault) => faults.includes(fault));
		if (outcome === 'unknown' && !mayHaveLeft) {
			expect(account.requests[purchases[item]!]).toBeGreaterThan(0);
		}
		totals[outcome]++;
	}
}

describe('what has billed more than once', () => {
	const usual: Script = {
		writing: 'upgrade',
		entry: 'run',
		tls: 'none',
		behaviours: [[]],
		purchases: [0],
		previews: [false],
		allowsRepeated: false,
		lists: [],
		connections: [],
		throwing: [false],
		node: { onError: 'stopWorkflow', retryOnFail: true, maxTries: 5 },
		timestamps: 'unix',
		simplify: true,
		failingCredentialReads: [],
	};
	const lost = [{ ...success(), cut: 0 }];
	const four = { behaviours: [[], [], [], []], purchases: [0, 1, 2, 3], throwing: [] };
	const goesOn = { ...usual.node, onError: 'continueRegularOutput' };
	const tooMany = Array<Behaviour>(3).fill(answered(false, 429, ''));

	const refused = answered(false, 401, envelope('plan-upgrade-2'));
	const once = { ...usual.node, retryOnFail: false };
	test.each<[name: string, script: Partial<Script>, requests: number[]]>([
		['a 401 that breaks off', { behaviours: [[{ ...refused, cut: 80 }]], node: once }, [1]],
		[
			'a refusal before others, by way of execute',
			{ entry: 'execute', ...four, behaviours: [[refused], [], [], []], node: once },
			[1, 0, 0, 0],
		],
		[
			'a refusal that is repeated, by way of execute',
			{ entry: 'execute', behaviours: [[refused]] },
			[2],
		],
		['four calls of a tool at once', { entry: 'toolAtOnce', ...four }, [1, 1, 1, 1]],
		['plan-upgrade-1', { behaviours: [[answered(false, 401, envelope('plan-upgrade-1'))]] }, [1]],
		...(['run', 'execute'] as const).map((entry): [string, Partial<Script>, number[]] => [
			`two items for one upgrade, after the first has failed once, by way of ${entry}`,
			{ entry, behaviours: [tooMany, []], purchases: [0, 0], throwing: [], node: goesOn },
			[4, 0],
		]),
		[
			'custom requests of every method whose answers are lost',
			{ writing: 'custom', ...four, behaviours: Array<Behaviour[]>(4).fill(lost), node: goesOn },
			[1, 1, 1, 1],
		],
	])('%s', async (_, differences, requests) => {
		const given = { ...usual, ...differences };
		const played = await play(given);
		assertPromises(given, played);
		expect(played.account.requests).toEqual(requests);
	});
});

test(`a write is carried out at most once, in ${SCRIPTS} random scripts`, async () => {
	const property = fc.asyncProperty(script, async (given) => {
		const played = await play(given);
		const { account } = played;
		totals.scripts++;
		for (const requests of account.requests) totals.requests += requests;
		for (const bills of account.bills) totals.bills += bills;
		assertPromises(given, played);
	});
	await fc.assert(property, { numRuns: SCRIPTS, endOnFailure: SCRIPTS > 500 });
}, 3_600_000);
