/**
 * `npm run test:host -- [--n8n <1|2|lowest>] [arguments of jest]`: runs the host tests in an n8n that `host/` pins (default: 2).
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';

/** Tests that are not run in an n8n. `npm start` runs n8n 2 in any case. */
const leftOut: Record<string, string[]> = {
	'1': ['start'],
	'2': [],
	// It has neither this AI Agent nor the Data Tables where the example workflows keep their data.
	lowest: ['start', 'agent', 'registry', 'sync', 'workflows'],
};

const args = process.argv.slice(2);
const option = args.indexOf('--n8n');
const [, host = '2'] = option < 0 ? [] : args.splice(option, 2);
const ignored = leftOut[host];
if (ignored === undefined)
	throw new Error(`--n8n takes one of ${Object.keys(leftOut).join(', ')}.`);

const jest = join(projectRoot, 'node_modules', 'jest', 'bin', 'jest.js');
const flags = [
	'--selectProjects=host',
	// Each worker runs an n8n.
	'--maxWorkers=2',
	...ignored.map((name) => `--testPathIgnorePatterns=/test/host/${name}\\.test`),
];
const { status } = spawnSync(process.execPath, [jest, ...flags, ...args], {
	cwd: projectRoot,
	env: { ...process.env, TESTED_N8N: host },
	stdio: 'inherit',
});
process.exitCode = status ?? 1;
