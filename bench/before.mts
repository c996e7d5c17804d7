import { globSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../host/command.mts';
import { packPackage } from '../host/install.mts';
import { projectRoot } from '../host/paths.mts';

/** The package as a commit had it, under names of its own, so that one n8n can run it beside today's. */
export const before = {
	packageName: 'n8n-nodes-resume-management-before',
	credentialType: 'resumeManagementBeforeApi',
};

/** Builds and packs the commit's package into `folder`, and answers the tarball's path. */
export async function packBefore(commit: string, folder: string): Promise<string> {
	const source = join(folder, 'before');
	const archive = join(folder, 'before.tar');
	await mkdir(source);
	await runCommand('git', ['archive', '--output', archive, commit], { cwd: projectRoot });
	await runCommand('tar', ['-xf', archive, '-C', source], { cwd: folder });
	await symlink(join(projectRoot, 'node_modules'), join(source, 'node_modules'));
	for (const file of [
		'package.json',
		...globSync('{nodes,credentials}/**/*.ts', { cwd: source }),
	]) {
		const text = await readFile(join(source, file), 'utf8');
		const renamed = text
			.replaceAll("'resumeManagementApi'", `'${before.credentialType}'`)
			.replace('"name": "n8n-nodes-resume-management"', `"name": "${before.packageName}"`);
		await writeFile(join(source, file), renamed);
	}
	await runCommand('npm', ['run', 'build'], { cwd: source });
	return await packPackage(folder, undefined, source);
}
