import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';
import { withRow } from '../host/compatibility.mts';

const row = (label: string) => `| ${label} | not run |\n`;
const document = ['n8n', '---', '2.41.1', '1.122.0', '1.85.3 (lowest)'].map(row).join('');

test('a run replaces the row of its n8n alone, also after n8n was renewed', () => {
	const results = {
		testResults: [
			{ name: '/checkout/test/host/nodes.test.mts', status: 'failed' as const },
			{ name: '/checkout/test/host/download.test.mts', status: 'passed' as const },
			{ name: '/checkout/test/host/trigger.test.mts', status: 'passed' as const },
		],
	};
	const outcome = 'failed | not run | passed | not run | not run | not run';
	for (const [host, version, before, after] of [
		['1', '1.123.81', '1.122.0', '1.123.81'],
		['lowest', '1.80.0', '1.85.3 (lowest)', '1.80.0 (lowest)'],
	] as const) {
		const [, , ...rows] = withRow(document, { host, version, node: '24', results }).split('\n');
		const wanted = document.replace(row(before), `| ${after} | 24 | ${outcome} |\n`);
		expect(rows).toEqual(wanted.split('\n').slice(2));
	}
	const unknown = { host: '3', version: '3.0.0', node: '24', results };
	expect(() => withRow(document, unknown)).toThrow('has no row for n8n 3');
});

test('package.json and the README name the lowest n8n that is tested', () => {
	const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
	const lowest = /"n8n": "([\d.]+)"/.exec(read('host/n8n-lowest/package.json'))![1];
	expect(JSON.parse(read('package.json'))).toMatchObject({ engines: { n8n: `>=${lowest}` } });
	expect(read('README.md')).toContain(`n8n ${lowest} or newer`);
	expect(read('docs/compatibility.md')).toContain(`| ${lowest} (lowest)`);
});
