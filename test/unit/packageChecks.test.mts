import { appendFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runCommand } from '../../host/command.mts';
import { packPackage } from '../../host/install.mts';
import { projectRoot } from '../../host/paths.mts';
import { packageChecks, type PackedPackage } from '../../scripts/packageChecks.mts';

const node = 'dist/nodes/ResumeManagement/ResumeManagement.node';
const trigger = 'dist/nodes/ResumeManagementTrigger/ResumeManagementTrigger.node';
const credential = 'dist/credentials/ResumeManagementApi.credentials.js';
const titles = packageChecks.map(({ title }) => title);
const [content, size, dependencies, loads, icons, codex, schemas] = titles as [string, ...string[]];

let root: string;
let packed: PackedPackage;
let broken: string;

beforeAll(async () => {
	root = await mkdtemp(join(tmpdir(), 'resume-management-checks-'));
	const tarball = await packPackage(root);
	await runCommand('tar', ['-xzf', tarball], { cwd: root });
	await symlink(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
	packed = { tarball, folder: join(root, 'package') };
});

afterAll(async () => {
	await rm(root, { recursive: true });
});

beforeEach(async () => {
	// Under another path each time: what was loaded from one stays loaded.
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

async function replace(file: string, from: string | RegExp, to: string): Promise<void> {
	const before = await readFile(join(broken, file), 'utf8');
	const after = before.replace(from, to);
	expect(after).not.toBe(before);
	await writeFile(join(broken, file), after);
}

it('finds nothing wrong with the package', async () => {
	expect(await findings(packed)).toEqual({});
});

it.each<[string, string | undefined, string, () => Promise<void>]>([
	[
		'a file of the tests',
		content,
		'dist/nodes/ResumeManagement/one.test.js should not be in it.',
		async () => await writeFile(join(broken, 'dist/nodes/ResumeManagement/one.test.js'), ''),
	],
	[
		'a source map',
		content,
		`${node}.js.map should not be in it.`,
		async () => await writeFile(join(broken, `${node}.js.map`), '{}'),
	],
	[
		'no licence',
		content,
		'LICENSE.md is missing.',
		async () => await rm(join(broken, 'LICENSE.md')),
	],
	[
		'a runtime dependency',
		dependencies,
		'package.json has dependencies.',
		async () =>
			await replace('package.json', '"scripts"', '"dependencies":{"axios":"1"},"scripts"'),
	],
	[
		'a script that npm runs at a user',
		dependencies,
		'package.json has the script postinstall.',
		async () => await replace('package.json', '"bench"', '"postinstall":"node x","bench"'),
	],
	[
		'a file that throws when it is loaded',
		loads,
		'no such luck',
		async () => await replace(credential, /^/, 'throw new Error("no such luck");'),
	],
	[
		'a class with another name than its file',
		loads,
		`${trigger}.js exports no class ResumeManagementTrigger`,
		async () =>
			await replace(
				`${trigger}.js`,
				'exports.ResumeManagementTrigger = Resume',
				'exports.Trigger = Resume',
			),
	],
	[
		'a node that is not declared',
		loads,
		`${trigger}.js is not declared in package.json.`,
		async () =>
			await replace('package.json', /,\s*"dist\/nodes\/ResumeManagementTrigger[^"]*"/, ''),
	],
	[
		'a version of the node API that no n8n supports',
		loads,
		'n8n.n8nNodesApiVersion is not 1.',
		async () => await replace('package.json', '"n8nNodesApiVersion": 1', '"n8nNodesApiVersion": 2'),
	],
	[
		'no dark icon',
		icons,
		'dist/icons/resumeManagement.dark.svg is missing.',
		async () => await rm(join(broken, 'dist/icons/resumeManagement.dark.svg')),
	],
	[
		'an icon for light alone',
		icons,
		`${node}.js has no light and dark icon.`,
		async () => await replace(`${node}.js`, 'resumeManagement.dark.svg', 'resumeManagement.svg'),
	],
	[
		'an icon that is no image',
		icons,
		'dist/icons/resumeManagement.svg is not an SVG image.',
		async () => await writeFile(join(broken, 'dist/icons/resumeManagement.svg'), '<html></html>'),
	],
	[
		'an icon outside of the package',
		icons,
		'../resumeManagement.svg is outside of the package.',
		async () => await replace(credential, 'file:../icons/', 'file:../../../'),
	],
	[
		'no codex',
		codex,
		`${trigger}.json is missing.`,
		async () => await rm(join(broken, `${trigger}.json`)),
	],
	[
		'a category that n8n does not have',
		codex,
		`${node}.json: n8n has no category Human Resources.`,
		async () => await replace(`${node}.json`, '"Productivity"', '"Human Resources"'),
	],
	[
		'the codex of another package',
		codex,
		`${node}.json: node is not n8n-nodes-resume-management.`,
		async () => await replace(`${node}.json`, /"node": "[^"]*"/, '"node": "n8n-nodes-base.slack"'),
	],
	[
		'a codex without documentation',
		codex,
		`${node}.json: resources.primaryDocumentation has no address.`,
		async () => await replace(`${node}.json`, 'primaryDocumentation', 'documentation'),
	],
	[
		'the output of an operation that does not exist',
		schemas,
		'n8n-nodes-resume-management.resumeManagement: n8n never reads the schema v1.0.0/user/remove.',
		async () => {
			const folder = join(broken, 'dist/nodes/ResumeManagement/__schema__/v1.0.0/user');
			await mkdir(folder, { recursive: true });
			const schema = { type: 'object', properties: { id: { type: 'string' } } };
			await writeFile(join(folder, 'remove.json'), JSON.stringify(schema));
		},
	],
])('finds %s', async (_title, check, sentence, breakIt) => {
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

describe("the rules of n8n's package scanner", () => {
	/** In a process of its own, because jest cannot load the rules, which are ECMAScript modules. */
	async function scan(folder: string): Promise<string[]> {
		const module = pathToFileURL(join(projectRoot, 'scripts/scan.mts')).href;
		const script = `const { scan, packedFiles } = await import(${JSON.stringify(module)});
			console.log(JSON.stringify(await scan(${JSON.stringify(folder)}, packedFiles)));`;
		const args = ['--input-type=module', '--eval', script];
		// Rules of n8n's judge other files where NODE_ENV is jest's "test"
		// (eslint-plugin-n8n-nodes-base, ast/identifiers/communityPackageJson.identifiers.js).
		const options = { cwd: projectRoot, env: { NODE_ENV: 'production' } };
		return JSON.parse(await runCommand(process.execPath, args, options)) as string[];
	}

	it('find what n8n forbids in compiled code, whatever a comment says', async () => {
		await replace(
			credential,
			/^/,
			'/* eslint-disable */ console.log(process.env); require("fs"); eval("1");\n',
		);
		await replace('package.json', '"license": "MIT"', '"license": "ISC"');
		const found = await scan(broken);
		for (const rule of [
			'no-console',
			'@n8n/community-nodes/no-restricted-globals',
			'@n8n/community-nodes/no-restricted-imports',
			'@n8n/community-nodes/no-dangerous-functions',
			'n8n-nodes-base/community-package-json-license-not-default',
		]) {
			expect(found).toContainEqual(expect.stringContaining(`(${rule})`));
		}
	});
});
