import { basename } from 'node:path';

/** What jest's `--json` writes of a run, as far as it is read here. */
export interface JestResults {
	testResults: Array<{
		/** The file's path. */
		name: string;
		status: 'passed' | 'failed';
		/** None where the file itself could not be run. */
		assertionResults: Array<{ fullName: string; status: string }>;
	}>;
}

/** How many tests of an area had each outcome. */
export type Area = Record<'passed' | 'failed' | 'skipped', number>;

/** Columns of the table in docs/compatibility.md, and their tests: `<file> <full name of the test>`. */
const columns: Array<[title: string, tests: RegExp]> = [
	['Node types', /^nodes node types /],
	['Credential test', /^nodes credential test /],
	['Operations', /^(nodes operations|download) /],
	['Error output', /^nodes error output /],
	['Agent tools', /^agent /],
	['Example workflows', /^(workflows|section-saved|sync) /],
	['Trigger', /^trigger /],
];

/** Counts the tests of a run by area, whose titles are the keys. */
export function countAreas({ testResults }: JestResults): Record<string, Area> {
	const titles = [...columns.map(([title]) => title), 'Other'];
	const areas = Object.fromEntries(
		titles.map((title) => [title, { passed: 0, failed: 0, skipped: 0 }]),
	);
	for (const { name, status, assertionResults } of testResults) {
		const file = basename(name, '.test.mts');
		const tests = assertionResults.length > 0 ? assertionResults : [{ fullName: '', status }];
		for (const test of tests) {
			const full = `${file} ${test.fullName}`;
			const area = areas[columns.find(([, pattern]) => pattern.test(full))?.[0] ?? 'Other']!;
			if (test.status === 'passed' || test.status === 'failed') area[test.status]++;
			else area.skipped++;
		}
	}
	return areas;
}

/** An n8n whose tests have run: one row of the table. */
export interface Tested {
	/** `1`, `2` or `lowest`. */
	host: string;
	/** Of n8n. */
	version: string;
	/** Major version of the Node.js that n8n ran on. */
	node: string;
	areas: Record<string, Area>;
}

/**
 * docs/compatibility.md with the row of an n8n as its run has shown it, not yet aligned.
 *
 * @throws where the document has no row for this n8n
 */
export function withRow(document: string, { host, version, node, areas }: Tested): string {
	const titles = columns.map(([title]) => title);
	const marks = titles.map((title) => mark(areas[title]!));
	const label = host === 'lowest' ? `${version} (lowest)` : version;
	const place = host === 'lowest' ? /^\| [\d.]+ \(lowest\) .*$/m : ownRow(host);
	if (!place.test(document)) throw new Error(`docs/compatibility.md has no row for n8n ${host}`);
	const cells = (...texts: string[]) => `| ${texts.join(' | ')} |`;
	const head = ['n8n', 'Node.js', ...titles];
	return document
		.replace(/^\| n8n .*\n.*$/m, `${cells(...head)}\n${cells(...head.map(() => '---'))}`)
		.replace(place, cells(label, node, ...marks));
}

/** The row of the version of a major one that was pinned before. */
function ownRow(major: string): RegExp {
	return new RegExp(`^\\| ${major}\\.[\\d.]+ +\\|.*$`, 'm');
}

function mark({ passed, failed }: Area): string {
	if (failed > 0) return 'failed';
	return passed > 0 ? 'passed' : 'not run';
}
