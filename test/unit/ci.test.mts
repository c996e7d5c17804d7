import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../../host/paths.mts';

/**
 * Of GitHub's workflows what a reviewer would ask for. By hand: actionlint and zizmor, which know more, are
 * programs that npm does not install.
 */

interface Step {
	uses?: string;
	run?: string;
	with?: Record<string, unknown>;
}

interface Job {
	uses?: string;
	steps?: Step[];
	permissions?: Record<string, string>;
	'timeout-minutes'?: number;
	strategy?: { matrix: { n8n?: Array<number | string> } };
}

interface Workflow {
	on: Record<string, unknown>;
	permissions: Record<string, string>;
	jobs: Record<string, Job>;
}

function read(file: string): string {
	return readFileSync(join(projectRoot, file), 'utf8');
}

const workflowFiles = globSync('.github/workflows/*.yml', { cwd: projectRoot });
const actionFiles = globSync('.github/actions/*/action.yml', { cwd: projectRoot });
const files = [...workflowFiles, ...actionFiles].sort();
const workflows = workflowFiles.map((file) => ({
	file,
	...(parse(read(file)) as Workflow),
}));
const jobs = workflows.flatMap(({ file, jobs }) =>
	Object.entries(jobs).map(([name, job]) => ({ title: `${file} ${name}`, ...job })),
);
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** The scripts of package.json that a text runs. */
function scriptsIn(text: string): string[] {
	return Array.from(text.matchAll(/\bnpm (?:run ([\w:-]+)|(test)\b)/g), ([, script, test]) =>
		String(script ?? test),
	);
}

it('finds the workflows', () => {
	expect(files).toEqual([
		'.github/actions/setup/action.yml',
		'.github/workflows/ci.yml',
		'.github/workflows/release.yml',
	]);
});

describe.each(files)('%s', (file) => {
	const text = read(file);

	it('runs scripts that exist', () => {
		const run = scriptsIn(text.replace(/^\s*#.*$/gm, ''));
		expect(run.filter((script) => !(script in scripts))).toEqual([]);
	});

	it("pins every action to a commit and says which version that is, or uses the checkout's own", () => {
		const used = text.match(/\buses: .*$/gm) ?? [];
		for (const line of used) {
			const local = /^uses: \.\/(\S+)$/.exec(line)?.[1];
			if (local === undefined) {
				expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
			} else {
				expect([local, existsSync(join(projectRoot, local))]).toEqual([local, true]);
			}
		}
	});

	it('puts nothing into a shell that others can choose', () => {
		const document = parse(text) as { jobs?: Record<string, Job>; runs?: { steps: Step[] } };
		const steps = [
			...Object.values(document.jobs ?? {}).flatMap((job) => job.steps ?? []),
			...(document.runs?.steps ?? []),
		];
		const expressions = steps.flatMap(({ run = '' }) => run.match(/\$\{\{.*?\}\}/g) ?? []);
		expect(expressions.filter((one) => one !== '${{ matrix.n8n }}')).toEqual([]);
	});
});

it('may read the code and nothing else, but for the job that publishes', () => {
	expect(workflows.map(({ permissions }) => permissions)).toEqual(
		workflows.map(() => ({ contents: 'read' })),
	);
	const more = jobs.filter(({ permissions }) => permissions !== undefined);
	expect(more.map(({ title, permissions }) => [title, permissions])).toEqual([
		['.github/workflows/release.yml publish', { 'id-token': 'write' }],
	]);
});

it('ends every job in time', () => {
	const endless = jobs.filter(
		({ uses, 'timeout-minutes': minutes }) => uses === undefined && minutes === undefined,
	);
	expect(endless).toEqual([]);
});

it('keeps no login of GitHub in a checkout', () => {
	const checkouts = jobs
		.flatMap(({ steps = [] }) => steps)
		.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
	expect(checkouts.length).toBeGreaterThan(0);
	for (const { with: options } of checkouts) {
		expect(options).toEqual({ 'persist-credentials': false });
	}
});

it('runs what .ci/run runs', () => {
	const inCi = scriptsIn(read('.github/workflows/ci.yml'));
	const inRun = scriptsIn(read('.ci/run')).filter((script) => script !== 'side-by-side');
	expect(inRun.length).toBeGreaterThan(4);
	expect(inCi).toEqual(expect.arrayContaining(inRun));
});

it('tests in every n8n that there is a host of', () => {
	const hosts = globSync('host/n8n-*/package-lock.json', { cwd: projectRoot });
	const names = hosts.map((path) => /n8n-(\w+)/.exec(path)?.[1]);
	const { host } = workflows.find(({ file }) => file.endsWith('/ci.yml'))!.jobs;
	expect(host?.strategy?.matrix.n8n?.map(String)).toEqual(names.sort());
	const inRun = Array.from(read('.ci/run').matchAll(/--n8n (\w+)/g), ([, name]) => name);
	expect(inRun.sort()).toEqual(names);
});

it('publishes from a version tag what was verified, after all tests', () => {
	const release = workflows.find(({ file }) => file.endsWith('/release.yml'))!;
	expect(release.on).toEqual({ push: { tags: ['v*.*.*'] } });
	expect(release.jobs.publish).toMatchObject({ needs: ['ci', 'pack'] });
	const commands = (job: Job | undefined) =>
		(job?.steps ?? []).map(({ run = '' }) => run).join('\n');
	expect(commands(release.jobs.publish)).toMatch(/sha256sum --check\nnpm publish .*--provenance/);
	expect(scriptsIn(commands(release.jobs.pack))).toEqual([
		'release:check',
		'build',
		'verify:package',
	]);
});
