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

/** A file, what it holds then, and what is found of it; no content takes the file away. */
it.each<[file: string, found: string, change: ((before: string) => string) | undefined]>([
	[`${nodes}/one.test.js`, 'should not be in it.', () => ''],
	[`${node}.js.map`, 'should not be in it.', () => '{}'],
	['LICENSE.md', 'is missing.', undefined],
	['dist/icons/resumeManagement.dark.svg', 'is missing.', undefined],
	[`${trigger}.json`, 'is missing.', undefined],
	[
		'package.json',
		'has optionalDependencies.',
		(text) => text.replace('scripts', 'optionalDependencies'),
	],
	[`${node}.json`, 'allowed values', (text) => text.replace('"Productivity"', '"Human Resources"')],
	[`${node}.json`, '/node must be equal to constant', (text) => text.replace('resume', 'other')],
	[
		`${node}.json`,
		"required property 'primaryDocumentation'",
		(text) => text.replace('primaryD', 'd'),
	],
])('finds that %s %s', async (file, found, change) => {
	const folder = await mkdtemp(join(root, 'broken-'));
	await cp(packed.folder, folder, { recursive: true });
	const path = join(folder, file);
	const before = await readFile(path, 'utf8').catch(() => '');
	if (change) await writeFile(path, change(before));
	else await rm(path);
	const all = new Set(await findings({ ...packed, folder }));
	expect([...all]).toEqual([expect.stringContaining(file)]);
	expect([...all][0]).toContain(found);
});

it('finds a tarball that is too large', async () => {
	const tarball = join(root, 'large.tgz');
	await cp(packed.tarball, tarball);
	await appendFile(tarball, Buffer.alloc(60_000));
	expect(await findings({ ...packed, tarball })).toEqual([
		expect.stringMatching(/^It has \d+ kB\.$/),
	]);
});
