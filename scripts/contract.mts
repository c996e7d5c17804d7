/**
 * `npm run contract`: compares the public names of the built package with contract/public-names.json, and fails if they
 * differ. `-- --update` writes the file.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../host/paths.mts';
import { readPublicNames } from './publicNames.mts';
import { writeFormatted } from './write.mts';

const { update } = parseArgs({ options: { update: { type: 'boolean' } } }).values;
const file = join(projectRoot, 'contract', 'public-names.json');
const names = readPublicNames(projectRoot);
if (update) {
	await writeFormatted(file, JSON.stringify(names));
} else {
	assert.deepEqual(names, JSON.parse(await readFile(file, 'utf8')));
}
