import { createHash } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import {
	copyFile,
	mkdir,
	mkdtemp,
	readdir,
	readFile,
	rename,
	rm,
	writeFile,
} from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CommandError, runCommand } from './command.mts';
import { tryLock, waitForLock } from './lock.mts';
import { cacheFolder, projectRoot } from './paths.mts';
import { quietly, type Report } from './progress.mts';
import { Trouble } from './trouble.mts';

/** An installed n8n. */
export interface Host {
	folder: string;
	/** Script of n8n's command. */
	cli: string;
	/** Node.js that runs n8n: the pinned one, or this process's if the pinned one has no binary for this platform. */
	node: string;
}

const packageFiles = ['package.json', 'package-lock.json'];

const quietFlags = ['--no-audit', '--no-fund', '--loglevel=error'];

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
	const cache = cacheFolder();
	const folder = join(cache, await hostName(name));
	if (existsSync(folder)) return hostIn(folder);

	const lock = join(cache, `n8n-${name}.lock`);
	const release =
		(await tryLock(lock)) ??
		(await report(
			`Waiting for another process that installs n8n ${name}`,
			async () => await waitForLock(lock, signal),
		));
	try {
		if (existsSync(folder)) return hostIn(folder);
		await removeInterrupted(folder);
		const unfinished = await mkdtemp(`${folder}${unfinishedMark}`);
		try {
			await installInto(unfinished, name, report, signal);
			await rename(unfinished, folder);
		} catch (error) {
			await rm(unfinished, { recursive: true, force: true, maxRetries: 5 });
			throw error;
		}
		return hostIn(folder);
	} finally {
		release();
	}
}

function hostIn(folder: string): Host {
	const [node = process.execPath] = globSync('node_modules/node-*/bin/node', { cwd: folder });
	return {
		folder,
		cli: join(folder, 'node_modules', 'n8n', 'bin', 'n8n'),
		node: resolve(folder, node),
	};
}

async function installInto(
	folder: string,
	name: string | number,
	report: Report,
	signal?: AbortSignal,
): Promise<void> {
	for (const file of packageFiles) {
		await copyFile(join(sourceFolder(name), file), join(folder, file));
	}
	await report(
		`Installing n8n ${name} from the npm registry (once, some minutes)`,
		async () => await installDependencies(folder, signal),
	);
	await report(
		`Building n8n's native parts (once, about a minute)`,
		async () => await buildNativeParts(folder, signal),
	);
}

/** Packs the built package into `folder` as `npm publish` does, and returns the tarball's path. */
export async function packPackage(folder: string, signal?: AbortSignal): Promise<string> {
	await mkdir(folder, { recursive: true });
	const flags = ['--json', '--ignore-scripts', '--pack-destination', folder];
	const packed = await npm(['pack', ...flags], { cwd: projectRoot, signal });
	const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
	return join(folder, filename);
}

/**
 * Installs a packed community package into `.n8n/nodes` of the user folder, as n8n does, but offline. n8n loads it at its next
 * start.
 */
export async function installPackage(
	userFolder: string,
	tarball: string,
	signal?: AbortSignal,
): Promise<void> {
	const nodes = join(userFolder, '.n8n', 'nodes');
	const manifest = join(nodes, 'package.json');
	// With a lock file, npm would keep an installed package of the same version.
	await rm(join(nodes, 'node_modules', '.package-lock.json'), { force: true });
	await mkdir(nodes, { recursive: true });
	if (!existsSync(manifest)) {
		await writeFile(manifest, '{ "name": "installed-nodes", "private": true }\n');
	}
	const flags = ['--offline', '--ignore-scripts', '--no-package-lock'];
	await npm(['install', ...flags, ...quietFlags, tarball], { cwd: nodes, signal });
}

/** Returns the folder with the pinned `package.json` and its lock file. */
function sourceFolder(name: string | number): string {
	return join(projectRoot, 'host', `n8n-${name}`);
}

