import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../host/command.mts';
import { packPackage } from '../../host/install.mts';
import { packageChecks, type PackedPackage } from '../../scripts/packageChecks.mts';

let root: string;
let packed: PackedPackage;

beforeAll(async () => {
	root = await mkdtemp(join(tmpdir(), 'resume-management-checks-'));
	const tarball = await packPackage(root);
	await runCommand('tar', ['-xzf', tarball], { cwd: root });
	packed = { tarball, folder: join(root, 'package') };
});

afterAll(async () => await rm(root, { recursive: true }));

/** Everything that the checks find. */
async function findings(one: PackedPackage): Promise<string[]> {
	return (await Promise.all(packageChecks.map(async ({ find }) => await find(one)))).flat();
}

it('finds nothing wrong with the package', async () => {
	expect(await findings(packed)).toEqual([]);
});

const nodes = 'dist/nodes';
const node = `${nodes}/ResumeManagement/ResumeManagement.node`;
const trigger = `${nodes}/ResumeManagementTrigger/ResumeManagementTrigger.node`;
const icon = 'dist/icons/resumeManagement.dark.svg';
const manifest = 'package.json';

/** A file that gets a new content, or none, and what is found then. */
it.each<
	[what: string, file: string, change: (before: string) => string | undefined, found: string]
>([
	['a file of the tests', `${nodes}/one.test.js`, () => '', ' should not be in it.'],
	['a source map', `${node}.js.map`, () => '{}', ' should not be in it.'],
	['no licence', 'LICENSE.md', () => undefined, ' is missing.'],
	['a missing asset', icon, () => undefined, ' is missing.'],
	['no codex', `${trigger}.json`, () => undefined, ' is missing.'],
	[
		'a dependency that npm installs if it can',
		manifest,
		(text) => text.replace('"scripts"', '"optionalDependencies":{"axios":"1"},"scripts"'),
		' has optionalDependencies.',
	],
	[
		'a category that n8n does not have',
		`${node}.json`,
		(text) => text.replace('"Productivity"', '"Human Resources"'),
		'/categories/0 must be equal to one of the allowed values',
	],
	[
		'the codex of another package',
		`${node}.json`,
		(text) => text.replace(/"node": "[^"]*"/, '"node": "n8n-nodes-base.slack"'),
		'/node must be equal to constant',
	],
	[
		'a codex without documentation',
		`${node}.json`,
		(text) => text.replace('primaryDocumentation', 'documentation'),
		"/resources must have required property 'primaryDocumentation'",
	],
])('finds %s', async (_, file, change, found) => {
	const folder = await breakPackage(file, change);
	const all = new Set(await findings({ ...packed, folder }));
	expect([...all]).toEqual([expect.stringContaining(file + found)]);
});

async function breakPackage(file: string, change: (before: string) => string | undefined) {
	const folder = await mkdtemp(join(root, 'broken-'));
	await cp(packed.folder, folder, { recursive: true });
	const before = await readFile(join(folder, file), 'utf8').catch(() => undefined);
	const after = change(before ?? '');
	expect(after).not.toBe(before);
	if (after === undefined) await rm(join(folder, file));
	else await writeFile(join(folder, file), after);
	return folder;
}

it('finds a tarball that is too large', async () => {
	const tarball = join(root, 'large.tgz');
	await cp(packed.tarball, tarball);
	await appendFile(tarball, Buffer.alloc(60_000));
	expect(await findings({ ...packed, tarball })).toEqual([
		expect.stringMatching(/^It has \d+ kB\.$/),
	]);
});
