import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { ICredentialType, INode, INodeProperties, INodeType } from 'n8n-workflow';
import ts from 'typescript';
import { projectRoot } from '../../host/paths.mts';
import { withBlock } from '../../scripts/blocks.mts';
import { loadClass, readManifest } from '../../scripts/builtPackage.mts';
import {
	generatedTables,
	readFailures,
	readOperations,
	shown,
} from '../../scripts/generatedTables.mts';

/** What people read, held against what there is. */

function read(file: string): string {
	return readFileSync(join(projectRoot, file), 'utf8');
}

function find(...patterns: string[]): string[] {
	const exclude = (path: string) => /^(node_modules|dist|\.git)$/.test(path.split('/')[0] ?? '');
	return globSync(patterns, { cwd: projectRoot, exclude });
}

/** The worked example of CONTRIBUTING.md, which is not in the package. */
const newOperation = {
	name: 'User → Connect',
	file: 'nodes/ResumeManagement/operations/user/connect.ts',
};

const pages = find('*.md', 'docs/*.md').filter((file) => file !== 'LICENSE.md');
const workflows = find('workflows/*.json');
const { n8n } = readManifest(projectRoot);
const descriptions = n8n.nodes.map((file) => loadClass<INodeType>(projectRoot, file).description);
const credential = loadClass<ICredentialType>(projectRoot, n8n.credentials[0]!);
const operations = readOperations(projectRoot);

/** The text outside of code blocks. */
const prose = (page: string) => read(page).replace(/^ *```.*?^ *```/gms, '');
const codeSpans = (page: string) => all(prose(page), /`([^`\n]+)`/g);

function all(text: string, pattern: RegExp): string[] {
	return Array.from(text.matchAll(pattern), ([, found]) => found!);
}

it.each(generatedTables(projectRoot))(
	'has $block in $page as `npm run docs` writes it',
	({ page, block, content }) => {
		// Prettier escapes what Markdown would take for more than text.
		const plain = (text: string) =>
			text.replace(/\\/g, '').replace(/ +/g, ' ').replace(/-{3,}/g, '---');
		expect(plain(read(page))).toBe(plain(withBlock(read(page), block, content)));
	},
);

it('shows every example workflow, and its picture, in docs/examples.md', () => {
	const page = read('docs/examples.md');
	expect(all(page, /\]\(\.\.\/(workflows\/[^)]+)\)/g).sort()).toEqual([...workflows].sort());
	const pictures = all(page, /\]\(images\/(workflows\/[^)]+)\.png\)/g);
	expect(pictures.map((picture) => `${picture}.json`).sort()).toEqual([...workflows].sort());
});

it.each(workflows)(
	'%s has Settings, or names in its note where a credential is to be set',
	(file) => {
		const { nodes } = JSON.parse(read(file)) as { nodes: INode[] };
		const notes = nodes.map(({ parameters }) => parameters.content).join('\n');
		const isSet = ({ name }: INode) =>
			notes.includes(`*${name}*`) || nodes.some((node) => node.name === 'Settings');
		const open = nodes.filter((node) => node.credentials !== undefined && !isSet(node));
		expect(open.map(({ name }) => name)).toEqual([]);
	},
);

describe.each(pages)('%s', (page) => {
	it('links to files and headings that exist', () => {
		const broken = all(prose(page), /\]\((?!\w+:)([^)\s]+)\)/g).filter((link) => {
			const [path, anchor] = link.split('#');
			const file = path ? relative('.', join(dirname(page), path)) : page;
			if (!existsSync(join(projectRoot, file))) return true;
			return anchor !== undefined && !anchors(file).includes(anchor);
		});
		expect(broken).toEqual([]);
	});

	it('runs scripts that exist', () => {
		const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
		const run = all(read(page), /\bnpm (?:run )?((?<=run )[\w:]+|test\b|start\b)/g);
		expect(run.filter((script) => !(script in scripts))).toEqual([]);
	});

	it('names files that exist', () => {
		const topLevel = new Set(find('*').map((path) => basename(path)));
		const names = new Set(find('**/*', '.github/**/*').map((path) => basename(path)));
		const missing = codeSpans(page).filter((span) => {
			if (span === newOperation.file) return false;
			if (/^[\w.-]+\/[\w./<>-]*$/.test(span) && topLevel.has(span.split('/')[0]!)) {
				return !existsSync(join(projectRoot, span.replace(/<.*/, '')));
			}
			return /^[\w.-]+\.(mts|ts|cjs|mjs|json|md|yml|yaml)$/.test(span) && !names.has(span);
		});
		expect(missing).toEqual([]);
	});

	it('names operations that exist', () => {
		const resources = new Set(operations.map(({ resource }) => resource));
		const known = operations.map(({ resource, name }) => `${resource} → ${name}`);
		known.push(newOperation.name);
		const named = all(prose(page), /\b(\w+ → [A-Z]\w*(?: [A-Z]\w*)*)/g).filter((one) =>
			resources.has(one.split(' ')[0]!),
		);
		expect(named.filter((one) => !known.includes(one))).toEqual([]);
	});

	it('names requests of the partner API', () => {
		const paths = all(read('openapi/partner-api.yaml'), /^ {2}(\/\S+):$/gm).map((path) =>
			path.replace(/\{(\w+)\}/g, ':$1'),
		);
		const named = all(prose(page), /`(?:GET|POST|PUT|PATCH|DELETE) (\/[^`]*)`/g);
		expect(named.filter((path) => ![...paths, '/:path'].includes(path))).toEqual([]);
	});

	it('names fields, and nodes of examples, as they are called', () => {
		const named = all(prose(page).replace(/`[^`]*`/g, ''), /(?<![\w_])_([^_\n]+)_(?![\w_])/g);
		expect(named.filter((label) => !labels.has(label))).toEqual([]);
	});

	it('names identifiers that occur in the code', () => {
		const named = codeSpans(page).filter(
			(span) => /^[a-z]+[A-Z]\w*$|^[a-z]+(_[a-z\d]+)+$/.test(span) && !/^n8n/i.test(span),
		);
		expect(named.filter((name) => !identifiers.has(name))).toEqual([]);
	});
});

it('has a worked example in CONTRIBUTING.md that compiles', () => {
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

describe('the tour of CONTRIBUTING.md', () => {
	const tour = /^## Where to make a change\n(.*?)^## /ms.exec(read('CONTRIBUTING.md'))![1]!;
	const [, , ...changes] = tour
		.match(/^\|.*$/gm)!
		.map((row) => row.split('|').map((cell) => cell.trim()));

	it.each(changes)('%s%s opens files that have what it names', (_, _change, open) => {
		const spans = all(open!, /`([^`]+)`/g);
		const content = spans.filter((span) => span.includes('.')).map(read);
		const names = spans.filter((span) => /^\w+$/.test(span));
		expect(names.filter((name) => !content.join('\n').includes(name))).toEqual([]);
	});
});

