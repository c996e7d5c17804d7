/**
 * `npm run verify:package`: packs the package, runs n8n's package scanner on the tarball and on the sources, and installs the
 * tarball into an empty n8n. `-- <tarball>` checks an existing tarball.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import publicNames from '../contract/public-names.json' with { type: 'json' };
import { buildPackage } from '../host/build.mts';
import { runCommand } from '../host/command.mts';
import { installHost, installPackage, packPackage } from '../host/install.mts';
import { startN8n } from '../host/n8n.mts';
import { cacheFolder, projectRoot } from '../host/paths.mts';
import { reportTo } from '../host/progress.mts';
import { EditorApi } from '../host/rest.mts';
import { describeError, Trouble } from '../host/trouble.mts';
import { owner } from '../host/workspace.mts';

const scannerName = '@n8n/scan-community-package';
const scannerVersion = '0.32.0';

interface Scanner {
	/** Sources that the scanner reads. */
	SOURCE_FILE_PATTERNS: string[];
	analyzePackage(
		folder: string,
		patterns: string[],
	): Promise<{ passed: boolean; message?: string; details?: string }>;
}

const report = reportTo(process.stderr);

/** Installs n8n's scanner into the cache. Its command takes only published packages, so its module is loaded. */
async function loadScanner(): Promise<Scanner> {
	const folder = join(cacheFolder(), `scanner-${scannerVersion}`);
	const flags = ['--prefix', folder, '--ignore-scripts', '--prefer-offline', '--no-audit'];
	const install = ['install', ...flags, `${scannerName}@${scannerVersion}`];
	await runCommand('npm', install, { cwd: projectRoot });
	return (await import(
		join(folder, 'node_modules', scannerName, 'scanner/scanner.mjs')
	)) as Scanner;
}

/** Scans a package as n8n does before it verifies one (`analyzePackageByName`). */
async function scan(tarball: string, folder: string): Promise<void> {
	await runCommand('tar', ['-xzf', tarball], { cwd: folder });
	const { analyzePackage, SOURCE_FILE_PATTERNS } = await loadScanner();
	for (const { passed, message, details } of [
		await analyzePackage(join(folder, 'package'), ['**/*.js', 'package.json']),
		await analyzePackage(projectRoot, SOURCE_FILE_PATTERNS),
	]) {
		if (!passed) throw new Trouble(details ?? message ?? 'The scanner gives no reason.');
	}
}

/** Installs a package into a new n8n, which must offer all of its nodes and credentials. */
async function register(tarball: string, userFolder: string): Promise<void> {
	const host = await installHost(2, report);
	await installPackage(userFolder, tarball);
	const n8n = await startN8n({ host, userFolder });
	try {
		const api = new EditorApi(n8n.url);
		await api.signIn(owner);
		const offered = [...(await api.nodeTypes()), ...(await api.credentialTypes())];
		const names = offered.map(({ name }) => name);
		const missing = Object.keys(publicNames).filter((type) => !names.includes(type));
		if (missing.length > 0) throw new Trouble(`n8n does not know ${missing.join(', ')}.`);
	} finally {
		await n8n.stop();
	}
}

const folder = await mkdtemp(join(tmpdir(), 'resume-management-package-'));
try {
	const [given] = process.argv.slice(2);
	if (given === undefined) await buildPackage(report);
	const tarball = given === undefined ? await packPackage(folder) : resolve(given);
	await report("Running n8n's package scanner", async () => await scan(tarball, folder));
	await report('Installing into an empty n8n', async () => {
		await register(tarball, join(folder, 'n8n'));
	});
} catch (error) {
	console.error(`\n${describeError(error)}`);
	process.exitCode = 1;
} finally {
	await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
