import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Trouble } from '../host/trouble.mts';
import { findNarrowings } from './narrowings.mts';
import { readPublicNames, type PublicNames } from './publicNames.mts';

/** The file that holds the promises, in the package's folder. */
export const frozenNamesFile = 'contract/public-names.json';

/**
 * Compares a built package with the names that it has frozen.
 *
 * @throws {Trouble} where a promise is broken without a new major version, or the file is not up to
 * date
 */
export async function checkFrozenNames(packageFolder: string): Promise<void> {
	const frozen = await readFrozenNames(packageFolder);
	const current = readPublicNames(packageFolder);
	if (frozen !== undefined) requirePromises(frozen, current);
	if (isDeepStrictEqual(frozen, current)) return;
	throw new Trouble(
		`${frozenNamesFile} does not show the public names as they are: run \`npm run contract -- --update\`, look at what it changed, and commit the file.`,
	);
}

/**
 * Freezes the names of a built package.
 *
 * @param format turns JSON into the text of the file
 * @returns the file, where it was written
 * @throws {Trouble} where a promise is broken without a new major version: the file is left as it is
 */
export async function updateFrozenNames(
	packageFolder: string,
	format: (json: string) => Promise<string>,
): Promise<string | undefined> {
	const frozen = await readFrozenNames(packageFolder);
	const current = readPublicNames(packageFolder);
	if (frozen !== undefined) requirePromises(frozen, current);
	if (isDeepStrictEqual(frozen, current)) return undefined;
	const path = join(packageFolder, frozenNamesFile);
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, await format(JSON.stringify(current)));
	return frozenNamesFile;
}

async function readFrozenNames(packageFolder: string): Promise<PublicNames | undefined> {
	const path = join(packageFolder, frozenNamesFile);
	if (!existsSync(path)) return undefined;
	return JSON.parse(await readFile(path, 'utf8')) as PublicNames;
}

function requirePromises(frozen: PublicNames, current: PublicNames): void {
	if (current.majorVersion > frozen.majorVersion) return;
	const narrowings = findNarrowings(frozen, current);
	if (narrowings.length === 0) return;
	throw new Trouble(
		[
			'Workflows that are saved today would break:',
			...narrowings.map((sentence) => `  ${sentence}`),
			`Take these changes back, or give package.json a higher major version: ${frozen.majorVersion + 1}.0.0-0 until it is released.`,
		].join('\n'),
	);
}
