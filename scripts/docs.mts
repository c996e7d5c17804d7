/** `npm run docs`: writes anew, from the built node, what the README says of its operations, and its errors. */
import { projectRoot } from '../host/paths.mts';
import { generatedTables } from './generatedTables.mts';
import { writeBlock } from './write.mts';

for (const { page, block, content } of generatedTables(projectRoot)) {
	await writeBlock(page, block, content);
}
