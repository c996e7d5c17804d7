import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';

test('package.json and the README name the lowest n8n that is tested', () => {
	const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
	const lowest = /"n8n": "([\d.]+)"/.exec(read('host/n8n-lowest/package.json'))![1];
	expect(JSON.parse(read('package.json'))).toMatchObject({ engines: { n8n: `>=${lowest}` } });
	expect(read('README.md')).toContain(`n8n ${lowest} or newer`);
	expect(read('docs/compatibility.md')).toContain(`| ${lowest} (lowest)`);
});
