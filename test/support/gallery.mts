import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';
import { readExamples } from '../../host/workspace.mts';

/** The version of each example workflow that its picture shows. */
export const picturedFile = join(projectRoot, 'docs/images/workflows/pictured.json');

/** Returns hashes of the example workflows by file, which do not depend on the files' format. */
export async function versionsNow(): Promise<Record<string, string>> {
	const examples = (await readExamples()).map(({ file, definition }) => [
		file,
		createHash('sha256').update(JSON.stringify(definition)).digest('hex').slice(0, 16),
	]);
	return Object.fromEntries(examples.sort()) as Record<string, string>;
}

/** Returns, for each example, its longest expression, and the lines and the width of its Code nodes, in characters. */
export async function longestPrograms() {
	return (await readExamples()).map(({ file, definition }) => {
		const stored = definition.nodes.map(({ parameters }) => JSON.stringify(parameters)).join();
		// A parameter is an expression if it begins with "=".
		const expressions = [...stored.matchAll(/"=(?:[^"\\]|\\.)*"/g)].map(
			([text]) => JSON.parse(text) as string,
		);
		const programs = definition.nodes.flatMap(({ parameters }) =>
			typeof parameters.jsCode === 'string' ? [parameters.jsCode.split('\n')] : [],
		);
		const longest = (texts: Array<string | string[]>) =>
			Math.max(0, ...texts.map(({ length }) => length));
		const [expression, lines] = [longest(expressions), longest(programs)];
		return { file, expression, codeNodes: programs.length, lines, width: longest(programs.flat()) };
	});
}
