/** Figures of one comparison, a figure for each round. */
export interface Row {
	title: string;
	unit: 'ms' | 'MB' | 'kB' | 'per second' | 'µs per item';
	ours: number[];
	/** Of n8n's own node, or of what else ours is held against. */
	theirs?: number[];
	/** Of a client that does nothing else. */
	floor?: number[];
	/** Either how many times better than theirs ours has to be, or our highest figure. */
	bound?: { ratio: number } | { atMost: number };
	/** Why the run does not fail where the bound is missed, in a sentence. */
	unguarded?: string;
}

export interface Summary {
	median: number;
	least: number;
	most: number;
}

export function summarize(figures: number[]): Summary {
	const sorted = figures.toSorted((one, other) => one - other);
	const [low, high] = [sorted[(sorted.length - 1) >> 1]!, sorted[sorted.length >> 1]!];
	return { median: (low + high) / 2, least: sorted[0]!, most: sorted.at(-1)! };
}

/** How many times better our median is than theirs. */
export function ratio({ unit, ours, theirs }: Row): number | undefined {
	if (theirs === undefined) return undefined;
	const [own, other] = [summarize(ours).median, summarize(theirs).median];
	return unit === 'per second' ? own / other : other / own;
}

/** Undefined where a row has no bound. */
export function isMet(row: Row): boolean | undefined {
	if (row.bound === undefined) return undefined;
	return 'ratio' in row.bound
		? ratio(row)! >= row.bound.ratio
		: summarize(row.ours).median <= row.bound.atMost;
}

/** Whether a row fails the run. */
export function isFailed(row: Row): boolean {
	return isMet(row) === false && row.unguarded === undefined;
}
