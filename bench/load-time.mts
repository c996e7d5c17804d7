/**
 * Writes the milliseconds that this process, which has n8n-workflow loaded as n8n has, takes to load
 * all nodes and credentials of the built package.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { projectRoot } from '../host/paths.mts';

const require = createRequire(import.meta.url);
const { n8n } = require(join(projectRoot, 'package.json')) as {
	n8n: { nodes: string[]; credentials: string[] };
};
require('n8n-workflow');

const started = performance.now();
for (const file of [...n8n.nodes, ...n8n.credentials]) require(join(projectRoot, file));
process.stdout.write(String(performance.now() - started));
