/**
 * Checks the texts of a release, and writes its changelog: https://keepachangelog.com/en/1.1.0/. `npm version` runs `check`
 * before it changes anything, and `prepare` before it commits and tags. The workflow that publishes runs `check <tag>`.
 *
 * `n8n-node release` is not used. It replaces CHANGELOG.md by a list of the commits, with a tool that npx fetches unpinned, and
 * in a workflow, it runs all development packages beside the token of npm. It also needs `release-it`, with 145 packages.
 */
import assert from 'node:assert/strict';
import { glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../host/paths.mts';
import manifest from '../package.json' with { type: 'json' };

/** Returns the entry of a version, or of the unreleased part, and fails if there is none. */
function readEntry(changelog: string, version: string): string {
	const sections = changelog.split(/^(?=## )/m);
	const section = sections.find((one) => one.startsWith(`## [${version}]`)) ?? '';
	const entry = section.replace(/^.*\n/, '').trim();
	assert.match(entry, /^- /m, `CHANGELOG.md has no entry for ${version}.`);
	return entry;
}

/** Texts that must not be released: in the pages, and the placeholder in package.json. */
const PLACEHOLDER = /not on npm yet|replace-before-publishing/;

/** A version of this package, such as `n8n-nodes-resume-management@1.2.3`. */
const NAMED = /n8n-nodes-resume-management\D{1,20}(\d+\.\d+\.\d+)/g;

/**
 * Fails with the lines that the release would make untrue.
 * @param released its version, which the pages may name beside those in the changelog
 */
async function checkPages(changelog: string, released: string): Promise<void> {
	const isKnown = (one: string) => one === released || changelog.includes(`## [${one}]`);
	const wrong: string[] = [];
	for await (const page of glob(['package.json', 'README.md', 'docs/*.md'], { cwd: projectRoot })) {
		const lines = (await readFile(join(projectRoot, page), 'utf8')).split('\n');
		for (const [index, line] of lines.entries()) {
			const versions = Array.from(line.matchAll(NAMED), ([, one]) => one!);
			if (PLACEHOLDER.test(line) || !versions.every(isKnown)) {
				wrong.push(`${page}:${index + 1}: ${line.trim()}`);
			}
		}
	}
	assert.ok(wrong.length === 0, `Change these lines before ${released}:\n${wrong.join('\n')}`);
}

const { version } = manifest;
const file = join(projectRoot, 'CHANGELOG.md');
const changelog = await readFile(file, 'utf8');
const [command, tag] = process.argv.slice(2);
if (command === 'prepare') {
	const today = new Date().toISOString().slice(0, 10);
	const heading = '## [Unreleased]';
	await writeFile(file, changelog.replace(heading, `${heading}\n\n## [${version}] - ${today}`));
} else {
	if (tag !== undefined) assert.equal(tag, `v${version}`);
	// Set by `npm version`.
	const { npm_new_version: released = version } = process.env;
	await checkPages(changelog, released);
	const entry = readEntry(changelog, tag === undefined ? 'Unreleased' : version);
	const isMajor = Number.parseInt(released) > Number.parseInt(version);
	const breaks = tag === undefined && /^### Removed$/m.test(entry) && !isMajor;
	assert.ok(!breaks, 'CHANGELOG.md has "### Removed", which needs a new major version.');
	console.log(entry);
}
