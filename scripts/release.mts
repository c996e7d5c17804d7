/**
 * The parts of a release that npm does not know. `npm run release -- <patch|minor|major>` is npm's
 * own `npm version`, which runs `check` before anything is changed, and `prepare` between the new
 * number and the commit that it tags; `npm run release:check -- <tag>` is what the workflow asks
 * before it publishes.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../host/paths.mts';
import { describeError, Trouble } from '../host/trouble.mts';
import { readEntry, releaseEntry } from './changelog.mts';
import { readManifest } from './builtPackage.mts';

const file = join(projectRoot, 'CHANGELOG.md');

async function prepare(): Promise<void> {
	const { version } = readManifest(projectRoot);
	const today = new Date().toISOString().slice(0, 10);
	await writeFile(file, releaseEntry(await readFile(file, 'utf8'), version, today));
}

/**
 * @param tag of the version; without one, that there is something to release
 * @throws {Trouble} where the tag is not that of the version, or the changelog has no entry
 */
async function check(tag: string | undefined): Promise<void> {
	const { version } = readManifest(projectRoot);
	if (tag !== undefined && tag !== `v${version}`) {
		throw new Trouble(`The tag is ${tag}, and package.json has version ${version}.`);
	}
	console.log(readEntry(await readFile(file, 'utf8'), tag ? version : 'Unreleased'));
}

try {
	const [command, tag] = process.argv.slice(2);
	if (command === 'prepare') await prepare();
	else if (command === 'check') await check(tag);
	else throw new Trouble('Say `prepare` or `check`.');
} catch (error) {
	console.error(describeError(error));
	process.exitCode = 1;
}
