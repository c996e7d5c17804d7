import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../host/paths.mts';

/** What `npm run bench:sync` has measured, as bench/sync.json keeps it. */
export interface Figures {
	n8n: string;
	/** ISO 8601 day of the last run. */
	date: string;
	/** The limit of n8n's heap. */
	heapMegabytes: number;
	/** Milliseconds that the service takes for an answer. */
	latency: number;
	sizes: SizeFigures[];
}

export interface SizeFigures {
	users: number;
	/** Resident memory of n8n before the first night. */
	startMegabytes: number;
	/** After how many requests n8n was killed. */
	killedAfter: number;
	nights: Night[];
}

export interface Night {
	title: string;
	seconds: number;
	/** Of n8n's own process. */
	processorSeconds: number;
	/** By operation. */
	requests: Record<string, number>;
	saved: number;
	failures: number;
	rows: number;
	/** Resumes without a row of their own with the right user and score. */
	wrongRows: number;
	peakMegabytes: number;
	/** Above what n8n had before its first night, or after the start that followed the kill. */
	growthMegabytes: number;
}

const file = join(projectRoot, 'bench', 'sync.json');

export async function readFigures(): Promise<Figures> {
	return JSON.parse(await readFile(file, 'utf8')) as Figures;
}

export async function writeFigures(figures: Figures): Promise<void> {
	await writeFile(file, `${JSON.stringify(figures, round, 2)}\n`);
}

function round(_name: string, value: unknown): unknown {
	return typeof value === 'number' ? Math.round(value * 10) / 10 : value;
}
