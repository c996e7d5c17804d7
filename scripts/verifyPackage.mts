/**
 * `npm run verify:package`: runs n8n's package scanner on the packed package and on its sources. `-- <tarball>` scans an
 * existing tarball. The host tests install the packed package into n8n.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildPackage } from '../host/build.mts';
import { runCommand } from '../host/command.mts';
import { packPackage } from '../host/install.mts';
import { cacheFolder, projectRoot } from '../host/paths.mts';

const scanner = '@n8n/scan-community-package';
const version = '0.32.0';

interface Scanner {
	/** Sources that the scanner reads. */
	SOURCE_FILE_PATTERNS: string[];
	analyzePackage(
		folder: string,
		patterns: string[],
	): Promise<{ passed: boolean; message?: string; details?: string }>;
}

/** Installs n8n's scanner into the cache. Its command takes only published packages, so its module is loaded. */
async function loadScanner(): Promise<Scanner> {
	const folder = join(cacheFolder(), `scanner-${version}`);
	// The scanner needs its peers, and .npmrc leaves peers out.
	const peers = '--no-legacy-peer-deps';
	const flags = ['--prefix', folder, '--ignore-scripts', '--prefer-offline', '--no-audit', peers];
	await runCommand('npm', ['install', ...flags, `${scanner}@${version}`], { cwd: projectRoot });
	return (await import(join(folder, 'node_modules', scanner, 'scanner/scanner.mjs'))) as Scanner;
}

const folder = await mkdtemp(join(tmpdir(), 'resume-management-package-'));
try {
	const [given] = process.argv.slice(2);
	if (given === undefined) await buildPackage();
	const tarball = given === undefined ? await packPackage(folder) : resolve(given);
	await runCommand('tar', ['-xzf', tarball], { cwd: folder });
	const { analyzePackage, SOURCE_FILE_PATTERNS } = await loadScanner();
	// n8n does the same before it verifies a package (`analyzePackageByName`).
	for (const { passed, message, details } of [
		await analyzePackage(join(folder, 'package'), ['**/*.js', 'package.json']),
		await analyzePackage(projectRoot, SOURCE_FILE_PATTERNS),
	]) {
		console.log(passed ? '✓ passes the scanner' : `✗ ${details ?? message}`);
		if (!passed) process.exitCode = 1;
	}
} finally {
	await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
