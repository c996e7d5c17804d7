import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { installPackage, packPackage, type Host } from '../../host/install.mts';
import { waitForLock } from '../../host/lock.mts';
import { startN8n } from '../../host/n8n.mts';
import { EditorApi } from '../../host/rest.mts';
import { owner } from '../../host/workspace.mts';

/**
 * Makes `userFolder` that of an n8n with the package and an owner. The first call of a run lets an n8n
 * create its database and installs the package; all have a copy of that, which saves its time.
 *
 * @param env of n8n, the same in each call
 */
export async function prepareUserFolder(
	userFolder: string,
	host: Host,
	env: Record<string, string>,
): Promise<void> {
	const run = process.env.RUN_FOLDER!;
	const template = join(run, 'n8n');
	const release = await waitForLock(join(run, 'n8n.lock'));
	try {
		if (!existsSync(template)) {
			const unfinished = await mkdtemp(`${template}-`);
			await installPackage(unfinished, await packPackage(run));
			const n8n = await startN8n({ host, userFolder: unfinished, env });
			await new EditorApi(n8n.url).signIn(owner).finally(n8n.stop);
			await rename(unfinished, template);
		}
	} finally {
		release();
	}
	await cp(template, userFolder, { recursive: true });
}
