import { cpus, totalmem } from 'node:os';
import { table } from '../scripts/blocks.mts';
import { writeBlock } from '../scripts/write.mts';

/** One comparison, with a figure for each round. */
export interface Row extends Guard {
	title: string;
	unit: 'ms' | 'MB' | 'per second' | 'µs per item';
	ours: number[];
	/** Figures of n8n's own node, or of another contender. */
	theirs?: number[];
	/** Figures of Node.js alone, with the same requests. */
	floor?: number[];
}

/** Bound of a row. */
export interface Guard {
	/** The least ratio of theirs to ours, or the highest figure of ours. */
	bound?: { ratio: number } | { atMost: number };
	/** Tells in a sentence why the run does not fail if the bound is missed. */
	unguarded?: string;
}

export function summarize(figures: number[]) {
	const sorted = figures.toSorted((one, other) => one - other);
	const [low, high] = [sorted[(sorted.length - 1) >> 1]!, sorted[sorted.length >> 1]!];
	return { median: (low + high) / 2, least: sorted[0]!, most: sorted.at(-1)! };
}

/** Returns how many times better our median is than theirs. */
function ratio({ unit, ours, theirs }: Row): number | undefined {
	if (theirs === undefined) return undefined;
	const [own, other] = [summarize(ours).median, summarize(theirs).median];
	return unit === 'per second' ? own / other : other / own;
}

/** Returns undefined if a row has no bound. */
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

/** Returns all rows as a Markdown table. */
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

/** Returns the median, with the least and the most. */
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

/** Titles of the rows that a user would act on. The other rows guard the code. */
const FOR_USERS =
	/^(?:Read 1,000 users, .* 32 |Upgrade |Longest wait |Download 1024 |Peak memory |Answer and execute (?:100 events$|400 ))/;

/** Writes the figures for users, the reasons of ratios below 1, and the machine to docs/scaling.md. */
export async function writeReport(rows: Row[], n8nVersion: string): Promise<void> {
	const shown = rows.filter(({ title }) => FOR_USERS.test(title));
	const cellsOf = (row: Row): string[] => {
		const [ours, theirs] = [row.ours, row.theirs].map(
			(all) => all && `${figures(all)} ${row.unit}`,
		);
		return [row.title, ours!, theirs ?? '', ratio(row)?.toFixed(2) ?? ''];
	};
	const reasons = shown
		.filter((row) => row.unguarded && ratio(row)! < 1)
		.map(({ title, unguarded }) => `- ${title}: ${unguarded}`);
	const processors = cpus();
	const gigabytes = Math.round(totalmem() / 2 ** 30);
	const today = new Date().toISOString().slice(0, 10);
	const content = [
		table([['Measured', 'Ours', "n8n's", 'Ratio'], ...shown.map(cellsOf)]),
		'',
		...(reasons.length > 0 ? ['Below 1:', '', ...reasons, ''] : []),
		`Machine: ${processors[0]!.model}, ${processors.length} cores, ${gigabytes} GB of memory, Node.js ${process.versions.node}, n8n ${n8nVersion}, ${today}.`,
	];
	await writeBlock('docs/scaling.md', 'figures', content.join('\n'));
}
