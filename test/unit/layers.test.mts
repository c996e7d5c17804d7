import { dirname, join, normalize } from 'node:path';
import { find, read } from '../support/files.mts';

/** Folders of the action node: each may import those that follow it. n8n's strict linter allows no rules of our own. */
const LAYERS = ['.', 'listSearch', 'run', 'operations', 'output', 'http'];

const files = find('{nodes,credentials}/**/*.ts');

const imports = new Map(
	files.map((file) => {
		const targets = [...read(file).matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, path]) => {
			const target = normalize(join(dirname(file), path!));
			return files.find((one) => [`${target}.ts`, join(target, 'index.ts')].includes(one))!;
		});
		return [file, targets];
	}),
);

function layerOf(file: string): number {
	if (file.startsWith('credentials')) return LAYERS.length + 1;
	if (file.startsWith('nodes/shared')) return LAYERS.length;
	if (file.startsWith('nodes/ResumeManagementTrigger')) return 0;
	return LAYERS.indexOf(file.split('/')[2]!.replace(/.*\.ts$/, '.'));
}

test.each(files)('%s imports no earlier layer, no other node, and not itself', (file) => {
	for (const imported of imports.get(file)!) {
		expect(layerOf(imported)).toBeGreaterThanOrEqual(layerOf(file));
		const isOwn = imported.split('/')[1] === file.split('/')[1];
		expect(isOwn || /^(nodes\/shared|credentials)\//.test(imported)).toBe(true);
	}
	const reached = new Set(imports.get(file)!);
	// A set also visits what is added to it during the loop.
	for (const one of reached) imports.get(one)!.forEach((imported) => reached.add(imported));
	expect(reached).not.toContain(file);
});
