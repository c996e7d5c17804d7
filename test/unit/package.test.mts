import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { packageName, projectRoot } from '../../host/paths.mts';
import manifest from '../../package.json' with { type: 'json' };
import { builtNodes } from '../../scripts/built.mts';
import { find, read } from '../support/files.mts';

const { assetFiles } = createRequire(import.meta.url)('../../gulpfile.js') as {
	assetFiles: string[];
};

test('the package has only code and assets, is smaller than 64 KiB, and needs no other package', () => {
	const flags = ['pack', '--dry-run', '--json', '--ignore-scripts'];
	const packed = execFileSync('npm', flags, { cwd: projectRoot, encoding: 'utf8' });
	type Packed = [{ files: Array<{ path: string }>; size: number }];
	const [{ files, size }] = JSON.parse(packed) as Packed;
	const compiled = find('{nodes,credentials}/**/*.ts');
	const expected = [
		'README.md',
		'LICENSE.md',
		'package.json',
		...compiled.map((file) => `dist/${file.replace(/ts$/, 'js')}`),
		...find(...assetFiles).map((file) => `dist/${file}`),
	];
	expect(files.map(({ path }) => path).sort()).toEqual(expected.sort());
	expect(size).toBeLessThan(64 * 1024);
	const needed = Object.keys(manifest).filter((key) => /dependencies$/i.test(key));
	expect(needed).toEqual(['peerDependencies', 'devDependencies']);
});

/** Source: https://docs.n8n.io/connect/create-nodes/build-your-node/reference/codex-files/ */
test.each(manifest.n8n.nodes)('%s has a codex file for the search and the links', (file) => {
	const links = [{ url: expect.stringMatching(/^https:/) }];
	const { version } = builtNodes()[manifest.n8n.nodes.indexOf(file)]!;
	expect(JSON.parse(read(file.replace(/\.js$/, '.json')))).toEqual({
		node: packageName,
		nodeVersion: (version as number).toFixed(1),
		codexVersion: '1.0',
		categories: ['Productivity'],
		alias: expect.arrayContaining(['cv', 'hr']),
		resources: { primaryDocumentation: links, credentialDocumentation: links },
	});
});
