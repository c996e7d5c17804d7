import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../host/command.mts';
import { packPackage } from '../../host/install.mts';
import { packageChecks, type PackedPackage } from '../../scripts/packageChecks.mts';

const node = 'dist/nodes/ResumeManagement/ResumeManagement.node';
const trigger = 'dist/nodes/ResumeManagementTrigger/ResumeManagementTrigger.node';
const titles = packageChecks.map(({ title }) => title);
const [content, size, dependencies, declared, codex] = titles as [string, ...string[]];

let root: string;
let packed: PackedPackage;
let broken: string;

beforeAll(async () => {
	root = await mkdtemp(join(tmpdir(), 'resume-management-checks-'));
	const tarball = await packPackage(root);
	await runCommand('tar', ['-xzf', tarball], { cwd: root });
	packed = { tarball, folder: join(root, 'package') };
});

afterAll(async () => {
	await rm(root, { recursive: true });
});

beforeEach(async () => {
	broken = await mkdtemp(join(root, 'broken-'));
	await cp(packed.folder, broken, { recursive: true });
});

/** Everything that the checks find, by their titles. */
async function findings(one: PackedPackage): Promise<Record<string, string[]>> {
	const found = packageChecks.map(async ({ title, find }): Promise<[string, string[]]> => [
		title,
		await find(one).catch((error: unknown) => [String(error)]),
	]);
	const all = await Promise.all(found);
	return Object.fromEntries(all.filter(([, problems]) => problems.length > 0));
}

it('finds nothing wrong with the package', async () => {
	expect(await findings(packed)).toEqual({});
});

const add = (file: string, text: string) => async () => await writeFile(join(broken, file), text);
const remove = (file: string) => async () => await rm(join(broken, file));
const change = (file: string, from: string | RegExp, to: string) => async () => {
	const before = await readFile(join(broken, file), 'utf8');
	const after = before.replace(from, to);
	expect(after).not.toBe(before);
	await writeFile(join(broken, file), after);
};

const test = 'dist/nodes/ResumeManagement/one.test.js';
const secondNode = /,\s*"dist\/nodes\/ResumeManagementTrigger[^"]*"/;
const withOptional = '"optionalDependencies":{"axios":"1"},"scripts"';

it.each<[what: string, check: string | undefined, sentence: string, breakIt: () => Promise<void>]>([
	['a file of the tests', content, `${test} should not be in it.`, add(test, '')],
	['a source map', content, `${node}.js.map should not be in it.`, add(`${node}.js.map`, '{}')],
	['no licence', content, 'LICENSE.md is missing.', remove('LICENSE.md')],
	[
		'a dependency that npm installs if it can',
		dependencies,
		'package.json has optionalDependencies.',
		change('package.json', '"scripts"', withOptional),
	],
	[
		'an asset of the sources that is missing',
		content,
		'dist/icons/resumeManagement.dark.svg is missing.',
		remove('dist/icons/resumeManagement.dark.svg'),
	],
	[
		'a node that is not declared',
		declared,
		`${trigger}.js is not declared in package.json.`,
		change('package.json', secondNode, ''),
	],
	['no codex', codex, `${trigger}.json is missing.`, remove(`${trigger}.json`)],
	[
		'a category that n8n does not have',
		codex,
		`${node}.json/categories/0 must be equal to one of the allowed values`,
		change(`${node}.json`, '"Productivity"', '"Human Resources"'),
	],
	[
		'the codex of another package',
		codex,
		`${node}.json/node must be equal to constant`,
		change(`${node}.json`, /"node": "[^"]*"/, '"node": "n8n-nodes-base.slack"'),
	],
	[
		'a codex without documentation',
		codex,
		`${node}.json/resources must have required property 'primaryDocumentation'`,
		change(`${node}.json`, 'primaryDocumentation', 'documentation'),
	],
])('finds %s', async (_, check, sentence, breakIt) => {
	await breakIt();
	const found = await findings({ ...packed, folder: broken });
	expect(found[check!]).toContainEqual(expect.stringContaining(sentence));
});

it('finds a tarball that is too large', async () => {
	const tarball = join(root, 'large.tgz');
	await cp(packed.tarball, tarball);
	await appendFile(tarball, Buffer.alloc(60_000));
	expect((await findings({ ...packed, tarball }))[size!]).toEqual([
		expect.stringMatching(/^It has \d+ kB\.$/),
	]);
});
