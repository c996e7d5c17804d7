const rows: Array<[string, string]> = [];

/** Keeps a line of what is printed when the tests are through. */
export function record(what: string, result: string | number | Record<string, number>): void {
	const text =
		typeof result === 'object'
			? Object.entries(result)
					.map(([name, number]) => `${number} ${name}`)
					.join(', ')
			: String(result);
	rows.push([what, text]);
}

export function printTable(): void {
	const width = Math.max(...rows.map(([what]) => what.length));
	const lines = rows.map(([what, result]) => `${what.padEnd(width)}  ${result}`);
	process.stdout.write(`\n${lines.join('\n')}\n\n`);
}
