import { Trouble } from '../host/trouble.mts';

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

/** Returns a Markdown table with aligned columns. The first row is its head. */
export function table([head = [], ...rows]: string[][]): string {
	const widths = head.map((_, column) =>
		Math.max(3, ...[head, ...rows].map((row) => row[column]!.length)),
	);
	const rule = widths.map((width) => '-'.repeat(width));
	return [head, rule, ...rows]
		.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`)
		.join('\n');
}
