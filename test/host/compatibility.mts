import { basename } from 'node:path';

/** What jest's `--json` writes of a run, as far as it is read here. */
export interface JestResults {
	/** By file, whose path is the name. */
	testResults: Array<{ name: string; status: 'passed' | 'failed' }>;
}

/** Columns of the table in docs/compatibility.md, and the test files behind each. */
const columns: Record<string, string[]> = {
	Operations: ['nodes', 'own'],
	'At most once': ['entries', 'claims', 'own'],
	Trigger: ['trigger', 'own'],
	'Agent tools': ['agent'],
	'Example workflows': ['workflows', 'sync'],
	'From the registry': ['registry'],
};

/** An n8n whose tests have run. */
export interface Tested {
	/** `1`, `2` or `lowest`. */
	host: string;
	/** Of n8n. */
	version: string;
	/** Major version of the Node.js that n8n ran on. */
	node: string;
	results: JestResults;
}

/**
 * docs/compatibility.md with the row of an n8n as its run has shown it, not yet aligned.
 *
 * @throws where the document has no row for this n8n
 */
export function withRow(document: string, { host, version, node, results }: Tested): string {
	const cells = Object.values(columns).map((files) => {
		const run = results.testResults.filter(({ name }) =>
			files.includes(basename(name, '.test.mts')),
		);
		if (run.some(({ status }) => status === 'failed')) return 'failed';
		return run.length > 0 ? 'passed' : 'not run';
	});
	const label = host === 'lowest' ? `${version} (lowest)` : version;
	// Of this n8n, whose version may have been another one before.
	const row = host === 'lowest' ? '[\\d.]+ \\(lowest\\)' : `${host}\\.[\\d.]+`;
	const place = new RegExp(`^\\| ${row} +\\|.*$`, 'm');
	if (!place.test(document)) throw new Error(`docs/compatibility.md has no row for n8n ${host}`);
	const line = (...texts: string[]) => `| ${texts.join(' | ')} |`;
	const head = ['n8n', 'Node.js', ...Object.keys(columns)];
	return document
		.replace(/^\| n8n .*\n.*$/m, `${line(...head)}\n${line(...head.map(() => '---'))}`)
		.replace(place, line(label, node, ...cells));
}
