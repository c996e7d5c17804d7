import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';
import { readExamples } from '../../host/workspace.mts';

export const picturedFile = join(projectRoot, 'docs/images/workflows/pictured.json');

/** Returns hashes of the example workflows by file, which do not depend on the files' format. */
export async function versionsNow(): Promise<Record<string, string>> {
	const examples = (await readExamples()).map(({ file, definition }) => [
		file,
		createHash('sha256').update(JSON.stringify(definition)).digest('hex').slice(0, 16),
	]);
	return Object.fromEntries(examples.sort()) as Record<string, string>;
}

/** Returns the expressions and Code nodes of the example workflows that are programs, with their file. */
export async function hiddenPrograms(): Promise<string[][]> {
	return (await readExamples()).flatMap(({ file, definition }) => {
		const stored = JSON.stringify(definition.nodes.map(({ parameters }) => parameters));
		// A parameter is an expression if it begins with "=".
		const expressions = [...stored.matchAll(/"=(?:[^"\\]|\\.)*"/g)].map(
			([text]) => JSON.parse(text) as string,
		);
		const programs = definition.nodes.flatMap(({ parameters: { jsCode } }) => jsCode ?? []);
		const isLong = (code: string) => code.split('\n').length > 6 || /.{141}/.test(code);
		return [
			...expressions.filter(({ length }) => length > 250),
			...(programs as string[]).filter(isLong),
		].map((program) => [file, program]);
	});
}
