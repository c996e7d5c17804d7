import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';

/**
 * A page of the documentation whose numbered headings are steps, each a test. A step fails where the
 * page does not name what is done, or names (in bold, italics or code) what is not.
 */
export class Guide {
	readonly #sections: Map<string, string>;
	readonly #taken: string[] = [];
	#named = new Set<string>();
	#left = new Set<string>();

	/** @param file in `docs/` */
	constructor(file: string) {
		const sections = readFileSync(join(projectRoot, 'docs', file), 'utf8').split(/^## /m);
		const numbered = sections.filter((section) => /^\d/.test(section));
		this.#sections = new Map(numbered.map((section) => [section.split('\n')[0]!, section]));
	}

	/** Defines the test of a step. */
	step(heading: string, act: () => Promise<void>): void {
		this.#taken.push(heading);
		it(heading, async () => {
			const marks = /\*\*(.+?)\*\*|\b_(.+?)_\b|`(.+?)`|images\/(.+?)\.png/g;
			const found = (this.#sections.get(heading) ?? '').matchAll(marks);
			this.#named = new Set(Array.from(found, (mark) => mark.slice(1).find(Boolean)!));
			this.#left = new Set(this.#named);
			await act();
			expect([...this.#left]).toEqual([]);
		});
	}

	/** Answers what is chosen, entered or seen in the step under way, which the page has to name. */
	told(text: string): string {
		expect([...this.#named]).toContain(text);
		this.#left.delete(text);
		return text;
	}

	/** Defines the test that each step of the page has been defined, in its order. */
	end(): void {
		it('takes each step of the page, in its order', () => {
			expect(this.#taken).toEqual([...this.#sections.keys()]);
		});
	}
}
