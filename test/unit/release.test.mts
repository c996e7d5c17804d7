/** Runs `npm run release` in a repository of its own, whose remote is a folder. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';
import manifest from '../../package.json' with { type: 'json' };

const folder = mkdtempSync(join(tmpdir(), 'resume-management-release-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const [clone, remote] = [join(folder, 'clone'), join(folder, 'remote')];

// Without the variables of an outer npm or git, which name this repository.
const outer = Object.entries(process.env).filter(([name]) => !/^(npm|git)_/i.test(name));
const env = {
	...Object.fromEntries(outer),
	PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
	HOME: folder,
	GIT_CEILING_DIRECTORIES: folder,
};
const run = (command: string, ...args: string[]) =>
	execFileSync(command, args, { cwd: clone, env, encoding: 'utf8', stdio: 'pipe' });
const git = (...args: string[]) => run('git', ...args);
const npmRun = (...args: string[]) => run('npm', 'run', ...args);
const refs = () => git('ls-remote', remote);

const write = (file: string, text: string) => writeFileSync(join(clone, file), text);
const OLD = ['## [1.2.3] - 2026-01-01', '- Old.', ''];
const changelog = (...parts: string[]) => ['# Changelog', '## [Unreleased]', ...parts].join('\n\n');

beforeAll(() => {
	for (const file of ['scripts/release.mts', 'host/paths.mts']) {
		cpSync(join(projectRoot, file), join(clone, file));
	}
	const scripts = { ...manifest.scripts, test: 'echo tests', 'verify:package': 'echo scans' };
	const author = { ...manifest.author, email: 'author@example.com' };
	write('package.json', JSON.stringify({ ...manifest, version: '1.2.3', author, scripts }));
	write('README.md', `Install ${manifest.name}@1.3.0.`);
	write('CHANGELOG.md', changelog('- News.', ...OLD));
	run('git', 'init', '--quiet', '--bare', remote);
	git('init', '--quiet', '--initial-branch=main');
	git('config', 'user.name', 'Test');
	git('config', 'user.email', 'test@example.com');
	git('add', '.');
	git('commit', '--quiet', '--message=feat: news');
	git('remote', 'add', 'origin', remote);
	git('push', '--quiet', '--set-upstream', 'origin', 'main');
});

test('a release tests the package, and pushes a commit and a tag with version and changelog', () => {
	const output = npmRun('release', '--', 'minor');
	expect(output).toMatch(/- News\.[^]*^tests$[^]*^scans$/m);
	expect(git('log', '-1', '--format=%s', 'v1.3.0')).toBe('chore: release 1.3.0\n');
	expect(JSON.parse(git('show', 'v1.3.0:package.json'))).toMatchObject({ version: '1.3.0' });
	const released = git('show', 'v1.3.0:CHANGELOG.md').replace(/20\d\d-\d\d-\d\d/, 'DAY');
	expect(released).toBe(changelog('## [1.3.0] - DAY', '- News.', ...OLD));
	const commit = git('rev-parse', 'HEAD').trim();
	expect(refs()).toContain(`${commit}\trefs/heads/main\n`);
	expect(refs()).toContain(`${commit}\trefs/tags/v1.3.0^{}\n`);
	expect(npmRun('release:check', '--', 'v1.3.0')).toContain('- News.');
	expect(() => npmRun('release:check', '--', 'v1.4.0')).toThrow('v1.3.0');
});

test.each([
	['nothing to release', 'no entry', 'echo tests', ''],
	['a failing test', 'Command failed', 'false', ''],
	['an outdated page', 'README.md:1: It is', 'echo tests', 'It is not on npm yet.'],
	['an unknown version', 'README.md:1: n8n-nodes', 'echo tests', `${manifest.name}@1.3.2`],
	['a removal in a patch', 'new major version', 'echo tests', '', '### Removed\n\n- A field.'],
])('with %s, a release changes nothing', (_, reason, tests, readme, news = '- More news.') => {
	const file = JSON.parse(git('show', 'HEAD:package.json')) as typeof manifest;
	write('package.json', JSON.stringify({ ...file, scripts: { ...file.scripts, test: tests } }));
	write('README.md', readme);
	if (reason !== 'no entry')
		write('CHANGELOG.md', changelog(news, '## [1.3.0] - 2026-01-01', '- News.', ''));
	git('commit', '--quiet', '--all', '--allow-empty', '--message=test: prepared');
	const before = [refs(), git('rev-parse', 'HEAD'), git('tag')];
	expect(() => npmRun('release', '--', 'patch')).toThrow(reason);
	expect([refs(), git('rev-parse', 'HEAD'), git('tag')]).toEqual(before);
	expect(git('status', '--porcelain')).toBe('');
});
