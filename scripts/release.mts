/**
 * Checks and writes the changelog of a release: https://keepachangelog.com/en/1.1.0/. `npm version` runs `check` before it
 * changes anything, and `prepare` before it commits and tags. The workflow that publishes runs `check <tag>`.
 * `n8n-node release` is not used, because it writes a changelog from the commits.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
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
	console.log(readEntry(changelog, tag === undefined ? 'Unreleased' : version));
}
