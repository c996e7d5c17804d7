import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { ICredentialType, INode, INodeType } from 'n8n-workflow';
import ts from 'typescript';
import { projectRoot } from '../../host/paths.mts';
import { withBlock } from '../../scripts/blocks.mts';
import { loadClass, readManifest, requireBuilt } from '../../scripts/builtPackage.mts';
import { generatedTables, readOperations } from '../../scripts/generatedTables.mts';

/** Compares the pages with the code, the files and the workflows. */

function read(file: string): string {
	return readFileSync(join(projectRoot, file), 'utf8');
}

const exists = (file: string) => existsSync(join(projectRoot, file));

function find(...patterns: string[]): string[] {
	const exclude = (path: string) => /^(node_modules|dist|\.git)$/.test(path.split('/')[0] ?? '');
	return globSync(patterns, { cwd: projectRoot, exclude });
}

/** The invented operation of the worked example in CONTRIBUTING.md. */
const newOperation = {
	name: 'Resume → Archive',
	path: '/resume/:resumeID/archive',
	file: 'nodes/ResumeManagement/operations/resume/archive.ts',
};

const pages = find('*.md', 'docs/*.md').filter((file) => file !== 'LICENSE.md');
const workflows = find('workflows/*.json');
const { n8n } = readManifest(projectRoot);
const descriptions = n8n.nodes.map((file) => loadClass<INodeType>(projectRoot, file).description);
const credential = loadClass<ICredentialType>(projectRoot, n8n.credentials[0]!);
const operations = readOperations(projectRoot);
const resources = new Set(operations.map(({ resource }) => resource));
const operationNames = [
	newOperation.name,
	...operations.map(({ resource, name }) => `${resource} → ${name}`),
];
const requestPaths = [
	newOperation.path,
	...operations.map(({ request }) => request.replace(/.* /, '')),
];
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const fileNames = new Set(find('**/*', '.github/**/*').map((path) => basename(path)));

/** Returns the text outside of code blocks. */
const prose = (page: string) => read(page).replace(/^ *```.*?^ *```/gms, '');

function all(text: string, pattern: RegExp): string[] {
	return Array.from(text.matchAll(pattern), ([, found]) => found!);
}

it.each(generatedTables(projectRoot))(
	'`npm run docs` writes the block $block of $page as it is',
	({ page, block, content }) => {
		// Prettier escapes characters that have a meaning in Markdown.
		const plain = (text: string) =>
			text.replace(/\\/g, '').replace(/ +/g, ' ').replace(/-{3,}/g, '---');
		expect(plain(read(page))).toBe(plain(withBlock(read(page), block, content)));
	},
);

it.each(workflows)('docs/examples.md has %s with its picture', (file) => {
	expect(read('docs/examples.md')).toContain(`](../${file})`);
	expect(read('docs/examples.md')).toContain(`](images/${file.replace('.json', '.png')})`);
});

it.each(workflows)('the note of %s names the nodes that need a credential', (file) => {
	const { nodes } = JSON.parse(read(file)) as { nodes: INode[] };
	const notes = nodes.map(({ parameters }) => parameters.content).join('\n');
	const isSet = ({ name }: INode) =>
		notes.includes(`*${name}*`) || nodes.some((node) => node.name === 'Settings');
	const open = nodes.filter((node) => node.credentials !== undefined && !isSet(node));
	expect(open.map(({ name }) => name)).toEqual([]);
});

