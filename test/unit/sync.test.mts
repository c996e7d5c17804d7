import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import { projectRoot } from '../../host/paths.mts';

it('has the same steps in both examples, but for those that spread the batches', () => {
	const steps = (file: string) => {
		const text = readFileSync(join(projectRoot, 'workflows', `${file}.json`), 'utf8');
		const { nodes } = JSON.parse(text) as { nodes: INode[] };
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