/** Labels of n8n itself that the pages mention. */
const n8nLabels = [
	// The HTTP Request node.
	...['Authentication', 'Predefined Credential Type', 'Credential Type'],
	// What n8n adds to a credential (n8n-workflow/src/credential-domain-restrictions.ts).
	...['Allowed HTTP Request Domains', 'Specific Domains', 'None'],
	// Request Options, which n8n adds to declarative nodes (n8n-core/src/nodes-loader/constants.ts).
	...['Batching', 'Timeout'],
	// The Remove Duplicates and Loop Over Items nodes, and the list of executions.
	...['Remove Items Processed in Previous Executions', 'Value Is New'],
	...['Batch Size', 'Custom API Call', 'Retry execution', 'Error', 'Queued', 'Success'],
];

const labels = new Set([
	...n8nLabels,
	...descriptions.flatMap(({ displayName, properties }) => [displayName, ...labelsOf(properties)]),
	...[credential.displayName, ...labelsOf(credential.properties)],
	...workflows.flatMap((file) =>
		(JSON.parse(read(file)) as { nodes: Array<{ name: string }> }).nodes.map(({ name }) => name),
	),
	// A heading of Keep a Changelog, and the convention itself in CONTRIBUTING.md.
	...['Security', 'italics'],
]);

/** Names of fields and of what can be chosen in them, at every depth. */
function labelsOf(entries: object[]): string[] {
	return (entries as Array<Partial<INodeProperties> & { values?: object[] }>).flatMap(
		({ displayName, name, options, values, modes }) => [
			...[displayName, name].filter((label) => label !== undefined),
			...labelsOf([...(options ?? []), ...(values ?? []), ...(modes ?? [])]),
		],
	);
}

const sources = find(
	'{nodes,credentials,sandbox,openapi,host,scripts,test,workflows}/**/*.{ts,mts,yaml,json}',
);
const identifiers = new Set(sources.flatMap((file) => read(file).match(/\w+/g) ?? []));

/** As GitHub makes them of headings. */
function anchors(file: string): string[] {
	return all(read(file), /^#+ (.+)$/gm).map((heading) =>
		heading
			.toLowerCase()
			.replace(/[^\p{L}\p{N} _-]/gu, '')
			.replaceAll(' ', '-'),
	);
}

describe('messages', () => {
	it('of the trigger are in docs/errors.md in the words of the code', () => {
		const source = read('nodes/ResumeManagementTrigger/settings.ts');
		const [, section] = read('docs/errors.md').split('## The trigger');
		const named = all(section!, /^\| `([^`…]+)` /gm);
		expect(named).toHaveLength(2);
		expect(named.filter((message) => !source.includes(message))).toEqual([]);
	});

	it('that README names exist', () => {
		const templates = Object.values(readFailures(projectRoot)).map(([message]) => shown(message));
		const [, table] = read('README.md').split('| What you see');
		const named = all(table!.split('\n\n')[0]!, /`([A-Z'][^`]* [^`]*)`/g);
		expect(named.length).toBeGreaterThan(4);
		const fits = (symptom: string) =>
			symptom.startsWith('Outcome unknown') || templates.some((one) => one.startsWith(symptom));
		expect(named.filter((symptom) => !fits(symptom))).toEqual([]);
	});

	it("of the credential's test are explained in docs/credentials.md", () => {
		const rules = credential.test?.rules?.map(({ properties }) => properties.message) ?? [];
		expect(rules.length).toBeGreaterThan(2);
		const explained = codeSpans('docs/credentials.md');
		expect(rules.filter((message) => !explained.includes(message))).toEqual([]);
	});
});
