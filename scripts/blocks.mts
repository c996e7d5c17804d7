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

/** A table of Markdown, the first row being its head, with columns for a person who reads it as it is. */
export function table([head = [], ...rows]: string[][]): string {
	const widths = head.map((_, column) =>
		Math.max(3, ...[head, ...rows].map((row) => row[column]!.length)),
	);
	const rule = widths.map((width) => '-'.repeat(width));
	return [head, rule, ...rows]
		.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`)
		.join('\n');
}
