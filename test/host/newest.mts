import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecaError } from 'execa';
import { runCommand } from '../../host/command.mts';
import pinned from '../../host/n8n-2/package.json' with { type: 'json' };
import { projectRoot } from '../../host/paths.mts';

/** Git ignores it, so that the pinned versions stay those that are in `host/`. */
const folder = join(projectRoot, 'host', 'n8n-newest');

/**
 * Pins the newest n8n that npm can install, and returns the name of its folder in `host/`: `newest`, or `2` if nothing
 * newer than that one can be installed. npm sometimes lacks packages that a new n8n names.
 */
export async function pinNewest(): Promise<string> {
	const view = await runCommand('npm', ['view', 'n8n', 'versions', '--json'], { cwd: projectRoot });
	const isNewer = (one: string) => compare(one, pinned.dependencies.n8n) > 0;
	const releases = (JSON.parse(view) as string[]).filter((one) => /^[\d.]+$/.test(one));
	for (const version of releases.filter(isNewer).sort(compare).reverse()) {
		const missing = await resolve(version);
		if (missing === undefined) {
			console.log(`Newest n8n: ${version}`);
			return 'newest';
		}
		console.log(`n8n ${version} can't be installed: ${missing}`);
	}
	await rm(folder, { recursive: true, force: true });
	console.log(`Newest n8n: ${pinned.dependencies.n8n}, which host/n8n-2 pins`);
	return '2';
}

const compare = (one: string, other: string) => one.localeCompare(other, 'en', { numeric: true });

/** Writes the pins of a version. Returns what npm lacks for it; undefined if it lacks nothing. */
async function resolve(version: string): Promise<string | undefined> {
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder);
	// The overrides stand for packages that npm lacked. A newer n8n may need fewer of them.
	const dependencies = { ...pinned.dependencies, n8n: version };
	const manifest = { ...pinned, name: 'host-n8n-newest', dependencies };
	await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
	const flags = ['--package-lock-only', '--legacy-peer-deps', '--ignore-scripts', '--no-audit'];
	try {
		await runCommand('npm', ['install', ...flags], { cwd: folder });
		return undefined;
	} catch (error) {
		const { all = '' } = error as ExecaError;
		if (!/code (ETARGET|E404)$/m.test(all)) throw error;
		return (
			/No matching version found for .*?(?=\.?$)|\S+ is not in this registry/m.exec(all)?.[0] ?? all
		);
	}
}
