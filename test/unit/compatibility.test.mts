import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';
import { countAreas, withRow, type JestResults } from '../host/compatibility.mts';

const results: JestResults = {
	testResults: [
		{
			name: '/checkout/test/host/nodes.test.mts',
			status: 'failed',
			assertionResults: [
				{ fullName: 'node types are registered', status: 'passed' },
				{ fullName: 'operations user.get', status: 'passed' },
				{ fullName: 'operations user.getAll', status: 'failed' },
				{ fullName: 'error output has the failed items', status: 'pending' },
				{ fullName: "n8n's log holds no key", status: 'passed' },
			],
		},
		// A file that could not be run.
		{ name: '/checkout/test/host/trigger.test.mts', status: 'failed', assertionResults: [] },
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

const rows = (text: string) => text.split('\n').filter((line) => /^\| [\dn]/.test(line));

test('each test counts in its area, and a file that can’t be run as a failure', () => {
	const none = { passed: 0, failed: 0, skipped: 0 };
	expect(countAreas(results)).toMatchObject({
		'Node types': { ...none, passed: 1 },
		'Credential test': none,
		Operations: { ...none, passed: 1, failed: 1 },
		'Error output': { ...none, skipped: 1 },
		Trigger: { ...none, failed: 1 },
		Other: { ...none, passed: 1 },
	});
});

test('a run replaces the row of its n8n alone, also after n8n was renewed', () => {
	const areas = countAreas(results);
	const tested = { host: '1', version: '1.123.81', node: '24', areas };
	const after = withRow(document, tested);
	const cells = rows(after).map((row) => row.split('|').map((cell) => cell.trim()));
	expect(cells.map(([, label]) => label)).toEqual([
		'n8n',
		'3.x',
		'2.41.1',
		'1.123.81',
		'1.85.3 (lowest)',
	]);
	const row = Object.fromEntries(cells[0]!.map((title, index) => [title, cells[3]![index]]));
	expect(row).toMatchObject({
		'Node.js': '24',
		'Node types': 'passed',
		'Credential test': 'not run',
		Operations: 'failed',
		'Error output': 'not run',
		Trigger: 'failed',
	});
	expect(withRow(after, tested)).toBe(after);

	const lowest = withRow(after, { ...tested, host: 'lowest', version: '1.80.0' });
	expect(rows(lowest)[4]).toContain('| 1.80.0 (lowest)');
	expect(() => withRow('# Nothing', tested)).toThrow('has no row for n8n 1');
});

test('package.json and the README name the lowest n8n that is tested', () => {
	const read = (...path: string[]) => readFileSync(join(projectRoot, ...path), 'utf8');
	const host = JSON.parse(read('host', 'n8n-lowest', 'package.json')) as {
		dependencies: { n8n: string };
	};
	const lowest = host.dependencies.n8n;
	expect(JSON.parse(read('package.json'))).toMatchObject({ engines: { n8n: `>=${lowest}` } });
	expect(read('README.md')).toContain(`n8n ${lowest} or newer`);
	expect(read('docs', 'compatibility.md')).toContain(`| ${lowest} (lowest)`);
});
