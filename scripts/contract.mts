/**
 * `npm run contract`: shows how the public names of the built package differ from
 * contract/public-names.json, and fails where they do; `-- --update` writes the file anew.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { projectRoot } from '../host/paths.mts';
import { readPublicNames } from './publicNames.mts';

const { update } = parseArgs({ options: { update: { type: 'boolean' } } }).values;
const file = join(projectRoot, 'contract', 'public-names.json');
const names = readPublicNames(projectRoot);
if (update) {
	const options = { ...(await resolveConfig(file)), filepath: file };
	await writeFile(file, await format(JSON.stringify(names), options));
} else {
	assert.deepEqual(names, JSON.parse(await readFile(file, 'utf8')));
}
