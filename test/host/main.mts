/**
 * `npm run test:host -- [--n8n <1|2|lowest|newest>] [--package <tarball>] [arguments of jest]`: runs the host tests in an n8n
 * that `host/` pins (default: 2), or in the newest that npm can install, with the package of a tarball, or of this checkout.
 */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { projectRoot } from '../../host/paths.mts';
import { pinNewest } from './newest.mts';

/** Tests that are not run in an n8n. `npm start` runs n8n 2 in any case. */
const leftOut: Record<string, string[]> = {
	'1': ['start'],
	'2': [],
	// It has neither this AI Agent nor the Data Tables where the example workflows keep their data.
	lowest: ['start', 'agent', 'registry', 'sync', 'workflows.*'],
	newest: ['start'],
};

const args = process.argv.slice(2);
/** Removes an option from the arguments, and returns its value. */
function take(option: string): string | undefined {
	const position = args.indexOf(option);
	return position < 0 ? undefined : args.splice(position, 2)[1];
}
const name = take('--n8n') ?? '2';
const tarball = take('--package');
if (!(name in leftOut)) throw new Error(`--n8n takes one of ${Object.keys(leftOut).join(', ')}.`);
const host = name === 'newest' ? await pinNewest() : name;

const jest = join(projectRoot, 'node_modules', 'jest', 'bin', 'jest.js');
const flags = [
	'--selectProjects=host',
	// Each worker runs an n8n.
	'--maxWorkers=2',
	...leftOut[host]!.map((file) => `--testPathIgnorePatterns=/test/host/${file}\\.test`),
];
const { status } = spawnSync(process.execPath, [jest, ...args, ...flags], {
	cwd: projectRoot,
	env: { ...process.env, TESTED_N8N: host, ...(tarball && { TESTED_PACKAGE: resolve(tarball) }) },
	stdio: 'inherit',
});
process.exitCode = status ?? 1;
