/** Compares the pages with the code, the files and the workflows. */
import { basename, dirname, join, relative } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { withBlock } from '../../scripts/blocks.mts';
import { builtCredentials, builtNodes, requireBuilt } from '../../scripts/built.mts';
import { generatedBlocks, readOperations } from '../../scripts/docs.mts';
import { exists, find, read } from '../support/files.mts';

const all = (text: string, pattern: RegExp) =>
	Array.from(text.matchAll(pattern), ([, found]) => found!);

const withoutCode = (page: string) => read(page).replace(/^ *```.*?^ *```/gms, '');

const pages = find('{,docs/,bench/,sandbox/}*.md').filter((file) => file !== 'LICENSE.md');
const [credential] = builtCredentials();
const operations = readOperations();
const resources = operations.map(({ resource }) => resource).join('|');
const operationNames = operations.map(({ resource, name }) => `${resource} → ${name}`);
const requestPaths = operations.map(({ request }) => request.replace(/.* /, ''));
const fileNames = new Set(find('**/*', '.*', '.github/**/*').map((path) => basename(path)));

/** Labels of n8n that the pages mention. */
// prettier-ignore
const n8nLabels = [
	'Authentication', 'Predefined Credential Type', 'Credential Type',
	// Fields that n8n adds to a credential (n8n-workflow/src/credential-domain-restrictions.ts).
	'Allowed HTTP Request Domains', 'Specific Domains', 'None',
	// Request Options, which n8n adds to declarative nodes (n8n-core/src/nodes-loader/constants.ts).
	'Batching', 'Proxy', 'Timeout',
	// The Remove Duplicates and Loop Over Items nodes, and the list of executions.
	'Remove Items Processed in Previous Executions', 'Value Is New',
	'Batch Size', 'Custom API Call', 'Retry execution', 'Error', 'Queued', 'Success',
	// A heading of Keep a Changelog, and the convention itself in CONTRIBUTING.md.
	'Security', 'italics',
];

/** What ships, and what `npm start` offers beside it. A name in a test alone is no proof. */
const sources = find('{nodes,credentials,openapi,sandbox,host,workflows}/**/*.{ts,mts,yaml,json}');
/** Messages of n8n that the pages quote, the descriptions, the code and the example workflows. */
const texts = [
	'Connection tested successfully',
	'Unrecognized node type: n8n-nodes-resume-management.resumeManagement',
	JSON.stringify([...builtNodes(), credential]),
	...sources.map(read),
].join('\n');
const identifiers = new Set(texts.match(/\w+/g));

/** Fields, choices and operations of the descriptions, and nodes of the example workflows, at any depth. */
const entries: Array<Record<string, unknown>> = [];
const workflows = find('workflows/*.json').map((file) => JSON.parse(read(file)) as object);
JSON.stringify([builtNodes(), credential, workflows], (_, value: unknown) => {
	if (typeof value === 'object' && value) entries.push(value as Record<string, unknown>);
	return value;
});
const names = entries.flatMap(({ displayName, name }) => [displayName, name]);
const labels = new Set([...n8nLabels, ...names]);

