import { globSync, statSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from './command.mts';
import { projectRoot } from './paths.mts';
import { quietly, type Report } from './progress.mts';
import { commandTrouble, describeError } from './trouble.mts';

const sources = ['{nodes,credentials,icons}/**', 'package.json', 'tsconfig.json', 'gulpfile.js'];
const output = join(projectRoot, 'dist');

/**
 * Builds the package if `dist` is missing or older than its sources.
 *
 * @throws {Trouble} with the compiler's messages
 */
export async function buildPackage(report: Report = quietly, signal?: AbortSignal): Promise<void> {
	if (lastChange(sources) <= lastChange(['dist/**'])) return;
	try {
		await report('Building the package', async () => {
			await runCommand('npm', ['run', 'build'], { cwd: projectRoot, signal });
		});
	} catch (error) {
		// A partial build would look newer than its sources.
		await rm(output, { recursive: true, force: true });
		signal?.throwIfAborted();
		throw commandTrouble(error, () => "The package can't be built:");
	}
}

/**
 * Builds the package after each change of a source, and copies it to `folder`, where n8n has it installed, until `signal`
 * aborts. If the code has errors, `folder` stays as it is. `n8n-node dev` is not used, because it runs the newest n8n, and
 * links the package instead of installing it.
 */
export async function watchPackage(
	folder: string,
	report: Report,
	signal: AbortSignal,
): Promise<void> {
	for (let seen = lastChange(sources); ;) {
		await sleep(300, undefined, { signal });
		const changed = lastChange(sources);
		if (changed === seen) continue;
		seen = changed;
		try {
			await buildPackage(report, signal);
			await cp(output, join(folder, 'dist'), { recursive: true });
		} catch (error) {
			console.log(describeError(error));
		}
	}
}

/** Returns the time of the latest change of the files and folders, in milliseconds; 0 if there are none. */
function lastChange(patterns: string[]): number {
	const times = globSync(patterns, { cwd: projectRoot }).map(
		(path) => statSync(join(projectRoot, path)).mtimeMs,
	);
	return Math.max(0, ...times);
}
