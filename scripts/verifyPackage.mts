/**
 * `npm run verify:package`: packs the package, checks the tarball, and installs it into an empty n8n. `-- <tarball>` checks
 * an existing tarball.
 */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
	analyzePackage,
	SOURCE_FILE_PATTERNS,
} from '@n8n/scan-community-package/scanner/scanner.mjs';
import { buildPackage } from '../host/build.mts';
import { runCommand } from '../host/command.mts';
import { installHost, installPackage, packPackage } from '../host/install.mts';
import { startN8n } from '../host/n8n.mts';
import { projectRoot } from '../host/paths.mts';
import { reportTo } from '../host/progress.mts';
import { EditorApi } from '../host/rest.mts';
import { describeError, Trouble } from '../host/trouble.mts';
import { owner } from '../host/workspace.mts';
import { packageChecks, type PackedPackage } from './packageChecks.mts';
import { readPublicNames } from './publicNames.mts';

const major = 2;

/** @throws {Trouble} if a check fails, after all checks */
async function verify(given: string | undefined, folder: string): Promise<void> {
	if (given === undefined) await buildPackage(reportTo(process.stderr));
	const tarball = given === undefined ? await packPackage(folder) : resolve(given);
	const packed = { tarball, folder: await unpack(tarball, folder) };
	console.log(basename(tarball));

	let failed = 0;
	const tick = async (title: string, find: () => Promise<string[]>) => {
		const problems = await find().catch((error: unknown) => [describeError(error)]);
		console.log(`${problems.length === 0 ? '✓' : '✗'} ${title}`);
		for (const problem of problems) console.log(`    ${problem}`);
		if (problems.length > 0) failed += 1;
	};
	for (const { title, find } of packageChecks) await tick(title, async () => await find(packed));
	await tick(
		"passes n8n's package scanner",
		async () => await scan(packed.folder, ['**/*.js', 'package.json']),
	);
	await tick(
		"comes from sources that pass n8n's package scanner",
		async () => await scan(projectRoot, SOURCE_FILE_PATTERNS),
	);
	await tick(
		`registers its types in an empty n8n ${major}`,
		async () => await unregistered(packed, join(folder, 'n8n')),
	);

	if (failed > 0) throw new Trouble(`${failed} of the checks above failed.`);
}

/** Runs n8n's scanner on the package, as n8n does before it verifies one (`analyzePackageByName`). */
async function scan(folder: string, patterns: string[]): Promise<string[]> {
	const { passed, message, details } = await analyzePackage(folder, patterns);
	return passed ? [] : [details ?? message ?? 'It does not say why.'];
}

/** Unpacks a tarball into a folder where `n8n-workflow` can be loaded. */
async function unpack(tarball: string, folder: string): Promise<string> {
	const modules = join(folder, 'node_modules');
	await mkdir(modules);
	await symlink(join(projectRoot, 'node_modules/n8n-workflow'), join(modules, 'n8n-workflow'));
	await runCommand('tar', ['-xzf', tarball], { cwd: folder });
	return join(folder, 'package');
}

/** Installs a package into a new n8n, and returns the nodes and credentials that n8n does not offer. */
async function unregistered({ tarball, folder }: PackedPackage, userFolder: string) {
	const host = await installHost(major, reportTo(process.stderr));
	await installPackage(userFolder, tarball);
	const n8n = await startN8n({ host, userFolder });
	try {
		const api = new EditorApi(n8n.url);
		await api.signIn(owner);
		const offered = [...(await api.nodeTypes()), ...(await api.credentialTypes())];
		const names = offered.map(({ name }) => name);
		return Object.keys(readPublicNames(folder))
			.filter((type) => !names.includes(type))
			.map((type) => `n8n does not know ${type}.`);
	} finally {
		await n8n.stop();
	}
}

const folder = await mkdtemp(join(tmpdir(), 'resume-management-package-'));
try {
	const { positionals } = parseArgs({ allowPositionals: true });
	await verify(positionals[0], folder);
} catch (error) {
	console.error(`\n${describeError(error)}`);
	process.exitCode = 1;
} finally {
	await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
