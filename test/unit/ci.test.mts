/** Checks what actionlint can't know: that GitHub's workflows and `.ci/run` fit the scripts and the hosts. */
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { find, read } from '../support/files.mts';

const matches = (text: string, pattern: RegExp) =>
	Array.from(text.replace(/^\s*#.*$/gm, '').matchAll(pattern), ([, found]) => found!);
const scriptsIn = (text: string) =>
	matches(text, /\bnpm (test\b|run (?:--silent )?[\w:-]+)/g).map((one) => one.replace(/.* /, ''));

test.each(['.ci/run', ...find('.github/{workflows/*,actions/*/action}.yml')])(
	'%s runs scripts that exist, and actions that are pinned by their commit',
	(file) => {
		const text = read(file);
		expect(scriptsIn(text).filter((script) => !(script in manifest.scripts))).toEqual([]);
		const actions = matches(text, /^[ -]*uses: (?!\.\/)(\S+)/gm);
		expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
	},
);

test('CI runs what .ci/run runs, in every n8n that host/ pins', () => {
	const [local, ci] = [read('.ci/run'), read('.github/workflows/ci.yml')];
	expect(scriptsIn(ci)).toEqual(expect.arrayContaining(scriptsIn(local)));
	const pins = find('host/n8n-!(newest)/package.json');
	const hosts = pins.map((path) => /n8n-(\w+)/.exec(path)![1]!);
	expect(ci).toContain(`n8n: [${hosts.join(', ')}]`);
	expect(new Set(matches(local, /--n8n (\w+)/g))).toEqual(new Set(hosts));
});

test('a release publishes after all checks, and no check may write', () => {
	type Job = { needs?: string | string[]; permissions?: object };
	const { permissions, jobs } = parse(read('.github/workflows/release.yml')) as {
		permissions: object;
		jobs: Record<string, Job>;
	};
	const { publish, ...others } = jobs;
	const checks = Object.keys(others).filter((name) => others[name]!.needs !== 'publish');
	expect(publish!.needs).toEqual(checks);
	expect(permissions).toEqual({ contents: 'read' });
	const writing = Object.keys(jobs).filter((name) => jobs[name]!.permissions);
	expect(writing).toEqual(['publish', 'github']);
});
