import fc from 'fast-check';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { CONFIRMS, identify, mail, startCountingService } from '../support/countingService.mts';
import type {
	Asked,
	ConnectionFault,
	CountingService,
	Reaction,
} from '../support/countingService.mts';
import { processedData } from '../support/deduplication.mts';
import { callTool, runNode } from '../support/engine.mts';
import { shared } from '../support/environment.mts';
import { bodyField, byEmail, customSend, getToken, upgrade } from '../support/parameters.mts';
import { PERSONS, refuse, refuseBare, script } from '../support/writeScripts.mts';
import type { Execution, Item, Script } from '../support/writeScripts.mts';

/**
 * The promises about writes, as invariants over random scripts, against the service's own count:
 *
 * - A write is carried out as often as its items report, and never twice for one item.
 * - A reported success was confirmed for this very account and request, and each confirmation is reported.
 * - A Send Once Key is sent once, unless the service certainly did nothing.
 *
 * The service may fail in any way. A complete response is true.
 */

/** `WRITE_SCRIPTS=20000 npx jest …` for a long run. */
const SCRIPTS = Number(process.env.WRITE_SCRIPTS ?? 300);

/** Milliseconds that a response may take: long enough for a busy machine, so that silence is rare. */
const TIMEOUT = 1_000;

type Outcome = 'succeeded' | 'alreadySent' | 'applied' | 'unknown' | 'failed' | 'previewed';

/** How often the service may have carried out an item's write, by the item's outcome. */
const POSSIBLE: Record<Outcome, [least: number, most: number]> = {
	succeeded: [1, 1],
	alreadySent: [0, 0],
	// In this execution or, with a key, in an earlier one.
	applied: [0, 1],
	unknown: [0, 1],
	failed: [0, 0],
	previewed: [0, 0],
};

interface Played {
	execution: number;
	write: string;
	isPreview: boolean;
	/** Undefined if a stopped node does not tell. */
	outcome?: Outcome;
}

let service: CountingService;
const totals: Record<string, number> = {};

const nameOf = ({ key, person }: Pick<Item, 'key' | 'person'>) => `key-${key}-person-${person}`;

beforeAll(async () => {
	const people = [...Array(PERSONS).keys()];
	const names = [0, 1].flatMap((key) => people.map((person) => nameOf({ key, person })));
	service = await startCountingService(names);
	jest.spyOn(Math, 'random').mockReturnValue(0);
	// The clock runs ahead, so that nobody waits for a claim of another execution.
	let jump = 0;
	const { now } = Date;
	jest.spyOn(shared.Date, 'now').mockImplementation(() => now() + (jump += 20_000));
});
afterAll(async () => {
	jest.restoreAllMocks();
	await service.close();
});

type From = (name: keyof ReturnType<typeof valuesOf>) => string;
const fromItem: From = (name) => `={{ $json.${name} }}`;
const fromAi: From = (name) =>
	`={{ $fromAI('${name}', '', '${name === 'preview' ? 'boolean' : 'string'}') }}`;

const WRITINGS: Record<Asked['writing'], (from: From) => INodeParameters> = {
	upgrade: (from) => ({ ...upgrade, planId: from('content'), preview: from('preview') }),
	create: (from) => ({ resource: 'resume', operation: 'create', userId: byEmail(from('email')) }),
	token: () => getToken,
	custom: (from) => ({ ...customSend, method: from('method'), path: from('path') }),
};

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];
const isTool = ({ entry }: Execution) => entry.startsWith('tool');
const isPreview = ({ writing }: Execution, { previews }: Item) => writing === 'upgrade' && previews;
const isKeyed = ({ keyed, writing }: Execution) => keyed && writing !== 'token';

/** A cancelled execution may leave a request behind, to which the service responds during the next one. */
const areApart = (executions: Execution[]) =>
	executions.slice(0, -1).every(({ overlaps, cancelAt }) => !overlaps && cancelAt === undefined);

/** Returns what the parameters read from an item. The same address is written in several ways. */
function valuesOf(execution: Execution, item: Item, index: number) {
	const name = nameOf(item);
	const email = mail(name);
	// There an expression that throws ends n8n's own loop, which then waits for none of its requests.
	const leavesLoop = execution.entry === 'execute' && execution.settings.onError === 'stopWorkflow';
	return {
		email: index % 2 ? ` ${email.toUpperCase()} ` : email,
		content: item.content,
		method: METHODS[item.person % METHODS.length]!,
		path: `/custom/${name}`,
		key: `payment-${item.key}`,
		preview: item.previews,
		throws: item.throws && !leavesLoop,
	};
}

