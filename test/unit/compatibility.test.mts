import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';
import { withRow, type JestResults } from '../host/compatibility.mts';

const results: JestResults = {
	testResults: [
		{ name: '/checkout/test/host/nodes.test.mts', status: 'failed' },
		{ name: '/checkout/test/host/download.test.mts', status: 'passed' },
		{ name: '/checkout/test/host/trigger.test.mts', status: 'passed' },
	],
};

const document = `# Compatibility

| n8n             | Before  |
| --------------- | ------- |
| 3.x             | not run |
| 2.41.1          | not run |
| 1.122.0         | not run |
| 1.85.3 (lowest) | not run |
`;

test('a run replaces the row of its n8n alone, also after n8n was renewed', () => {
	const renewed = withRow(document, { host: '1', version: '1.123.81', node: '24', results });
	const lowest = withRow(renewed, { host: 'lowest', version: '1.80.0', node: '22', results });
	const outcome = 'failed | not run | passed | not run | not run | not run';
	expect(lowest.split('\n').slice(2)).toEqual([
		expect.stringMatching(/^\| n8n \| Node.js \| Operations \| At most once \| Trigger \| Agent/),
		expect.stringMatching(/^[| -]*$/),
		'| 3.x             | not run |',
		'| 2.41.1          | not run |',
		`| 1.123.81 | 24 | ${outcome} |`,
		`| 1.80.0 (lowest) | 22 | ${outcome} |`,
		'',
	]);
	expect(() =>
		withRow('# Nothing', { host: '1', version: '1.123.81', node: '24', results }),
	).toThrow('has no row for n8n 1');
});

test('package.json and the README name the lowest n8n that is tested', () => {
	const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
	const { dependencies } = JSON.parse(read('host/n8n-lowest/package.json')) as {
		dependencies: { n8n: string };
	};
	const lowest = dependencies.n8n;
	expect(JSON.parse(read('package.json'))).toMatchObject({ engines: { n8n: `>=${lowest}` } });
	expect(read('README.md')).toContain(`n8n ${lowest} or newer`);
	expect(read('docs/compatibility.md')).toContain(`| ${lowest} (lowest)`);
});
