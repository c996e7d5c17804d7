import { cpus, totalmem } from 'node:os';
import { table, writeBlock } from '../scripts/blocks.mts';
import { isMet, ratio, summarize, type Row } from './row.mts';

export function printTable(rows: Row[]): void {
	console.table(rows.map(cells));
}

/** Writes the figures of docs/benchmarks.md. */
export async function writeReport(rows: Row[], n8nVersion: string): Promise<void> {
	await writeBlock('docs/benchmarks.md', 'figures', content(rows, n8nVersion));
}

function cells(row: Row): Record<string, string> {
	const value = ratio(row);
	const met = isMet(row);
	return {
		Measured: row.title,
		Unit: row.unit,
		Ours: figures(row.ours),
		"n8n's": figures(row.theirs),
		Floor: figures(row.floor),
		Ratio: value?.toFixed(2) ?? '',
		Bound: bound(row),
		Result: met === undefined ? '' : met ? 'met' : 'missed',
	};
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

/** The table, what does not guard and why, and where it was measured. */
function content(rows: Row[], n8nVersion: string): string {
	const all = rows.map(cells);
	const lines = [Object.keys(all[0]!), ...all.map(Object.values<string>)];
	const reasons = rows.flatMap(({ title, unguarded }) =>
		unguarded ? [`- ${title}: ${unguarded}`] : [],
	);
	const processors = cpus();
	const gigabytes = Math.round(totalmem() / 2 ** 30);
	const today = new Date().toISOString().slice(0, 10);
	return [
		table(lines),
		'',
		'Not every bound that is measured guards:',
		'',
		...reasons,
		'',
		`Machine: ${processors[0]!.model}, ${processors.length} cores, ${gigabytes} GB of memory, Node.js ${process.versions.node}, n8n ${n8nVersion}, ${today}.`,
	].join('\n');
}
