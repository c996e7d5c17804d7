import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError, runCommand } from './command.mts';
import { projectRoot } from './paths.mts';
import { quietly, type Report } from './progress.mts';
import { Trouble } from './trouble.mts';

const sources = ['nodes', 'credentials', 'icons', 'package.json', 'tsconfig.json', 'gulpfile.js'];
const output = join(projectRoot, 'dist');

/**
 * Builds the package if `dist` is missing or older than its sources.
 *
 * @throws {Trouble} with the compiler's messages
 */
export async function buildPackage(report: Report = quietly, signal?: AbortSignal): Promise<void> {
	if (existsSync(output)) {
		const changes = await Promise.all(sources.map((path) => lastChange(join(projectRoot, path))));
		if (Math.max(...changes) <= (await lastChange(output))) return;
	}
	try {
		await report('Building the package', async () => {
			await runCommand('npm', ['run', 'build'], { cwd: projectRoot, signal });
		});
	} catch (error) {
		// A partial build would look newer than its sources.
		await rm(output, { recursive: true, force: true });
		if (!(error instanceof CommandError) || signal?.aborted) throw error;
		throw new Trouble(`The package can't be built:\n${error.output.trim()}`);
	}
}

/** Returns the time of the latest change of a file, or of a folder with its content, in milliseconds. */
async function lastChange(path: string): Promise<number> {
	const { mtimeMs } = await stat(path);
	const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch(() => []);
	const inside = await Promise.all(
		entries.map(async (entry) => (await stat(join(entry.parentPath, entry.name))).mtimeMs),
	);
	return Math.max(mtimeMs, ...inside);
}