async function play(given: Script): Promise<Played[]> {
	service.beginScript();
	processedData.clear();
	const played: Played[][] = [];
	let running: Array<Promise<unknown>> = [];
	for (const [number, execution] of given.executions.entries()) {
		service.state.execution = number;
		running.push(run(given, number).then((items) => (played[number] = items)));
		if (execution.overlaps) continue;
		await Promise.all(running);
		running = [];
	}
	await Promise.all(running);
	return played.flat();
}

async function run({ tls, executions }: Script, number: number): Promise<Played[]> {
	const execution = executions[number]!;
	const { writing, items, settings, entry, cancelAt } = execution;
	const cancel = new AbortController();
	let seen = 0;
	const { reactions, lists, connections } = execution;
	Object.assign(service.state, {
		reactions: [...reactions],
		lists: [...lists],
		connections: [...connections],
		onRequest: () => seen++ === cancelAt && cancel.abort(),
	});
	const from = isTool(execution) ? fromAi : fromItem;
	const options: Parameters<typeof callTool>[0] = {
		parameters: {
			...WRITINGS[writing](from),
			// n8n leaves out what the operation does not have.
			email: from('email'),
			...bodyField('content', from('content')),
			...(isKeyed(execution) && { sendOnceKey: from('key') }),
			simplify: isTool(execution) || "={{ $json.throws ? $('No such node').first().json : true }}",
			options: { allowRepeatedUpgrades: execution.allowsRepeated },
			requestOptions: { timeout: TIMEOUT, allowUnauthorizedCerts: tls === 'trusted' },
		},
		credential: {
			baseUrl: service.baseUrl(`account-${execution.address}`, tls !== 'none'),
			privateKey: `private-key-${execution.credential}${execution.rotated ? '-rotated' : ''}`,
		},
		items: items.map((item, index) => valuesOf(execution, item, index)),
		node: {
			...settings,
			// After a stop, the agent would call no other tool.
			...(entry === 'toolNode' &&
				settings.onError !== 'continueRegularOutput' && { onError: undefined }),
			id: `node-${execution.node}`,
			credentials: { resumeManagementApi: { id: `${execution.credential}`, name: 'Test' } },
			waitBetweenTries: 1,
		},
		byExecute: entry === 'execute',
		atOnce: entry === 'toolAtOnce',
		asNode: entry === 'toolNode',
		failingCredentialReads: execution.failingCredentialReads,
		signal: cancelAt === undefined ? undefined : cancel.signal,
	};
	const outcomes = isTool(execution)
		? toolOutcomes(await callTool(options))
		: runOutcomes(await runNode(options), execution);
	// Nothing is sent once the execution is cancelled.
	if (areApart(executions)) expect(seen).toBeLessThanOrEqual((cancelAt ?? Infinity) + 1);
	// n8n's own loop reads the credential before it asks the node, and reports its failure in place of the outcome.
	const isReported =
		cancelAt === undefined && (entry === 'run' || execution.failingCredentialReads.length === 0);
	const account = `account-${execution.address} Bearer private-key-${execution.credential}`;
	return items.map((item, index) => ({
		execution: number,
		write: identify({ writing, account, name: nameOf(item), content: item.content }),
		isPreview: isPreview(execution, item),
		outcome: isReported ? outcomes.get(index) : undefined,
	}));
}

function outcomeOf(message?: string, json: INodeExecutionData['json'] = {}): Outcome {
	if (message !== undefined) {
		return /^(Outcome unknown|This Send Once Key was used)/.test(message) ? 'unknown' : 'failed';
	}
	if (json.alreadySent) return 'alreadySent';
	return json.preview === true ? 'previewed' : 'succeeded';
}

function messageIn({ error }: INodeExecutionData['json']): string | undefined {
	return (error as { message: string } | undefined)?.message;
}

function toolOutcomes(results: INodeExecutionData['json'][]): Map<number, Outcome> {
	const outcomes = results.map(({ result, error }, index): [number, Outcome] => {
		if (typeof error === 'string') return [index, outcomeOf(error)];
		// In place of the tool's result, n8n gives the agent a sentence if a run was cancelled.
		if (!String(result).startsWith('[')) return [index, 'failed'];
		const [first = {}] = JSON.parse(String(result)) as Array<INodeExecutionData['json']>;
		return [index, outcomeOf(messageIn(first), first)];
	});
	return new Map(outcomes);
}

