import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statfsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand, type CommandOptions } from './command.mts';
import { tryLock, waitForLock } from './lock.mts';
import { cacheFolder, packageName, projectRoot } from './paths.mts';
import { quietly, type Report } from './progress.mts';
import { commandTrouble, Trouble } from './trouble.mts';

/** An installed n8n. */
export interface Host {
	folder: string;
	/** Script of n8n's command. */
	cli: string;
	/** Node.js that runs n8n. */
	node: string;
}

/** Megabytes that the largest host, n8n 2, writes: 2,430 into the cache folder, and the rest into npm's cache, if it is empty. */
const neededMegabytes = 3_000;

const packageFiles = ['package.json', 'package-lock.json'];

/**
 * Returns the n8n of `host/n8n-<name>`. The first use installs it into the cache, in a folder named by its lock file and this
 * Node.js. A second process waits for the first. The folder gets its name only when the installation is complete.
 *
 * @throws {Trouble} if network, disk space or a compiler is missing
 */
export async function installHost(
	name: string | number,
	report: Report = quietly,
	signal?: AbortSignal,
): Promise<Host> {
	const source = join(projectRoot, 'host', `n8n-${name}`);
	const hash = createHash('sha256');
	for (const file of packageFiles) hash.update(await readFile(join(source, file)));
	const key = `${hash.digest('hex').slice(0, 16)}-node${process.versions.node.split('.')[0]}-${process.platform}-${process.arch}`;
	const folder = join(cacheFolder(), `n8n-${name}-${key}`);
	if (existsSync(folder)) return hostIn(folder);

	const lock = join(cacheFolder(), `n8n-${name}.lock`);
	const release =
		(await tryLock(lock)) ??
		(await report(
			`Waiting for another process that installs n8n ${name}`,
			async () => await waitForLock(lock, signal),
		));
	const unfinished = `${folder}.unfinished`;
	try {
		if (existsSync(folder)) return hostIn(folder);
		const free = freeMegabytes();
		if (free < neededMegabytes) {
			throw new Trouble(
				`n8n needs ${inGigabytes(neededMegabytes)} of disk space in ${cacheFolder()}, and ${inGigabytes(free)} are free: free some space, or set XDG_CACHE_HOME and npm_config_cache to folders on a larger disk, and run the command again.`,
			);
		}
		await rm(unfinished, { recursive: true, force: true });
		await mkdir(unfinished);
		for (const file of packageFiles) await copyFile(join(source, file), join(unfinished, file));
		// `npm ci` refuses a lock file without the optional packages of other platforms. Install scripts are off, because that of a
		// Kafka client needs a download. Without a network, npm's usual retries take minutes. That a disk is full is only a warning.
		const install =
			'install --legacy-peer-deps --ignore-scripts --fetch-retries=1 --fetch-retry-mintimeout=1000 --no-audit --no-fund --loglevel=warn';
		await report(
			`Installing n8n ${name} (once)`,
			async () => await npm(install.split(' '), { cwd: unfinished, signal }),
			watchInstallation(unfinished),
		);
		// Compiles the modules without a binary for this machine.
		const rebuild = 'rebuild sqlite3 isolated-vm --ignore-scripts=false --loglevel=error';
		const env = { npm_config_nodedir: nodeFolder(unfinished) };
		await report(
			`Building n8n's native parts (once, about a minute)`,
			async () => await npm(rebuild.split(' '), { cwd: unfinished, env, signal }),
		);
		await rename(unfinished, folder);
		return hostIn(folder);
	} finally {
		await rm(unfinished, { recursive: true, force: true, maxRetries: 5 });
		release();
	}
}

/** Returns the free space of the cache folder's disk. */
function freeMegabytes(): number {
	const { bavail, bsize } = statfsSync(cacheFolder());
	return (bavail * bsize) / 1e6;
}

const inGigabytes = (megabytes: number) => `${(megabytes / 1_000).toFixed(1)} GB`;

/**
 * Returns a function that says how far an installation is: by how much the free space has shrunk, and the share of packages
 * that are there. A share of megabytes would depend on npm's cache. Many optional packages are for other machines.
 */
export function watchInstallation(folder: string): () => string {
	const before = freeMegabytes();
	const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
		packages: Record<string, { optional?: boolean }>;
	};
	const required = Object.keys(lock.packages).filter((path) => !lock.packages[path]!.optional);
	return () => {
		const written = Math.round(Math.max(0, before - freeMegabytes())).toLocaleString('en');
		const installed = required.filter((path) => existsSync(join(folder, path, 'package.json')));
		const share = Math.floor((installed.length / required.length) * 100);
		return `${written} MB and ${share} % of the packages`;
	};
}

function hostIn(folder: string): Host {
	const cli = join(folder, 'node_modules', 'n8n', 'bin', 'n8n');
	return { folder, cli, node: join(nodeFolder(folder), 'bin', 'node') };
}

/** Returns the folder of the Node.js that a host pins, or of this project's, with its headers. */
function nodeFolder(folder: string): string {
	const places = [folder, join(projectRoot, 'node_modules', 'node')];
	const [headers] = places.flatMap((place) =>
		globSync(join(place, 'node_modules/node-*/include/node/node.h')),
	);
	if (headers === undefined) throw new Error('`npm ci` has not installed the package `node`.');
	return join(headers, '../../..');
}

/** Packs the built package into `folder` as `npm publish` does, and returns the tarball's path. */
export async function packPackage(folder: string, signal?: AbortSignal): Promise<string> {
	await mkdir(folder, { recursive: true });
	const flags = ['--json', '--ignore-scripts', '--pack-destination', folder];
	const packed = await npm(['pack', ...flags], { cwd: projectRoot, signal });
	const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
	return join(folder, filename);
}

/** Returns the folder where n8n has the package installed as a community package. */
export function packageFolder(userFolder: string): string {
	return join(userFolder, '.n8n', 'nodes', 'node_modules', packageName);
}

/** Unpacks the packed package where n8n looks for community packages. n8n loads it at its next start. */
export async function installPackage(userFolder: string, tarball: string): Promise<void> {
	const folder = packageFolder(userFolder);
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	await runCommand('tar', ['-xzf', tarball, '--strip-components=1'], { cwd: folder });
}

async function npm(args: string[], options: CommandOptions): Promise<string> {
	try {
		return await runCommand('npm', args, options);
	} catch (error) {
		options.signal?.throwIfAborted();
		throw commandTrouble(error, npmSentence);
	}
}

const npmSentences: Array<[RegExp, string]> = [
	// Checked before the network: a build first tries to download a binary, which may fail too.
	[
		/gyp ERR!|not found: make/,
		"Building n8n's native parts needs Python 3, make and a C++ compiler: install them (Debian and Ubuntu: `sudo apt-get install python3 make g++`; macOS: `xcode-select --install`) and run the command again.",
	],
	[
		/ENOTFOUND|EAI_AGAIN|TIMEDOUT|ERR_SOCKET_TIMEOUT|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH/,
		"The npm registry can't be reached: check the network connection and npm's proxy settings (`npm config list`), and run the command again. n8n is installed once; later starts need no network.",
	],
];

function npmSentence(output: string): string {
	const known = npmSentences.find(([pattern]) => pattern.test(output));
	return `${known?.[1] ?? 'npm failed.'} The end of npm's output:`;
}
