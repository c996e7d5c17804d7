/** `npm run docs`: writes the generated tables of the README and of docs/errors.md, from the built nodes. */
import { projectRoot } from '../host/paths.mts';
import { generatedTables } from './generatedTables.mts';
import { writeBlock } from './write.mts';

for (const { page, block, content } of generatedTables(projectRoot)) {
	await writeBlock(page, block, content);
}
