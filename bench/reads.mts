import { setTimeout as sleep } from 'node:timers/promises';
import { access, compare, defaultParallel, inRounds, type Bench } from './rounds.mts';
import type { Guard, Row } from './report.mts';
import { allItems, httpRequest, ours } from './workflows.mts';

/** Compares reads, which spend most of their time on expressions and credentials. */
export async function reads(
	bench: Bench,
	items: number,
	latency: number,
	{ parallel = defaultParallel, ...more }: Guard & { parallel?: number } = {},
): Promise<Row> {
	const { baseUrl, own, http } = await readers(bench, latency);
	return await compare(bench, {
		title: `Read ${items.toLocaleString('en')} users, ${latency} ms each, ${parallel} side by side`,
		...more,
		ours: allItems(own({ maxParallelRequests: parallel }), items),
		theirs: allItems(http, items),
		floor: { count: items, parallel, url: (item) => `${baseUrl}/user/${item}` },
	});
}

/** Measures how long another request to n8n waits while n8n reads long answers that are slow to search. */
export async function longestWait(bench: Bench, items: number): Promise<Row> {
	const { instance, rounds } = bench;
	// A fresh process, because garbage collection takes longer after other runs.
	await instance.restart();
	const { own } = await readers(bench, 0);
	// Storing the answers would keep n8n busy as well.
	const measured = allItems(own({ fieldsToReturn: 'email' }), items, 'slow-');
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
	const [waits] = await inRounds(rounds, [wait]);
	return {
		title: `Longest wait for n8n while it reads ${items} answers of 8 MB`,
		unit: 'ms',
		ours: waits!,
		bound: { atMost: 250 },
	};
}

/** Compares the time for an item of a long run with that of a short run. */
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

/** Measures peak memory, in a fresh n8n for each run. */
export async function memoryOfReads(bench: Bench, items: number): Promise<Row> {
	const { instance, rounds } = bench;
	const { own, http } = await readers(bench, 5);
	const peaks = [own({}), http].map((action) => async () => {
		await instance.restart();
		return (await instance.run(allItems(action, items))).peakMegabytes;
	});
	const [ours, theirs] = await inRounds(rounds, peaks);
	return {
		title: `Peak memory of n8n, reading ${items.toLocaleString('en')} users`,
		unit: 'MB',
		ours: ours!,
		theirs,
		bound: { ratio: 1 },
	};
}

async function readers(bench: Bench, latency: number) {
	const { baseUrl, credentials } = await access(bench, latency);
	const userId = { __rl: true, mode: 'id', value: '={{ $json.id }}' };
	const own = (options: Record<string, number | string>) =>
		ours({ resource: 'user', operation: 'get', userId, options }, credentials);
	const http = httpRequest({ url: `=${baseUrl}/user/{{ $json.id }}`, options: {} }, credentials);
	return { baseUrl, own, http };
}
