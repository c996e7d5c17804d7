import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import { projectRoot } from '../../host/paths.mts';
import { readFigures } from '../../scripts/syncFigures.mts';
import { withTables } from '../../scripts/syncTables.mts';

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');

it('shows in docs/scaling.md what was measured, and what follows, as `npm run plan` writes it', async () => {
	const page = read('docs/scaling.md');
	expect(withTables(page, await readFigures())).toBe(page);
});

it('has the same steps in both examples, but for those that spread the batches', () => {
	const steps = (file: string) => {
		const { nodes } = JSON.parse(read(`workflows/${file}.json`)) as { nodes: INode[] };
		return new Map(nodes.map((node) => [node.name, node.parameters]));
	};
	const one = steps('nightly-sync');
	const many = steps('nightly-sync-across-workers');
	for (const [name, parameters] of one) {
		if (['What this does', 'Settings'].includes(name)) continue;
		expect([name, many.get(name)]).toEqual([name, parameters]);
	}
	const added = [...many.keys()].filter((name) => !one.has(name));
	expect(added).toEqual([
		'Row 5: A batch',
		'Some at a time',
		'Send a batch',
		'A batch arrives',
		'Its users',
	]);
});
