/** Reads what the built package in `dist` offers. */
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import type { ICredentialType, INodeType } from 'n8n-workflow';
import manifest from '../package.json' with { type: 'json' };

const load = createRequire(import.meta.url);

/** Returns the exports of a built file of `nodes/`. */
export const requireBuilt = (file: string) => load(`../dist/nodes/${file}.js`) as unknown;

/** Creates the class of a file, which has the file's name (n8n-core/dist/nodes-loader/directory-loader.js). */
function create<Instance>(file: string): Instance {
	const exported = load(`../${file}`) as Record<string, new () => Instance>;
	return new exported[basename(file).split('.')[0]!]!();
}

export const builtNodes = () =>
	manifest.n8n.nodes.map((file) => create<INodeType>(file).description);

export const builtCredentials = () =>
	manifest.n8n.credentials.map((file) => create<ICredentialType>(file));
