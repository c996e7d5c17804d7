/** The tables of docs/errors.md, made from what the built node can fail with. */
import { join } from 'node:path';
import { table, withBlock } from './blocks.mts';
import { requireBuilt } from './builtPackage.mts';

type Failures = Record<string, [message: string, description: string]>;

/** All failures of the built action node, by their IDs. */
export function readFailures(packageFolder: string): Failures {
	const file = join(packageFolder, 'dist', 'nodes', 'ResumeManagement', 'http', 'failures.js');
	return (requireBuilt(file) as { FAILURES: Failures }).FAILURES;
}

/** A text as people read it, with `…` for what is put in. */
export const shown = (text: string) => text.replace(/(\{\w+\})+/g, '…');

/**
 * The page with its tables as the built node has them: a block for each first part of the IDs.
 *
 * @throws {Trouble} where the page has no place for one of them
 */
export function withFailures(page: string, packageFolder: string): string {
	const failures = Object.entries(readFailures(packageFolder));
	const groups = new Set(failures.map(([id]) => id.split('.')[0]!));
	let written = page;
	for (const group of groups) {
		const rows = failures
			.filter(([id]) => id.startsWith(`${group}.`))
			.map(([id, [message, description]]) => [
				`\`${shown(message)}\``,
				shown(description),
				`\`${id}\``,
			]);
		const head = ['Message', 'What to do', 'ID'];
		written = withBlock(written, `failures-${group}`, table([head, ...rows]));
	}
	return written;
}