function anchors(file: string): string[] {
	const headings = all(read(file).toLowerCase(), /^#+ (.+)$/gm);
	return headings.map((one) => one.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'));
}

function isBrokenLink(page: string, link: string): boolean {
	const [path, anchor] = link.split('#');
	const file = path ? relative('.', join(dirname(page), path)) : page;
	return !exists(file) || (anchor !== undefined && !anchors(file).includes(anchor));
}

function isUnknownFile(span: string): boolean {
	const isPath = /^[\w.-]+\/[\w./<>-]*$/.test(span) && exists(span.split('/')[0]!);
	if (isPath) return !exists(span.replace(/<.*/, ''));
	return /^[\w.-]+\.(m?ts|[cm]js|json|md|ya?ml)$/.test(span) && !fileNames.has(span);
}

function isUnknownIdentifier(span: string): boolean {
	const isIdentifier = /^[a-z]+[A-Z]\w*$|^[a-z]+(_[a-z\d]+)+$/.test(span) && !/^n8n/i.test(span);
	return isIdentifier && !identifiers.has(span) && !identifiers.has(span.replaceAll('_', ''));
}

/** Names of a file's code, such as `sandbox/api.mts`: `apiRoutes`. */
const CODE_OF_FILE = /`([\w./-]+\.\w+)`: ((?:`\w+`(?:, | and )?)+)/g;

function missingInFiles(text: string): string[] {
	return [...text.matchAll(CODE_OF_FILE)].flatMap(([, file, names]) => {
		const known: string[] = exists(file!) ? read(file!).match(/\w+/g)! : [];
		return all(names!, /(\w+)/g).filter((name) => !known.includes(name));
	});
}

it.each(generatedBlocks())('npm run docs writes $block of $page', ({ page, block, content }) => {
	// Prettier pads cells, and escapes characters that have a meaning in Markdown.
	const plain = (text: string) =>
		text.replace(/\\/g, '').replace(/ +/g, ' ').replace(/-{3,}/g, '---');
	expect(plain(read(page))).toBe(plain(withBlock(read(page), block, content)));
});

it.each(pages)('%s has only names, links and messages that exist', (page) => {
	const text = withoutCode(page);
	const spans = all(text.replace(CODE_OF_FILE, '`$1`'), /`([^`\n]+)`/g);
	const scripts = all(read(page), /\bnpm (?:run )?((?<=run )[\w:]+|test\b|start\b)/g);
	const named = all(text, RegExp(`\\b((?:${resources}) → [A-Z]\\w*(?: [A-Z]\\w*)*)`, 'g'));
	const requests = all(text, /`(?:GET|POST|PUT|PATCH|DELETE) (\/[^`]*)`/g);
	// Fields, and nodes of example workflows.
	const italics = all(text.replace(/`[^`]*`/g, ''), /(?<![\w_])_([^_\n]+)_(?![\w_])/g);
	// The generated table is compared as a whole.
	const handwritten = text.replace(/<!-- failures:.*?<!-- \/failures -->/s, '');
	const quoted = all(handwritten, /`([A-Z][a-z]+ [a-z][^`…]*)/g);
	expect([
		...all(text, /\]\((?!\w+:)([^)\s]+)\)/g).filter((link) => isBrokenLink(page, link)),
		...scripts.filter((script) => !(script in manifest.scripts)),
		...missingInFiles(text),
		...spans.filter((span) => isUnknownFile(span) || isUnknownIdentifier(span)),
		...named.filter((name) => !operationNames.includes(name)),
		...requests.filter((path) => !requestPaths.includes(path)),
		...italics.filter((label) => !labels.has(label)),
		...quoted.filter((message) => !texts.includes(message)),
	]).toEqual([]);
});

it('docs/lists-and-files.md has the names that the nodes look for', () => {
	const files = ['ResumeManagement/responses/names', 'ResumeManagementTrigger/eventNames'];
	const searched = files.flatMap(
		(file) => Object.values(requireBuilt(file) as object) as unknown[],
	);
	const lists = searched.filter((list): list is string[] => Array.isArray(list)).flat();
	const spans = all(read('docs/lists-and-files.md'), /`([^`]+)`/g);
	const found = spans.join().replace(/[_-]/g, '').toLowerCase().split(/\W+/);
	expect(lists.length).toBeGreaterThan(10);
	expect(lists.filter((name) => !found.includes(name))).toEqual([]);
});

/** Questions of a partner, by the section that answers them and a part of the answer. */
it.each([
	['reliability.md#was-it-billed', 'error.outcome'],
	['reliability.md#send-once-key', 'Leave it empty'],
	['reliability.md#assumptions', 'HTTP 200, 401 and 500 only'],
	['lists-and-files.md#an-incomplete-list', 'list.incomplete'],
	['events.md#which-events-start-the-workflow', 'Resume Section Saved'],
	['agents.md#keep-an-agent-from-spending', 'Add human review'],
	['scaling.md#20000-users-every-hour', 'batches'],
	['installation.md#change-the-private-key', 'in the same credential'],
	['installation.md#versions', 'go back'],
	['installation.md#n8n-cloud', 'Not yet'],
])('the README links to the answer in %s', (link, answer) => {
	const [page, anchor] = link.split('#');
	expect(read('README.md')).toContain(`?](docs/${link})`);
	const sections = read(`docs/${page}`).split(/^(?=##+ )/m);
	expect(sections[anchors(`docs/${page}`).indexOf(anchor!)]).toContain(answer);
});
