import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

import { projectRoot } from '../../host/paths.mts';

/**
 * The way of a value through the code: what a folder may import stands after it, and a file after its
 * importers. By hand: n8n's strict linter takes no rules but its own.
 */
const ACTION_NODE = ['.', 'listSearch', 'operations', 'run', 'output', 'http'];

const files = globSync('{nodes,credentials}/**/*.ts', { cwd: projectRoot });

const importsOf = (file: string): string[] => {
	const source = readFileSync(join(projectRoot, file), 'utf8');
	return [...source.matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, path]) => {
		const target = normalize(join(dirname(file), path!));
		return files.find((one) => [`${target}.ts`, join(target, 'index.ts')].includes(one))!;
	});
};

/** How far down the way a file of the action node stands; the trigger has no floors. */
function floorOf(file: string): number {
	if (file.startsWith('credentials')) return ACTION_NODE.length + 1;
	if (file.startsWith('nodes/shared')) return ACTION_NODE.length;
	if (file.startsWith('nodes/ResumeManagementTrigger')) return 0;
	return ACTION_NODE.indexOf(file.split('/')[2]!.replace(/.*\.ts$/, '.'));
}

test.each(files)(
	'%s imports only what stands further down, and nothing of the other node',
	(file) => {
		for (const imported of importsOf(file)) {
			expect(floorOf(imported)).toBeGreaterThanOrEqual(floorOf(file));
			const isOwn = imported.split('/')[1] === file.split('/')[1];
			expect(isOwn || /^(nodes\/shared|credentials)\//.test(imported)).toBe(true);
		}
	},
);

test('no file imports itself by way of others, not even for a type', () => {
	const done = new Set<string>();
	const visit = (file: string, way: string[]) => {
		expect(way).not.toContain(file);
		if (done.has(file)) return;
		for (const imported of importsOf(file)) visit(imported, [...way, file]);
		done.add(file);
	};
	for (const file of files) visit(file, []);
});
