import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../host/command.mts';
import { projectRoot } from '../host/paths.mts';
import { Trouble } from '../host/trouble.mts';

/** Returns a Markdown table. The first row is its head. */
export function table([head = [], ...rows]: string[][]): string {
	const rule = head.map(() => '---');
	return [head, rule, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/**
 * Returns a page with new content of its block `name`, which is between `<!-- name: … -->` and `<!-- /name -->`.
 *
 * @throws {Trouble} if the page has no such block
 */
export function withBlock(page: string, name: string, content: string): string {
	const block = new RegExp(`(<!-- ${name}: .*? -->\n).*?(\n<!-- /${name} -->)`, 's');
	if (!block.test(page)) throw new Trouble(`The page has no block ${name}.`);
	return page.replace(block, (_, start: string, end: string) => `${start}\n${content}\n${end}`);
}

/** Writes a block of a page. */
export async function writeBlock(page: string, name: string, content: string): Promise<void> {
	const file = join(projectRoot, page);
	await writeFormatted(file, withBlock(await readFile(file, 'utf8'), name, content));
}

/** Writes a file in the format of `npm run format`. */
export async function writeFormatted(file: string, text: string): Promise<void> {
	await writeFile(file, text);
	await runCommand('prettier', ['--write', file], { cwd: projectRoot });
}