function runOutcomes({ outputs, error }: Awaited<ReturnType<typeof runNode>>, given: Execution) {
	if (error) {
		const { itemIndex } = (error as { context?: { itemIndex?: number } }).context ?? {};
		const outcomes = new Map<number, Outcome>();
		const list = (words: RegExp, outcome: Outcome) => {
			const named = words.exec(error.description ?? '')?.[1] ?? '';
			for (const index of indexesIn(named)) outcomes.set(index, outcome);
		};
		list(/Not sent: ([^.]*)\./, 'failed');
		list(/Already applied: \d+ of \d+ \(([^)]*)\)/, isKeyed(given) ? 'applied' : 'succeeded');
		if (itemIndex !== undefined) outcomes.set(itemIndex, outcomeOf(error.message));
		return outcomes;
	}
	const all = outputs.flat();
	expect(all).toHaveLength(given.items.length);
	const outcomes = all.flatMap(({ json, pairedItem }): Array<[number, Outcome]> => {
		// n8n's own loop reports its own failures as a text, without the item.
		if (pairedItem === undefined) return [];
		const message = typeof json.error === 'string' ? json.error : messageIn(json);
		return [[(pairedItem as { item: number }).item, outcomeOf(message, json)]];
	});
	return new Map(outcomes);
}

/** Returns the numbers in a text such as `items 0 to 2, 4`. */
function indexesIn(text: string): number[] {
	return [...text.matchAll(/(\d+)(?: to (\d+))?/g)].flatMap(([, first, last = first]) =>
		Array.from({ length: Number(last) - Number(first) + 1 }, (_, step) => Number(first) + step),
	);
}

function assertPromises({ tls, executions }: Script, played: Played[], isTimely: boolean): void {
	const { counted, overlapped } = service.state;
	const isAlone = areApart(executions);
	// The service may still respond to a request that the client has given up.
	if (isTimely && isAlone) expect(overlapped).toBe(false);

	for (const write of new Set([...played, ...counted].map((one) => one.write))) {
		const asked = played.filter((one) => one.write === write);
		const outcomes = asked.map(({ outcome }) => outcome);
		const received = counted.filter((one) => one.write === write);
		const bills = received.filter(({ billed }) => billed).length;
		const confirmed = received.filter(({ proved }) => proved === 'success').length;
		const bounds = asked.map(
			({ outcome, isPreview }) => POSSIBLE[outcome ?? (isPreview ? 'previewed' : 'unknown')],
		);
		expect(bills).toBeGreaterThanOrEqual(bounds.reduce((sum, [least]) => sum + least, 0));
		expect(bills).toBeLessThanOrEqual(bounds.reduce((sum, [, most]) => sum + most, 0));

		const succeeded = outcomes.filter((outcome) => outcome === 'succeeded').length;
		expect(succeeded).toBeLessThanOrEqual(confirmed);
		const isOpen = outcomes.includes(undefined) || outcomes.includes('applied');
		if (isTimely && !isOpen) expect(succeeded).toBe(confirmed);
		const isClaimed = outcomes.includes('alreadySent') || outcomes.includes('applied');
		if (isClaimed) expect(confirmed).toBeGreaterThan(0);
	}
	for (const key of ['key-0-', 'key-1-']) {
		if (!isAlone && !executions.every(isKeyed)) continue;
		const sent = counted.filter(
			({ write, execution, proved }) =>
				write.includes(key) && isKeyed(executions[execution]!) && proved !== 'refusal',
		);
		expect(sent.length).toBeLessThanOrEqual(1);
	}
	for (const [number, { writing, entry, allowsRepeated }] of executions.entries()) {
		// An agent's calls are purchases of their own.
		if (!isAlone || allowsRepeated || writing !== 'upgrade' || !/run|execute/.test(entry)) continue;
		const billed = counted.filter((one) => one.execution === number && one.billed);
		expect(new Set(billed.map(({ write }) => write)).size).toBe(billed.length);
	}
	for (const { outcome, isPreview, execution, write } of played) {
		const { writing, entry, connections } = executions[execution]!;
		for (const name of [`${outcome}`, `${outcome} by ${entry}`, `${outcome} ${writing}`])
			totals[name] = (totals[name] ?? 0) + 1;
		if (outcome && isPreview) expect(['previewed', 'failed']).toContain(outcome);
		else expect(outcome).not.toBe('previewed');
		// The service may not have read what the client has written to a connection that breaks.
		const faults: ConnectionFault[] = tls === 'none' ? ['reset', 'stall'] : ['reset'];
		const mayBeLost = !isTimely || !isAlone || connections.some((one) => faults.includes(one));
		// A key that was claimed before is unknown without a request.
		if (outcome === 'unknown' && !mayBeLost && !isKeyed(executions[execution]!)) {
			expect(counted.map((one) => one.write)).toContain(write);
		}
	}
}

