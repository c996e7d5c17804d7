import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { projectRoot } from '../host/paths.mts';
import { plotRatios } from './plot.mts';
import { isMet, ratio, summarize, type Row } from './row.mts';

const docs = join(projectRoot, 'docs');

export function printTable(rows: Row[]): void {
	console.table(rows.map(cells));
}

/** Writes docs/benchmarks.md and its plot. */
export async function writeReport(rows: Row[], n8nVersion: string): Promise<void> {
	await mkdir(join(docs, 'images'), { recursive: true });
	await writeFile(join(docs, 'images', 'benchmarks.svg'), plotRatios(rows));
	const file = join(docs, 'benchmarks.md');
	const options = await resolveConfig(file);
	const text = await format(document(rows, n8nVersion), { ...options, filepath: file });
	await writeFile(file, text);
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

function document(rows: Row[], n8nVersion: string): string {
	const table = rows.map(cells);
	const line = (texts: string[]) => `| ${texts.join(' | ')} |`;
	const names = Object.keys(table[0]!);
	const reasons = rows
		.flatMap(({ title, unguarded }) => (unguarded ? [`- ${title}: ${unguarded}`] : []))
		.join('\n');
	const processors = cpus();
	const gigabytes = Math.round(totalmem() / 2 ** 30);
	return `# Benchmarks

\`npm run bench\` measures this package against the nodes of n8n that one would use without it, HTTP
Request and Webhook, and writes this page.

![How many times better than n8n's own node, for each line of the table](images/benchmarks.svg)

${[names, names.map(() => '---'), ...table.map(Object.values<string>)].map(line).join('\n')}

Figures are medians of the rounds, with the least and the most. A ratio above 1 is in our favour.
Not every bound that is measured guards:

${reasons}

Machine: ${processors[0]!.model}, ${processors.length} cores, ${gigabytes} GB of memory, Node.js
${process.versions.node}, n8n ${n8nVersion}, ${new Date().toISOString().slice(0, 10)}.

## What is measured

- One n8n runs both nodes, in turns, with the packed package. Times are those of the node itself, which
  n8n stores with the execution. Both use the same credential, and each item's ID is an expression.
- The service is a thread that answers after the given time and does nothing else.
- **Floor** is Node.js alone: the same requests, as many side by side as ours, each on a connection of
  its own.
- **Reads**: HTTP Request sends all items at once; ours sends as many side by side as the title says.
- **Upgrades**: ours waits for each answer before it sends the next upgrade. With batch size 1 (interval
  1 ms), HTTP Request spaces the requests but waits for no answer; Loop Over Items around it waits.
- **Downloads** go to n8n's store in the filesystem, 32 side by side. The growth of memory is the highest
  resident memory of n8n's process during the run, less that before it.
- **Events** come 20 side by side, until all are answered, and until all executions have ended. Both
  triggers check a secret in a header. The lines with an isolate for both are measured in an n8n with
  \`N8N_EXPRESSION_ENGINE_ALLOW_WEBHOOK_ISOLATE_SKIP=false\`.
- **Peak memory** is measured in a fresh process each time.
- **Load**: all nodes and credentials are loaded by a fresh Node.js that has n8n-workflow already.

## Guard

\`npm run bench -- --quick\` takes fewer lines and rounds, writes nothing, and fails where a bound that
guards is missed.

## Profile

\`\`\`sh
NODE_OPTIONS="--cpu-prof --cpu-prof-dir=$PWD/profiles" node bench/main.mts --quick
\`\`\`

writes a profile for each process when it ends. The largest is that of n8n: open it in the Performance
panel of Chrome's developer tools. A process that writes a profile is slower, so its ratios say little.
`;
}
