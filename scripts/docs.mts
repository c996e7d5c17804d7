/** `npm run docs`: writes what the README says of the operations anew, from the built node. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../host/paths.mts';
import { withOperations } from './operationsTable.mts';

const readme = join(projectRoot, 'README.md');
const text = await readFile(readme, 'utf8');
const current = withOperations(text, projectRoot);
if (current !== text) await writeFile(readme, current);
console.log(current === text ? 'README.md is up to date.' : 'README.md is written.');
