import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';

/** The files of this checkout, by their paths from its root. */

export const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');

export const exists = (file: string) => existsSync(join(projectRoot, file));

const exclude = (path: string) => /^(node_modules|dist|\.git)$/.test(path);
export const find = (...patterns: string[]) =>
	globSync(patterns, { cwd: projectRoot, exclude }).sort();
