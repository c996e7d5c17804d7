import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
const versionOf = (file: string) => /"n8n": "([\d.]+)"/.exec(read(file))![1]!;

test('the documented versions of n8n are those that are tested', () => {
	const lowest = versionOf('host/n8n-lowest/package.json');
	expect(JSON.parse(read('package.json'))).toMatchObject({ engines: { n8n: `>=${lowest}` } });
	expect(read('README.md')).toContain(`n8n ${lowest} or newer`);
	for (const file of globSync('host/n8n-*/package.json', { cwd: projectRoot })) {
		expect(read('docs/compatibility.md')).toContain(`| ${versionOf(file)} `);
	}
});
