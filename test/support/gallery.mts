import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';
import { readExamples } from '../../host/workspace.mts';

/** The pictures of the example workflows, and {@link pictured}. */
export const galleryFolder = join(projectRoot, 'docs', 'images', 'workflows');

/** Which version of each workflow its picture shows. */
export const picturedFile = join(galleryFolder, 'pictured.json');

/** Hashes of the workflows by file, whatever the form of the files. */
export type Versions = Record<string, string>;

export async function versionsNow(): Promise<Versions> {
	const examples = (await readExamples()).map(({ file, definition }) => [
		file,
		createHash('sha256').update(JSON.stringify(definition)).digest('hex').slice(0, 16),
	]);
	return Object.fromEntries(examples.sort()) as Versions;
}

export async function pictured(): Promise<Versions> {
	return JSON.parse(await readFile(picturedFile, 'utf8')) as Versions;
}
