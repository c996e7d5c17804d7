import { cpus, totalmem } from 'node:os';
import { table } from '../scripts/blocks.mts';
import { writeBlock } from '../scripts/write.mts';

/** Figures of one comparison, a figure for each round. */
export interface Row extends Guard {
	title: string;
	unit: 'ms' | 'MB' | 'per second' | 'µs per item';
	ours: number[];
	/** Of n8n's own node, or of what else ours is held against. */
	theirs?: number[];
	/** Of a client that does nothing else. */
	floor?: number[];
}

/** What a row has to reach. */
export interface Guard {
	/** Either how many times better than theirs ours has to be, or our highest figure. */
	bound?: { ratio: number } | { atMost: number };
	/** Why the run does not fail where the bound is missed, in a sentence. */
	unguarded?: string;
}

export function summarize(figures: number[]) {
	const sorted = figures.toSorted((one, other) => one - other);
	const [low, high] = [sorted[(sorted.length - 1) >> 1]!, sorted[sorted.length >> 1]!];
	return { median: (low + high) / 2, least: sorted[0]!, most: sorted.at(-1)! };
}

/** How many times better our median is than theirs. */
function ratio({ unit, ours, theirs }: Row): number | undefined {
	if (theirs === undefined) return undefined;
	const [own, other] = [summarize(ours).median, summarize(theirs).median];
	return unit === 'per second' ? own / other : other / own;
}

/** Undefined where a row has no bound. */
function isMet(row: Row): boolean | undefined {
	if (row.bound === undefined) return undefined;
	return 'ratio' in row.bound
		? ratio(row)! >= row.bound.ratio
		: summarize(row.ours).median <= row.bound.atMost;
}

/** Whether a row fails the run. */
export function isFailed(row: Row): boolean {
	return isMet(row) === false && row.unguarded === undefined;
}

const head = ['Measured', 'Unit', 'Ours', "n8n's", 'Floor', 'Ratio', 'Bound', 'Result'];

/** The figures in Markdown. */
export function tableOf(rows: Row[]): string {
	return table([head, ...rows.map(cells)]);
}

function cells(row: Row): string[] {
	const met = isMet(row);
	return [
		row.title,
		row.unit,
		...[row.ours, row.theirs, row.floor].map(figures),
		ratio(row)?.toFixed(2) ?? '',
		bound(row),
		met === undefined ? '' : met ? 'met' : 'missed',
	];
}

/** The median, and the least and the most. */
function figures(all?: number[]): string {
	if (all === undefined) return '';
	const { median, least, most } = summarize(all);
	const text = (figure: number) =>
		figure.toLocaleString('en', { maximumFractionDigits: Math.abs(figure) < 20 ? 1 : 0 });
	return all.length === 1 ? text(median) : `${text(median)} (${text(least)}–${text(most)})`;
}

function bound({ bound, unit }: Row): string {
	if (bound === undefined) return '';
	return 'ratio' in bound ? `≥ ${Number(bound.ratio.toFixed(2))}` : `≤ ${bound.atMost} ${unit}`;
}

/** Writes to docs/benchmarks.md the figures, what does not guard and why, and where it was measured. */
export async function writeReport(rows: Row[], n8nVersion: string): Promise<void> {
	const reasons = rows.flatMap(({ title, unguarded }) =>
		unguarded ? [`- ${title}: ${unguarded}`] : [],
	);
	const processors = cpus();
	const gigabytes = Math.round(totalmem() / 2 ** 30);
	const today = new Date().toISOString().slice(0, 10);
	const content = [
		tableOf(rows),
		'',
		'Not every bound that is measured guards:',
		'',
		...reasons,
		'',
		`Machine: ${processors[0]!.model}, ${processors.length} cores, ${gigabytes} GB of memory, Node.js ${process.versions.node}, n8n ${n8nVersion}, ${today}.`,
	];
	await writeBlock('docs/benchmarks.md', 'figures', content.join('\n'));
}