/** Returns the name of the cache folder, which depends on everything that can change an installation. */
async function hostName(name: string | number): Promise<string> {
	const hash = createHash('sha256');
	for (const file of packageFiles) hash.update(await readFile(join(sourceFolder(name), file)));
	const node = `node${process.versions.node.split('.')[0]}-${process.platform}-${process.arch}`;
	return `n8n-${name}-${hash.digest('hex').slice(0, 16)}-${node}`;
}

const unfinishedMark = '.unfinished-';

/** Deletes the folders of interrupted installations. */
async function removeInterrupted(folder: string): Promise<void> {
	const cache = cacheFolder();
	for (const name of await readdir(cache)) {
		if (name.startsWith(`${basename(folder)}${unfinishedMark}`)) {
			await rm(join(cache, name), { recursive: true, force: true });
		}
	}
}

/**
 * Installs with `npm install`, because `npm ci` refuses a lock file without the optional packages of other platforms. Install
 * scripts are off, because that of a Kafka client needs a download. npm retries little, because without a network its
 * retries take minutes.
 */
async function installDependencies(folder: string, signal?: AbortSignal): Promise<void> {
	const retries = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000'];
	const flags = ['--legacy-peer-deps', '--ignore-scripts', ...retries, ...quietFlags];
	await npm(['install', ...flags], { cwd: folder, signal });
}

/**
 * Compiles the modules without a binary for this machine. The headers of Node.js 24 come from the host's optional dependency;
 * on other platforms, node-gyp downloads them.
 */
async function buildNativeParts(folder: string, signal?: AbortSignal): Promise<void> {
	const [headers] = globSync('node_modules/node-*/include/node/node.h', { cwd: folder });
	const env: Record<string, string> =
		headers === undefined ? {} : { npm_config_nodedir: join(folder, headers, '../../..') };
	const flags = ['--ignore-scripts=false', '--loglevel=error'];
	await npm(['rebuild', 'sqlite3', 'isolated-vm', ...flags], { cwd: folder, env, signal });
}

interface NpmOptions {
	cwd: string;
	env?: Record<string, string>;
	signal?: AbortSignal;
}

async function npm(args: string[], options: NpmOptions): Promise<string> {
	try {
		return await runCommand('npm', args, options);
	} catch (error) {
		if (!(error instanceof CommandError) || options.signal?.aborted) throw error;
		throw await npmTrouble(error);
	}
}

/** Writes npm's output to a file, and returns an error that tells what to do. */
async function npmTrouble({ message, output }: CommandError): Promise<Trouble> {
	const log = join(cacheFolder(), 'npm-failure.log');
	await mkdir(cacheFolder(), { recursive: true });
	await writeFile(log, `${message}\n\n${output}`);
	return new Trouble(`${npmSentence(output)}\nnpm's whole output is in ${log}`);
}

const noNetwork =
	/ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH/;

const toolsNeeded =
	"Building n8n's native parts needs Python 3, make and a C++ compiler: install them (Debian and Ubuntu: `sudo apt-get install python3 make g++`; macOS: `xcode-select --install`) and run the command again.";

const npmSentences: Array<[RegExp, string]> = [
	[
		/ENOSPC|EDQUOT|no space left/i,
		'The disk is full: free some space, or set XDG_CACHE_HOME to a folder on a larger disk, and run the command again.',
	],
	// Checked before the network: a build first tries to download a binary, which may fail too.
	[/not found: make|find Python|g\+\+: (?:command )?not found/, toolsNeeded],
	[
		noNetwork,
		"The npm registry can't be reached: check the network connection and npm's proxy settings (`npm config list`), and run the command again. n8n is installed once; later starts need no network.",
	],
	[/gyp ERR!/, toolsNeeded],
];

function npmSentence(output: string): string {
	const known = npmSentences.find(([pattern]) => pattern.test(output));
	if (known !== undefined) return known[1];
	return `npm failed:\n${output.trim().split('\n').slice(-10).join('\n')}`;
}
