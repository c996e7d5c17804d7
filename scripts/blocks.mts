import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../host/paths.mts';
import { Trouble } from '../host/trouble.mts';

/**
 * A page with another content of its block `name`, which is between `<!-- name: … -->` and
 * `<!-- /name -->`.
 *
 * @throws {Trouble} where the page has no such block
 */
export function withBlock(page: string, name: string, content: string): string {
	const block = new RegExp(`(<!-- ${name}: .*? -->\n).*?(\n<!-- /${name} -->)`, 's');
	if (!block.test(page)) throw new Trouble(`The page has no block ${name}.`);
	return page.replace(block, (_, start: string, end: string) => `${start}\n${content}\n${end}`);
}

/** Writes a block of a page of the project. */
export async function writeBlock(page: string, name: string, content: string): Promise<void> {
	const file = join(projectRoot, page);
	await writeFile(file, withBlock(await readFile(file, 'utf8'), name, content));
}

/** A table of Markdown, the first row being its head, in the form that prettier leaves alone. */
export function table([head = [], ...rows]: string[][]): string {
	const widths = head.map((_, column) =>
		Math.max(3, ...[head, ...rows].map((row) => row[column]!.length)),
	);
	const rule = widths.map((width) => '-'.repeat(width));
	return [head, rule, ...rows]
		.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`)
		.join('\n');
}
