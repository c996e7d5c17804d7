import { globSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { Ajv } from 'ajv';
import { projectRoot } from '../host/paths.mts';
import { readManifest } from './builtPackage.mts';
import codexSchema from './codex.schema.json' with { type: 'json' };

const { assetFiles } = createRequire(import.meta.url)('../gulpfile.js') as { assetFiles: string[] };

/** A tarball with its content. */
export interface PackedPackage {
	tarball: string;
	/** Folder of the unpacked content. */
	folder: string;
}

export interface PackageCheck {
	/** States what the check proves, as a sentence. */
	title: string;
	/** Returns what is wrong, as sentences. */
	find(packed: PackedPackage): Promise<string[]>;
}

const maxKilobytes = 64;

/** Fields by which npm installs more packages. n8n's scanner checks `dependencies`. */
const dependencies = ['optionalDependencies', 'bundledDependencies', 'bundleDependencies'];

/** Checks of a package beyond those of n8n's linter and scanner. */
export const packageChecks: PackageCheck[] = [
	{
		title: 'holds package.json, README, LICENSE, code and assets, and nothing else',
		async find({ folder }) {
			const files = await filesOf(folder);
			const wanted =
				/^(?:(?:README|LICENSE)\.md|package\.json|dist\/(?:credentials|nodes)\/.+\.js|dist\/icons\/[^/]+\.svg|dist\/nodes\/[^/]+\/(?:[^/]+\.node|__schema__\/.+)\.json)$/;
			const assets = globSync(assetFiles, { cwd: projectRoot }).map((file) => `dist/${file}`);
			const needed = ['README.md', 'LICENSE.md', 'package.json', ...assets];
			return [
				...needed.filter((file) => !files.includes(file)).map((file) => `${file} is missing.`),
				...files
					.filter((file) => !wanted.test(file) || /\.test\.js$/.test(file))
					.map((file) => `${file} should not be in it.`),
			];
		},
	},
	{
		title: `is smaller than ${maxKilobytes} kB`,
		async find({ tarball }) {
			const { size } = await stat(tarball);
			return size < maxKilobytes * 1_000 ? [] : [`It has ${Math.ceil(size / 1_000)} kB.`];
		},
	},
	{
		title: 'needs no other package',
		async find({ folder }) {
			const text = await readFile(join(folder, 'package.json'), 'utf8');
			const manifest = JSON.parse(text) as Record<string, unknown>;
			return dependencies
				.filter((kind) => kind in manifest)
				.map((kind) => `package.json has ${kind}.`);
		},
	},
	{
		title: 'tells the search and the links of every node in a codex file',
		async find({ folder }) {
			const { name, n8n } = readManifest(folder);
			const ajv = new Ajv({ allErrors: true, strict: false });
			const schema = { allOf: [codexSchema, { properties: { node: { const: name } } }] };
			const problems = n8n.nodes.map(async (file) => {
				const codex = file.replace(/\.js$/, '.json');
				const content = await readFile(join(folder, codex), 'utf8').catch(() => undefined);
				if (content === undefined) return [`${codex} is missing.`];
				if (ajv.validate(schema, JSON.parse(content))) return [];
				return [ajv.errorsText(ajv.errors, { dataVar: codex })];
			});
			return (await Promise.all(problems)).flat();
		},
	},
];

async function filesOf(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { withFileTypes: true, recursive: true });
	return entries
		.filter((entry) => !entry.isDirectory())
		.map((entry) => relative(folder, join(entry.parentPath, entry.name)))
		.sort();
}
