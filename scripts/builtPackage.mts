import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

/** The parts of a `package.json` that n8n and npm use. */
export interface Manifest {
	name: string;
	version: string;
	n8n: { nodes: string[]; credentials: string[] };
}

export function readManifest(packageFolder: string): Manifest {
	return JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as Manifest;
}

/**
 * Loads the class that n8n expects in a file, which has the file's name (n8n-core/dist/nodes-loader/directory-loader.js).
 *
 * @throws {Error} if the file can't be loaded or has no such class
 */
export function loadClass<Instance>(packageFolder: string, file: string): Instance {
	const path = join(packageFolder, file);
	const name = basename(file).split('.')[0] ?? '';
	const exported = requireBuilt(path) as Record<string, new () => Instance>;
	const found = exported[name];
	if (typeof found !== 'function') throw new Error(`${file} exports no class ${name}`);
	return new found();
}

/** Returns the exports of a built file. */
export function requireBuilt(path: string): unknown {
	return createRequire(path)(path) as unknown;
}
