/** Checks what contributors and releases need of GitHub's workflows. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';
import manifest from '../../package.json' with { type: 'json' };

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
const find = (pattern: string) => globSync(pattern, { cwd: projectRoot }).sort();
const all = (text: string, pattern: RegExp) =>
	Array.from(text.matchAll(pattern), (match) => match.slice(1).find(Boolean)!);

/** Returns the scripts of package.json that a text runs. */
const scriptsIn = (text: string) =>
	all(text.replace(/^\s*#.*$/gm, ''), /\bnpm (?:run ([\w:-]+)|(test)\b)/g);

const local = read('.ci/run');
const ci = read('.github/workflows/ci.yml');
const release = read('.github/workflows/release.yml');

test.each(find('.github/{workflows/*,actions/*/action}.yml'))('%s runs what exists', (file) => {
	const text = read(file);
	expect(scriptsIn(text).filter((script) => !(script in manifest.scripts))).toEqual([]);
	// An action is one of this repository, or pinned by its commit.
	const unknown = all(text, /\buses: (.*)$/gm).filter((used) =>
		used.startsWith('./')
			? !existsSync(join(projectRoot, used))
			: !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used),
	);
	expect(unknown).toEqual([]);
});

test('CI runs what .ci/run runs, in every n8n that has a host', () => {
	expect(scriptsIn(ci)).toEqual(expect.arrayContaining(scriptsIn(local)));
	const hosts = find('host/n8n-*/package-lock.json').map((path) => /n8n-(\w+)/.exec(path)![1]!);
	expect(ci).toContain(`n8n: [${hosts.join(', ')}]`);
	expect(all(local, /--n8n (\w+)/g).sort()).toEqual(hosts);
});

test('a release publishes the verified package of a version tag, after all tests', () => {
	expect(release).toContain("on:\n  push:\n    tags: ['v*.*.*']\n");
	const [, pack, publish] = release.split(/^ {2}(?:pack|publish):$/m);
	expect(scriptsIn(pack!)).toEqual(['release:check', 'build', 'verify:package']);
	expect(publish).toContain('needs: [ci, pack]');
	expect(publish).toMatch(/sha256sum --check\n\s+npm publish .*--provenance/);
	expect(all(release, /(\S+: write)$/gm)).toEqual(['id-token: write']);
});
