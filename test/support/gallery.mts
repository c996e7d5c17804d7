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
