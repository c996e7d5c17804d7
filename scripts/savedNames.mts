import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Trouble } from '../host/trouble.mts';
import { readManifest } from './builtPackage.mts';
import { demand, readPublicNames } from './publicNames.mts';

/** The file with the public names of the last commit, in the package's folder. */
export const savedNamesFile = 'contract/public-names.json';

export interface SavedNames {
	/** Of the version that promises them. */
	majorVersion: number;
	names: string[];
}

/**
 * Compares the public names of a built package with the saved ones.
 *
 * @param update writes names that were added
 * @returns a sentence about what was found
 * @throws {Trouble} where saved workflows break without a new major version, or names were added and
 * are not saved
 */
export async function checkSavedNames(packageFolder: string, update: boolean): Promise<string> {
	const file = join(packageFolder, savedNamesFile);
	const saved = JSON.parse(await readFile(file, 'utf8')) as SavedNames;
	const current: SavedNames = {
		majorVersion: Number(readManifest(packageFolder).version.split('.')[0]),
		names: readPublicNames(packageFolder),
	};
	const broken = findBroken(saved.names, current.names);
	if (broken.length > 0 && current.majorVersion <= saved.majorVersion) {
		throw new Trouble(
			[
				'Workflows that are saved today would break:',
				...broken.map((line) => `  ${line}`),
				`Take these changes back, or give package.json a higher major version: ${saved.majorVersion + 1}.0.0-0 until it is released. Where a change only allows more, take the line out of ${savedNamesFile}.`,
			].join('\n'),
		);
	}
	if (isDeepStrictEqual(saved, current)) return 'Every public name is as saved.';
	if (!update) {
		throw new Trouble(
			`${savedNamesFile} does not show the public names as they are: run \`npm run contract -- --update\`, look at what it changed, and commit the file.`,
		);
	}
	await writeFile(file, `${JSON.stringify(current, undefined, 2)}\n`);
	return `${savedNamesFile} is written.`;
}

/** Promises that are gone, and demands on what could be saved without them before. */
export function findBroken(saved: string[], current: string[]): string[] {
	const cases = new Set(saved.map(caseOf));
	return [
		...saved
			.filter((line) => !line.endsWith(demand) && !current.includes(line))
			.map((line) => `Gone: ${line}`),
		...current
			.filter((line) => line.endsWith(demand) && !saved.includes(line) && cases.has(caseOf(line)))
			.map((line) => `New: ${line}`),
	];
}

/** The node or credential that a line is about, and when it is shown: what is in the first brackets. */
function caseOf(line: string): string {
	return /^(\S+: )(?:[^:(]*(\(.*?\): ))?/.exec(line)!.slice(1).join('');
}