async function playAndAssert(given: Script): Promise<Played[]> {
	const begin = performance.now();
	const played = await play(given);
	assertPromises(given, played, performance.now() - begin < TIMEOUT);
	return played;
}

describe('what has billed twice, or been reported wrongly', () => {
	const item: Item = { person: 0, content: 'pro', key: 0, previews: false, throws: false };
	const usual: Execution = {
		writing: 'upgrade',
		entry: 'run',
		address: 0,
		credential: 0,
		rotated: false,
		node: 0,
		items: [item],
		settings: { onError: 'stopWorkflow', retryOnFail: true, maxTries: 5 },
		keyed: false,
		allowsRepeated: false,
		failingCredentialReads: [],
		overlaps: false,
		reactions: [],
		lists: [],
		connections: [],
		cancelAt: undefined,
	};
	const once = { ...usual.settings, retryOnFail: false };
	const goesOn = { ...usual.settings, onError: 'continueRegularOutput' as const };
	const four = { items: [0, 1, 2, 3].map((person) => ({ ...item, person })) };
	const [refused, onHold] = [refuse('plan-upgrade-2'), refuse('plan-upgrade-1')];
	const byExecute: Partial<Execution> = { entry: 'execute', reactions: [refused] };
	const twice = { items: [item, item] };
	const twoItems = { ...twice, reactions: Array(3).fill(refuseBare(429)), settings: goesOn };
	const lost = Array<Reaction>(4).fill({ ...CONFIRMS, cut: 0 });
	const lostRequests = { writing: 'custom', ...four, reactions: lost, settings: goesOn } as const;
	const broken: Reaction = { ...CONFIRMS, proves: undefined, breaks: true };

	test.each<[name: string, execution: Partial<Execution>, requests: number, tls?: Script['tls']]>([
		['a 401 that breaks off', { reactions: [{ ...refused, cut: 80 }], settings: once }, 1],
		['a refusal before others, by execute', { ...byExecute, ...four, settings: once }, 1],
		['a refusal that is repeated, by execute', byExecute, 2],
		['a refusal that is repeated before others, by execute', { ...byExecute, ...four }, 5],
		['four calls of a tool at once', { entry: 'toolAtOnce', ...four }, 4],
		['plan-upgrade-1', { reactions: [onHold] }, 1],
		['a key on hold', { keyed: true, ...twice, reactions: [onHold], settings: goesOn }, 1],
		['two items for one upgrade, of which the first fails', twoItems, 4],
		['two items for one upgrade, by execute', { ...twoItems, entry: 'execute' }, 4],
		['custom requests of every method whose responses are lost', lostRequests, 4],
		['a connection over TLS that breaks after the request', { reactions: [broken] }, 1, 'trusted'],
		['a TLS handshake that is reset once', { connections: ['reset'] }, 1, 'trusted'],
		['a certificate that nobody trusts', {}, 0, 'untrusted'],
	])('%s', async (_, differences, requests, tls = 'none') => {
		await playAndAssert({ tls, executions: [{ ...usual, ...differences }] });
		expect(service.state.counted).toHaveLength(requests);
	});
});

test(`the promises about writes hold in ${SCRIPTS} random scripts`, async () => {
	const property = fc.asyncProperty(script, async (given) => void (await playAndAssert(given)));
	await fc.assert(property, { numRuns: SCRIPTS, endOnFailure: SCRIPTS > 1_000 });
	// A model in which nothing happens would pass.
	const least = SCRIPTS / 200;
	const seen = (['succeeded', 'unknown', 'failed'] as const).flatMap((outcome) => [
		...['upgrade', 'create', 'token', 'custom'].map((writing) => `${outcome} ${writing}`),
		...['run', 'execute', 'tool', 'toolAtOnce', 'toolNode'].map((by) => `${outcome} by ${by}`),
	]);
	const rare = [...seen, 'alreadySent', 'previewed'].filter((name) => !(totals[name]! >= least));
	expect([rare, totals]).toEqual([[], totals]);
}, 3_600_000);
