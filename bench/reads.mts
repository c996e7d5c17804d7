import { access, alternate, defaultParallel, floors, times, type Bench } from './rounds.mts';
import type { Row } from './row.mts';
import { allItems, httpRequest, ours } from './workflows.mts';

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

/** How little the time for an item depends on how many there are. */
export function linearity(few: Row, fewItems: number, many: Row, manyItems: number): Row {
	const perItem = (figures: number[], items: number) => figures.map((ms) => (ms * 1000) / items);
	return {
		title: `Read an item of ${manyItems.toLocaleString('en')}, against an item of ${fewItems}`,
		unit: 'µs per item',
		ours: perItem(many.ours, manyItems),
		theirs: perItem(few.ours, fewItems),
		bound: { ratio: 1 / 1.15 },
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

async function readers(bench: Bench, latency: number) {
	const { baseUrl, credentials } = await access(bench, latency);
	const userId = { __rl: true, mode: 'id', value: '={{ $json.id }}' };
	const own = (maxParallelRequests: number) => {
		const options = maxParallelRequests === defaultParallel ? {} : { maxParallelRequests };
		return ours({ resource: 'user', operation: 'get', userId, options }, credentials);
	};
	const http = httpRequest({ url: `=${baseUrl}/user/{{ $json.id }}`, options: {} }, credentials);
	return { baseUrl, own, http };
}
