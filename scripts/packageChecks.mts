import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { ICredentialType, INodeType } from 'n8n-workflow';
import { loadClass, readManifest, readPublicNames, type NodeNames } from './publicNames.mts';

/** A tarball and its content. */
export interface PackedPackage {
	tarball: string;
	/** The unpacked content; `n8n-workflow` can be loaded from it, as in an n8n. */
	folder: string;
}

export interface PackageCheck {
	/** What holds where nothing is found. */
	title: string;
	/** Answers what is wrong, in sentences. */
	find(packed: PackedPackage): Promise<string[]>;
}

const maxKilobytes = 60;

/** n8n's own fields of the codex: https://docs.n8n.io/integrations/creating-nodes/build/reference/node-codex-files/ */
const codexCategories = [
	'Analytics',
	'Communication',
	'Data & Storage',
	'Development',
	'Finance & Accounting',
	'Marketing & Content',
	'Miscellaneous',
	'Productivity',
	'Sales',
	'Utility',
];

/** Scripts that npm would run on the machine of a user, and those that n8n's linter forbids beside. */
const lifecycleScripts = [
	'preinstall',
	'install',
	'postinstall',
	'preprepare',
	'prepare',
	'postprepare',
	'prepublish',
];

/** What must hold for a package before it is published, all of it without a network. */
export const packageChecks: PackageCheck[] = [
	{
		title: 'holds package.json, README, LICENSE, CHANGELOG and what dist needs, and nothing else',
		async find({ folder }) {
			const files = await filesOf(folder);
			const wanted =
				/^(?:(?:README|LICENSE|CHANGELOG)\.md|package\.json|dist\/(?:credentials|nodes)\/.+\.js|dist\/icons\/[^/]+\.svg|dist\/nodes\/[^/]+\/(?:[^/]+\.node|__schema__\/.+)\.json)$/;
			const needed = ['README.md', 'LICENSE.md', 'CHANGELOG.md', 'package.json'];
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
		title: 'needs no other package and runs nothing when it is installed',
		async find({ folder }) {
			const text = await readFile(join(folder, 'package.json'), 'utf8');
			const manifest = JSON.parse(text) as Record<string, Record<string, unknown> | undefined>;
			const kinds = ['dependencies', 'optionalDependencies', 'bundledDependencies'];
			const { scripts = {} } = manifest;
			return [
				...kinds
					.filter((kind) => Object.keys(manifest[kind] ?? {}).length > 0)
					.map((kind) => `package.json has ${kind}.`),
				...lifecycleScripts
					.filter((name) => name in scripts)
					.map((name) => `package.json has the script ${name}.`),
			];
		},
	},
	{
		title: 'loads every node and credential that it declares',
		async find({ folder }) {
			const { n8n } = readManifest(folder);
			const compiled = (await filesOf(folder)).filter((file) =>
				/\.(?:node|credentials)\.js$/.test(file),
			);
			const declared = [...n8n.nodes, ...n8n.credentials];
			return [
				...(n8n.n8nNodesApiVersion === 1 ? [] : ['n8n.n8nNodesApiVersion is not 1.']),
				...compiled
					.filter((file) => !declared.includes(file))
					.map((file) => `${file} is not declared in package.json.`),
				...declared.flatMap((file) => attempt(() => void loadClass(folder, file))),
			];
		},
	},
	{
		title: 'has a light and a dark SVG for every icon',
		async find({ folder }) {
			const { n8n } = readManifest(folder);
			const icons = [
				...n8n.nodes.map((file) => ({
					file,
					icon: loadClass<INodeType>(folder, file).description.icon,
				})),
				...n8n.credentials.map((file) => ({
					file,
					icon: loadClass<ICredentialType>(folder, file).icon,
				})),
			];
			const problems = icons.map(async ({ file, icon }) => {
				if (typeof icon !== 'object' || icon.light === icon.dark) {
					return [`${file} has no light and dark icon.`];
				}
				const paths = [icon.light, icon.dark].map((one) =>
					resolve(folder, dirname(file), one.replace(/^file:/, '')),
				);
				return (await Promise.all(paths.map((path) => iconProblems(folder, path)))).flat();
			});
			return [...new Set((await Promise.all(problems)).flat())];
		},
	},
	{
		title: 'tells the search and the links of every node in a codex file',
		async find({ folder }) {
			const { name, n8n } = readManifest(folder);
			const problems = n8n.nodes.map(async (file) => {
				const codex = file.replace(/\.js$/, '.json');
				const content = await readFile(join(folder, codex), 'utf8').catch(() => undefined);
				if (content === undefined) return [`${codex} is missing.`];
				return codexProblems(JSON.parse(content) as Codex, name).map(
					(problem) => `${codex}: ${problem}`,
				);
			});
			return (await Promise.all(problems)).flat();
		},
	},
	{
		title: 'shows outputs of operations that exist',
		async find({ folder }) {
			const { nodes } = readPublicNames(folder);
			return Object.entries(nodes).flatMap(([type, names]) => {
				const known = schemaNames(names);
				return Object.entries(names.output ?? {}).flatMap(([schema, fields]) => [
					...(known.includes(schema) ? [] : [`${type}: n8n never reads the schema ${schema}.`]),
					...(fields.length > 0 ? [] : [`${type}: the schema ${schema} shows no field.`]),
				]);
			});
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

function attempt(work: () => void): string[] {
	try {
		work();
		return [];
	} catch (error) {
		return [error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)];
	}
}

async function iconProblems(folder: string, path: string): Promise<string[]> {
	const name = relative(folder, path);
	// n8n's loader refuses an icon outside of the package.
	if (name.startsWith('..')) return [`${name} is outside of the package.`];
	const content = await readFile(path, 'utf8').catch(() => undefined);
	if (content === undefined) return [`${name} is missing.`];
	return /^\s*(?:<\?xml[^>]*>\s*)?<svg\s[^>]*>[^]*<\/svg>\s*$/.test(content)
		? []
		: [`${name} is not an SVG image.`];
}

interface Codex {
	node?: string;
	nodeVersion?: string;
	codexVersion?: string;
	categories?: string[];
	alias?: string[];
	resources?: Record<string, Array<{ url?: string }> | undefined>;
}

function codexProblems({ resources = {}, ...codex }: Codex, packageName: string): string[] {
	const { categories = [], alias = [] } = codex;
	const links = ['primaryDocumentation', 'credentialDocumentation'];
	return [
		...(codex.node === packageName ? [] : [`node is not ${packageName}.`]),
		...(codex.nodeVersion === '1.0' ? [] : ['nodeVersion is not 1.0.']),
		...(codex.codexVersion === '1.0' ? [] : ['codexVersion is not 1.0.']),
		...(categories.length > 0 ? [] : ['categories is empty.']),
		...categories
			.filter((category) => !codexCategories.includes(category))
			.map((category) => `n8n has no category ${category}.`),
		...(alias.length > 0 ? [] : ['alias is empty.']),
		...links
			.filter((link) => !/^https:\/\/\S+$/.test(resources[link]?.[0]?.url ?? ''))
			.map((link) => `resources.${link} has no address.`),
	];
}

/** Where n8n looks for schemas (n8n-core/dist/nodes-loader/output-schema-resolver.js). */
function schemaNames({ versions, parameters }: NodeNames): string[] {
	const operations = parameters
		.filter(({ name }) => name === 'operation')
		.flatMap(({ show, values = [] }) =>
			(show?.resource ?? []).flatMap((resource) => values.map((value) => `${resource}/${value}`)),
		);
	return versions
		.map((version) => `v${[...String(version).split('.'), '0', '0'].slice(0, 3).join('.')}`)
		.flatMap((folder) => [
			folder,
			`${folder}/output`,
			...operations.map((operation) => `${folder}/${operation}`),
		]);
}
