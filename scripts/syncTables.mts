import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../host/paths.mts';
import { table, withBlock } from './blocks.mts';
import type { Figures, Night } from './syncFigures.mts';

const page = join(projectRoot, 'docs', 'scaling.md');

/** Columns of the plan. */
const plannedUsers = [10_000, 1_000_000, 100_000_000];

/** How long a night may take, which is what is assumed and not measured. */
const nightHours = 8;

export async function writeTables(figures: Figures): Promise<void> {
	await writeFile(page, withTables(await readFile(page, 'utf8'), figures));
}

/**
 * The page with its tables as the figures have them.
 *
 * @throws {Trouble} where the page has no place for a table
 */
export function withTables(text: string, figures: Figures): string {
	const measured = withBlock(text, 'measured', table(measuredRows(figures)));
	return withBlock(measured, 'plan', table(planRows(figures)));
}

const measuredHead = [
	...['Users', 'Night', 'Time', 'Requests', '… a second', 'ms of processor each'],
	...['Saved', 'Failures', 'Rows', 'Memory, MB'],
];

function measuredRows({ sizes }: Figures): string[][] {
	const rows = sizes.flatMap(({ users, nights }) =>
		nights.map((night) => [
			number(users),
			night.title,
			seconds(night.seconds),
			number(total(night)),
			number(total(night) / night.seconds),
			((night.processorSeconds * 1_000) / total(night)).toFixed(1),
			number(night.saved),
			number(night.failures),
			`${number(night.rows)}, ${number(night.wrongRows)} wrong`,
			number(night.growthMegabytes),
		]),
	);
	return [measuredHead, ...rows];
}

function planRows({ sizes }: Figures): string[][] {
	const size = sizes.at(-1)!;
	const [quiet, usual] = [size.nights[1]!, size.nights[2]!];
	const rate = total(quiet) / quiet.seconds;
	const requests = plannedUsers.map((users) => (total(usual) / size.users) * users);
	const perSecond = requests.map((count) => count / (nightHours * 3_600));
	return [
		['', ...plannedUsers.map((users) => `${number(users)} users`)],
		['Requests a night', ...requests.map(rough)],
		[`One n8n, ${number(rate)} requests a second`, ...requests.map((count) => hours(count / rate))],
		[`Requests a second, to be done in ${nightHours} hours`, ...perSecond.map(rough)],
		['Workers for that', ...perSecond.map((count) => number(Math.ceil(count / rate)))],
		['Rows of the table', ...plannedUsers.map((users) => rough((quiet.rows / size.users) * users))],
		['Executions, of 100 users each', ...plannedUsers.map((users) => number(users / 100))],
	];
}

function total({ requests }: Night): number {
	return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

function number(value: number): string {
	return Math.round(value).toLocaleString('en');
}

/** To three digits, so that none is shown that is not meant. */
function rough(value: number): string {
	return value.toLocaleString('en', { maximumSignificantDigits: 3 });
}

function seconds(value: number): string {
	return value < 100 ? `${value.toFixed(1)} s` : `${Math.round(value)} s`;
}

function hours(value: number): string {
	const count = value / 3_600;
	if (count < 1) return `${Math.ceil(value / 60)} minutes`;
	return count < 48 ? `${count.toFixed(1)} hours` : `${rough(count / 24)} days`;
}
