/** `npm run docs`: writes anew, from the built node, what the README says of its operations, and its errors. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { projectRoot } from '../host/paths.mts';
import { withFailures } from './failuresTable.mts';
import { withOperations } from './operationsTable.mts';

for (const [name, withTables] of [
	['README.md', withOperations],
	['docs/errors.md', withFailures],
] as const) {
	const file = join(projectRoot, name);
	const text = await readFile(file, 'utf8');
	const options = { ...(await resolveConfig(file)), filepath: file };
	const current = await format(withTables(text, projectRoot), options);
	if (current !== text) await writeFile(file, current);
	console.log(`${name} is ${current === text ? 'up to date' : 'written'}.`);
}
