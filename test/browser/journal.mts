/** Collects what a person would have seen at each step, and prints it as a table at the end. */
export class Journal {
	readonly #title: string;
	readonly #rows: Array<[step: string, seen: string]> = [];

	constructor(title: string) {
		this.#title = title;
	}

	add(step: string, seen: string): void {
		this.#rows.push([step, seen]);
	}

	print(): void {
		const width = Math.max(...this.#rows.map(([step]) => step.length));
		const lines = this.#rows.map(([step, seen]) => `  ${step.padEnd(width)}  ${seen}`);
		const count = `${this.#rows.length} steps seen`;
		process.stdout.write(`\n${[this.#title, ...lines, `  ${count}`].join('\n')}\n\n`);
	}
}