it.each(pages)(
	'%s names only links, files, scripts, operations, fields and identifiers that exist',
	(page) => {
		const text = prose(page);
		const codeSpans = all(text, /`([^`\n]+)`/g);
		const anythingElse = {
			links: all(text, /\]\((?!\w+:)([^)\s]+)\)/g).filter((link) => {
				const [path, anchor] = link.split('#');
				const file = path ? relative('.', join(dirname(page), path)) : page;
				if (!exists(file)) return true;
				return anchor !== undefined && !anchors(file).includes(anchor);
			}),
			scripts: all(read(page), /\bnpm (?:run )?((?<=run )[\w:]+|test\b|start\b)/g).filter(
				(script) => !(script in scripts),
			),
			files: codeSpans.filter((span) => {
				if (/^[\w.-]+\/[\w./<>-]*$/.test(span) && exists(span.split('/')[0]!)) {
					return span !== newOperation.file && !exists(span.replace(/<.*/, ''));
				}
				return /^[\w.-]+\.(m?ts|[cm]js|json|md|ya?ml)$/.test(span) && !fileNames.has(span);
			}),
			operations: all(text, /\b(\w+ → [A-Z]\w*(?: [A-Z]\w*)*)/g).filter(
				(name) => resources.has(name.split(' ')[0]!) && !operationNames.includes(name),
			),
			requests: all(text, /`(?:GET|POST|PUT|PATCH|DELETE) (\/[^`]*)`/g).filter(
				(path) => !requestPaths.includes(path),
			),
			// Fields, and nodes of example workflows.
			labels: all(text.replace(/`[^`]*`/g, ''), /(?<![\w_])_([^_\n]+)_(?![\w_])/g).filter(
				(label) => !labels.has(label),
			),
			identifiers: codeSpans.filter(
				(span) =>
					/^[a-z]+[A-Z]\w*$|^[a-z]+(_[a-z\d]+)+$/.test(span) &&
					!/^n8n/i.test(span) &&
					!identifiers.has(span) &&
					!identifiers.has(span.replaceAll('_', '')),
			),
		};
		expect(Object.entries(anythingElse).filter(([, names]) => names.length > 0)).toEqual([]);
	},
);

it('the worked example in CONTRIBUTING.md compiles', () => {
	const code = /```ts\n(.*?)```/s.exec(read('CONTRIBUTING.md'))![1]!.replace(/^ {3}/gm, '');
	const { options } = ts.parseJsonConfigFileContent(
		ts.readConfigFile(join(projectRoot, 'tsconfig.json'), ts.sys.readFile).config,
		ts.sys,
		projectRoot,
	);
	const path = join(projectRoot, newOperation.file);
	const host = ts.createCompilerHost(options);
	const { readFile, fileExists } = host;
	host.readFile = (file) => (file === path ? code : readFile(file));
	host.fileExists = (file) => file === path || fileExists(file);
	const program = ts.createProgram([path], { ...options, noEmit: true }, host);
	const found = ts.getPreEmitDiagnostics(program, program.getSourceFile(path));
	expect(found.map(({ messageText }) => messageText)).toEqual([]);
}, 60_000);

it('each file that the tour in CONTRIBUTING.md opens has the names that the tour gives', () => {
	const [, tour] = /^## Where to make a change\n(.*?)^## /ms.exec(read('CONTRIBUTING.md'))!;
	for (const row of tour!.match(/^\|.*$/gm)!.slice(2)) {
		const [, change, open] = row.split('|');
		const spans = all(open!, /`([^`]+)`/g);
		const content = spans.filter((span) => span.includes('.')).map(read);
		const names = spans.filter((span) => /^\w+$/.test(span));
		const missing = names.filter((name) => !content.join('\n').includes(name));
		expect([change, missing]).toEqual([change, []]);
	}
});

/** Labels of n8n that the pages mention. */
const n8nLabels = [
	// The HTTP Request node.
	...['Authentication', 'Predefined Credential Type', 'Credential Type'],
	// Fields that n8n adds to a credential (n8n-workflow/src/credential-domain-restrictions.ts).
	...['Allowed HTTP Request Domains', 'Specific Domains', 'None'],
	// Request Options, which n8n adds to declarative nodes (n8n-core/src/nodes-loader/constants.ts).
	...['Batching', 'Proxy', 'Timeout'],
	// The Remove Duplicates and Loop Over Items nodes, and the list of executions.
	...['Remove Items Processed in Previous Executions', 'Value Is New'],
	...['Batch Size', 'Custom API Call', 'Retry execution', 'Error', 'Queued', 'Success'],
];

/** Labels of the package's nodes and credential, and names of nodes in the example workflows. */
const described = [JSON.stringify([...descriptions, credential]), ...workflows.map(read)];
const labels = new Set([
	...n8nLabels,
	...all(described.join('\n'), /"(?:displayName|name)": ?"([^"]*)"/g),
	// A heading of Keep a Changelog, and the convention itself in CONTRIBUTING.md.
	...['Security', 'italics'],
]);

const sources = find(
	'{nodes,credentials,sandbox,openapi,host,scripts,test,workflows}/**/*.{ts,mts,yaml,json}',
);
const identifiers = new Set(sources.flatMap((file) => read(file).match(/\w+/g) ?? []));

/** Returns the anchors that GitHub makes of headings. */
function anchors(file: string): string[] {
	return all(read(file), /^#+ (.+)$/gm).map((heading) =>
		heading
			.toLowerCase()
			.replace(/[^\p{L}\p{N} _-]/gu, '')
			.replaceAll(' ', '-'),
	);
}

/** Returns the number of words as `wc -w` counts them. */
const wordsIn = (text: string) => text.split(/\s+/).filter(Boolean).length;

it('the README has at most 1,400 words, and docs/ has at most 13,000 words in twelve pages', () => {
	const docs = pages.filter((page) => page.startsWith('docs/'));
	expect(docs.length).toBeLessThanOrEqual(12);
	expect(wordsIn(read('README.md'))).toBeLessThanOrEqual(1_400);
	expect(wordsIn(docs.map(read).join('\n'))).toBeLessThanOrEqual(13_000);
});

/** Messages of n8n that the pages quote. */
const n8nMessages = ['Connection tested successfully', 'Unrecognized node type: '];

it.each(pages)('%s quotes messages in the words of the code', (page) => {
	const shownToUsers = sources.filter((file) => /^(nodes|credentials|sandbox)\//.test(file));
	const known = [...described, ...n8nMessages, ...shownToUsers.map(read)].join('\n');
	// The generated tables are compared as a whole.
	const text = prose(page).replace(/<!-- (failures-\w+):.*?<!-- \/\1 -->/gs, '');
	const messages = all(text, /`([A-Z][a-z]+ [a-z][^`…]*)/g);
	const isKnown = (message: string) =>
		known.includes(message) || n8nMessages.some((start) => message.startsWith(start));
	expect(messages.filter((message) => !isKnown(message))).toEqual([]);
});

it('docs/lists-and-files.md has the names that the nodes look for', () => {
	const file = join(projectRoot, 'dist', 'nodes', 'shared', 'names.js');
	const lists = Object.values(requireBuilt(file) as Record<string, string[]>)
		.filter((list) => Array.isArray(list))
		.flat();
	const [, section] = /^## What the nodes look for$(.*?)^## /ms.exec(
		read('docs/lists-and-files.md'),
	)!;
	const told = all(section!, /`([^`]+)`/g).map((name) => name.replace(/[_-]/g, '').toLowerCase());
	expect(lists.length).toBeGreaterThan(10);
	expect(lists.filter((name) => !told.includes(name))).toEqual([]);
});

it('docs/installation.md explains each message of the credential test', () => {
	const rules = credential.test?.rules?.map(({ properties }) => properties.message) ?? [];
	expect(rules.length).toBeGreaterThan(2);
	const page = read('docs/installation.md');
	expect(rules.filter((message) => !page.includes(`\`${message}\``))).toEqual([]);
});
