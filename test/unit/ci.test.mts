import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../../host/paths.mts';

/**
 * Of GitHub's workflows what a reviewer would ask for. By hand: actionlint and zizmor, which know more, are
 * programs that npm does not install.
 */

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
const find = (pattern: string) => globSync(pattern, { cwd: projectRoot }).sort();
const all = (text: string, pattern: RegExp) =>
	Array.from(text.matchAll(pattern), (match) => match.slice(1).find(Boolean)!);

/** The scripts of package.json that a text runs. */
const scriptsIn = (text: string) =>
	all(text.replace(/^\s*#.*$/gm, ''), /\bnpm (?:run ([\w:-]+)|(test)\b)/g);

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const [ci, release] = ['.github/workflows/ci.yml', '.github/workflows/release.yml'].map(read);

it.each(find('.github/{workflows/*,actions/*/action}.yml'))('%s runs what is known', (file) => {
	const text = read(file);
	expect(scriptsIn(text).filter((script) => !(script in scripts))).toEqual([]);
	// An action of the checkout, or one of a commit, of which it is said what version that is.
	const unknown = all(text, /\buses: (.*)$/gm).filter((used) =>
		used.startsWith('./')
			? !existsSync(join(projectRoot, used))
			: !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used),
	);
	expect(unknown).toEqual([]);
	// Nothing goes into a shell that others can choose.
	const commands: string[] = [];
	parse(text, (key, value: unknown) => (key === 'run' && commands.push(String(value)), value));
	expect(commands.length).toBeGreaterThan(0);
	expect(all(commands.join('\n'), /\$\{\{ (?!matrix\.n8n )(.*?) \}\}/g)).toEqual([]);
});

it.each([ci!, release!])('ends in time, and may read the code and nothing else', (text) => {
	const count = (pattern: RegExp) => all(text, pattern).length;
	expect(text).toContain('\npermissions:\n  contents: read\n');
	expect(count(/^ +(runs-on:)/gm)).toBe(count(/^ +(timeout-minutes:)/gm));
	// No login of GitHub stays in a checkout.
	expect(count(/(actions\/checkout@)/g)).toBe(count(/(persist-credentials: false)/g));
});

it('runs what .ci/run runs, in every n8n that there is a host of', () => {
	const inRun = scriptsIn(read('.ci/run')).filter((script) => script !== 'side-by-side');
	expect(scriptsIn(ci!)).toEqual(expect.arrayContaining(inRun));
	const hosts = find('host/n8n-*/package-lock.json').map((path) => /n8n-(\w+)/.exec(path)![1]!);
	expect(ci).toContain(`n8n: [${hosts.join(', ')}]`);
	expect(all(read('.ci/run'), /--n8n (\w+)/g).sort()).toEqual(hosts);
});

it('publishes from a version tag what was verified, after all tests', () => {
	expect(release).toContain("on:\n  push:\n    tags: ['v*.*.*']\n");
	const [, pack, publish] = release!.split(/^ {2}(?:pack|publish):$/m);
	expect(scriptsIn(pack!)).toEqual(['release:check', 'build', 'verify:package']);
	expect(publish).toContain('needs: [ci, pack]');
	expect(publish).toMatch(/sha256sum --check\n\s+npm publish .*--provenance/);
	expect(all(release!, /(\S+: write)$/gm)).toEqual(['id-token: write']);
});
