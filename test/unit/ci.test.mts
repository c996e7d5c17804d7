/** Checks that GitHub's workflows fit the scripts, the hosts and each other. */
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { exists, find, read } from '../support/files.mts';

interface Job {
	uses?: string;
	permissions?: object;
	steps?: Array<{ uses?: string; run?: string }>;
}

const scriptsIn = (text: string) =>
	[...text.replace(/^\s*#.*$/gm, '').matchAll(/\bnpm (?:run ([\w:-]+)|(test)\b)/g)].map(
		([, script, test]) => script ?? test!,
	);
const commands = ({ steps = [] }: Job) => steps.map(({ run = '' }) => run).join('\n');

const local = read('.ci/run');
const ci = parse(read('.github/workflows/ci.yml'));
const release = parse(read('.github/workflows/release.yml'));

test.each(find('.github/{workflows/*,actions/*/action}.yml'))('%s runs what exists', (file) => {
	const { jobs, runs } = parse(read(file));
	const all: Job[] = runs ? [runs] : Object.values(jobs);
	const scripts = all.flatMap((job) => scriptsIn(commands(job)));
	expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([]);
	// An action is one of this repository, or pinned by its commit.
	const used = all.flatMap(({ uses, steps = [] }) => [uses, ...steps.map((step) => step.uses)]);
	const pinned = /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/;
	const isOwn = (action: string) => action.startsWith('./') && exists(action);
	const unknown = used.filter((action) => action && !isOwn(action) && !pinned.test(action));
	expect(unknown).toEqual([]);
});

test('CI runs what .ci/run runs, in every n8n that has a host', () => {
	const scripts = Object.values<Job>(ci.jobs).flatMap((job) => scriptsIn(commands(job)));
	expect(scripts).toEqual(expect.arrayContaining(scriptsIn(local)));
	const hosts = find('host/n8n-*/package-lock.json').map((path) => /n8n-(\w+)/.exec(path)![1]!);
	expect(ci.jobs.host.strategy.matrix.n8n.map(String)).toEqual(hosts);
	expect(new Set(local.match(/(?<=--n8n )\w+/g))).toEqual(new Set(hosts));
});

test('a release publishes after all other jobs, and only that job may write', () => {
	const { publish, ...others } = release.jobs;
	expect(publish.needs.sort()).toEqual(Object.keys(others).sort());
	expect(Object.values<Job>(others).filter(({ permissions }) => permissions)).toEqual([]);
});
