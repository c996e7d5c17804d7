/**
 * Checks and writes the changelog of a release. `npm version` runs `check` before it changes anything, and `prepare` before
 * it commits and tags. The workflow that publishes runs `check <tag>`. `n8n-node release` is not used, because it writes a
 * changelog from the commits.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../host/paths.mts';
import { describeError, Trouble } from '../host/trouble.mts';
import { readEntry, releaseEntry } from './changelog.mts';
import { readManifest } from './builtPackage.mts';

try {
	const file = join(projectRoot, 'CHANGELOG.md');
	const changelog = await readFile(file, 'utf8');
	const { version } = readManifest(projectRoot);
	const [command, tag] = process.argv.slice(2);
	if (command === 'prepare') {
		const today = new Date().toISOString().slice(0, 10);
		await writeFile(file, releaseEntry(changelog, version, today));
	} else {
		if (tag !== undefined && tag !== `v${version}`) {
			throw new Trouble(`The tag is ${tag}, and package.json has version ${version}.`);
		}
		console.log(readEntry(changelog, tag === undefined ? 'Unreleased' : version));
	}
} catch (error) {
	console.error(describeError(error));
	process.exitCode = 1;
}
