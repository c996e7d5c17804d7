import { setTimeout as sleep } from 'node:timers/promises';
import { before } from './before.mts';
import {
	access,
	alternate,
	defaultParallel,
	floors,
	inRounds,
	times,
	type Bench,
} from './rounds.mts';
import type { Row } from './report.mts';
import { allItems, beforeOf, httpRequest, ours } from './workflows.mts';

/** Reads, whose time is mostly that of expressions and credentials. */
export async function reads(
	bench: Bench,
	items: number,
	latency: number,
	limits: Array<{ parallel: number; bound?: number; unguarded?: string }>,
): Promise<Row[]> {
	const { baseUrl, ...nodes } = await readers(bench, latency);
	const [theirs, ...own] = await alternate(bench, [
		allItems(nodes.http, items),
		...limits.map(({ parallel }) => allItems(nodes.own(parallel), items)),
	]);
	const rows: Row[] = [];
	for (const [index, { parallel, bound, unguarded }] of limits.entries()) {
		const url = (item: number) => `${baseUrl}/user/${item}`;
		rows.push({
			title: `Read ${items.toLocaleString('en')} users, ${latency} ms each, ${parallel} side by side`,
			unit: 'ms',
			ours: times(own[index]!),
			theirs: times(theirs!),
			floor: await floors(bench, { count: items, parallel, url }),
			bound: bound === undefined ? undefined : { ratio: bound },
			unguarded,
		});
	}
	return rows;
}

/** Reads against those of the package as a commit had it; both credentials are alike. */
export async function readsAgainst(bench: Bench, commit: string, items: number): Promise<Row[]> {
	const row = async (title: string, latency: number, bound: number, more = {}): Promise<Row> => {
		const own = (await readers(bench, latency, more)).own(defaultParallel);
		const type = before.credentialType;
		const { credentials } = await access(bench, latency, { type, ...more });
		const [ours, theirs] = await alternate(bench, [
			allItems(own, items),
			allItems(beforeOf(own, credentials!), items),
		]);
		return {
			title: `Read ${items.toLocaleString('en')} users, ${title}, against ${commit}`,
			unit: 'ms',
			ours: times(ours!),
			theirs: times(theirs!),
			bound: { ratio: bound },
		};
	};
	const byItem = { privateKey: "={{ 'key-of-' + $json.id }}" };
	return [
		await row('5 ms each', 5, 1.7),
		await row('100 ms each', 100, 0.95),
		await row('5 ms each, a credential by expression', 5, 0.95, byItem),
	];
}

/** What it costs HTTP Request that it reads the credential three times for each item. */
export async function credentialReads(bench: Bench, items: number): Promise<Row> {
	const { http } = await readers(bench, 5);
	const { credentials: _, ...open } = http;
	const parameters = { ...http.parameters, authentication: 'none' };
	const [without, withOne] = await alternate(bench, [
		allItems({ ...open, parameters }, items),
		allItems(http, items),
	]);
	return {
		title: `HTTP Request, ${items.toLocaleString('en')} reads: without a credential, against with one`,
		unit: 'ms',
		ours: times(without!),
		theirs: times(withOne!),
	};
}

/** How long n8n leaves another request waiting while it reads answers that are long and slow to search. */
export async function longestWait(bench: Bench, items: number): Promise<Row> {
	const { instance } = bench;
	// A heap that earlier runs have filled takes longer to clear of garbage.
	await instance.restart();
	const { own } = await readers(bench, 0);
	const action = own(defaultParallel);
	// Stored, the answers would keep n8n itself busy.
	const options = { fieldsToReturn: 'email' };
	const parameters = { ...action.parameters, options };
	const measured = allItems({ ...action, parameters }, items, 'slow-');
	const wait = async () => {
		let longest = 0;
		let ended = false;
		const run = instance.run(measured).finally(() => (ended = true));
		while (!ended) {
			const started = performance.now();
			await fetch(`${instance.n8n.url}/healthz`);
			longest = Math.max(longest, performance.now() - started);
			await sleep(5);
		}
		await run;
		return longest;
	};
	const [waits] = await inRounds(bench.rounds, [wait]);
	return {
		title: `Longest wait for n8n while it reads ${items} answers of 8 MB`,
		unit: 'ms',
		ours: waits!,
		bound: { atMost: 250 },
	};
}

/** How little the time for an item depends on how many there are. */
export function linearity(few: Row, fewItems: number, many: Row, manyItems: number): Row {
	const perItem = (figures: number[], items: number) => figures.map((ms) => (ms * 1000) / items);
	return {
		title: `Read an item of ${manyItems.toLocaleString('en')}, against an item of ${fewItems}`,
		unit: 'µs per item',
		ours: perItem(many.ours, manyItems),
		theirs: perItem(few.ours, fewItems),
		bound: { ratio: 1 / 1.1 },
	};
}

/** Peak memory, each time in a fresh process of n8n. */
export async function memoryOfReads(bench: Bench, items: number): Promise<Row> {
	const { instance, rounds } = bench;
	const { own, http } = await readers(bench, 5);
	const peaks: number[][] = [[], []];
	for (let round = 0; round < rounds; round++) {
		for (const [index, action] of [own(defaultParallel), http].entries()) {
			await instance.restart();
			peaks[index]!.push((await instance.run(allItems(action, items))).peakMegabytes);
		}
	}
	return {
		title: `Peak memory of n8n, reading ${items.toLocaleString('en')} users`,
		unit: 'MB',
		ours: peaks[0]!,
		theirs: peaks[1]!,
		bound: { ratio: 1 },
	};
}

async function readers(bench: Bench, latency: number, more = {}) {
	const { baseUrl, credentials } = await access(bench, latency, more);
	const userId = { __rl: true, mode: 'id', value: '={{ $json.id }}' };
	const own = (maxParallelRequests: number) => {
		const options = maxParallelRequests === defaultParallel ? {} : { maxParallelRequests };
		return ours({ resource: 'user', operation: 'get', userId, options }, credentials);
	};
	const http = httpRequest({ url: `=${baseUrl}/user/{{ $json.id }}`, options: {} }, credentials);
	return { baseUrl, own, http };
}
