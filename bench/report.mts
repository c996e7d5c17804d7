import { cpus, totalmem } from 'node:os';
import { table, writeBlock } from '../scripts/blocks.mts';

/** One line of the table, with a figure for each round. */
export interface Row {
	title: string;
	unit: 'ms' | 'MB' | 'per second' | 'times';
	ours: number[];
	/** Figures of n8n's own node. */
	theirs?: number[];
	/** Bound that fails the run: the least ratio of theirs to ours, or the highest figure of ours. */
	bound?: { ratio: number } | { atMost: number };
	/** Reason for a ratio below 1. */
	reason?: string;
}

function summarize(figures: number[]) {
	const sorted = figures.toSorted((one, other) => one - other);
	const [low, high] = [sorted[(sorted.length - 1) >> 1]!, sorted[sorted.length >> 1]!];
	return { median: (low + high) / 2, least: sorted[0]!, most: sorted.at(-1)! };
}

/** Returns how many times better our median is than theirs, or NaN without theirs. */
function ratio({ unit, ours, theirs }: Row): number {
	if (theirs === undefined) return Number.NaN;
	const [own, other] = [summarize(ours).median, summarize(theirs).median];
	return unit === 'per second' ? own / other : other / own;
}

/** Returns the median, with the least and the most, and the unit. */
function figures(unit: string, all?: number[]): string {
	if (all === undefined) return '';
	const { median, least, most } = summarize(all);
	const text = (figure: number) =>
		figure.toLocaleString('en', {
			maximumFractionDigits: unit === 'times' ? 2 : Math.abs(figure) < 20 ? 1 : 0,
		});
	return `${text(median)} (${text(least)}–${text(most)}) ${unit}`;
}

/** Returns which bound a row missed, with its figures; undefined if it missed none. */
export function missOf(row: Row): string | undefined {
	const { title, bound, unit, ours, theirs } = row;
	if (bound === undefined) return undefined;
	const own = `ours ${figures(unit, ours)}`;
	if ('atMost' in bound) {
		const isMissed = summarize(ours).median > bound.atMost;
		return isMissed ? `${title}: more than ${bound.atMost} ${unit}, ${own}` : undefined;
	}
	const reached = ratio(row);
	if (reached >= bound.ratio) return undefined;
	const both = `${own}, n8n's ${figures(unit, theirs)}`;
	return `${title}: the ratio ${reached.toFixed(2)} is below ${bound.ratio}, ${both}`;
}

export function tableOf(rows: Row[]): string {
	const cells = rows.map((row) => [
		row.title,
		figures(row.unit, row.ours),
		figures(row.unit, row.theirs),
		row.theirs ? ratio(row).toFixed(2) : '',
	]);
	return table([['Measured', 'Ours', "n8n's", 'Ratio'], ...cells]);
}

/** Writes the table, the reasons of ratios below 1, and the machine to bench/README.md. */
export async function writeReport(rows: Row[], n8nVersion: string): Promise<void> {
	const reasons = rows
		.filter((row) => row.reason && ratio(row) < 1)
		.map(({ title, reason }) => `- ${title}: ${reason}`);
	const processors = cpus();
	const gigabytes = Math.round(totalmem() / 2 ** 30);
	const today = new Date().toISOString().slice(0, 10);
	const content = [
		tableOf(rows),
		'',
		...(reasons.length > 0 ? ['Below 1:', '', ...reasons, ''] : []),
		`Machine: ${processors[0]!.model}, ${processors.length} cores, ${gigabytes} GB of memory, Node.js ${process.versions.node}, n8n ${n8nVersion}, ${today}.`,
	];
	await writeBlock('bench/README.md', 'figures', content.join('\n'));
}
