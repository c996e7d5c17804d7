/** Writes files in the format of `npm run format`. In a file of its own, because jest can't load prettier. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { projectRoot } from '../host/paths.mts';
import { withBlock } from './blocks.mts';

export async function writeFormatted(file: string, text: string): Promise<void> {
	const options = { ...(await resolveConfig(file)), filepath: file };
	await writeFile(file, await format(text, options));
}

/** Writes a block of a page. */
export async function writeBlock(page: string, name: string, content: string): Promise<void> {
	const file = join(projectRoot, page);
	await writeFormatted(file, withBlock(await readFile(file, 'utf8'), name, content));
}
