import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../../host/build.mts';

/** Before the tests of a level: they stand on `dist`, and share the folder `process.env.RUN_FOLDER`. */
export default async function prepareRun(): Promise<void> {
	await buildPackage();
	if (process.env.RUN_FOLDER !== undefined) return;
	const folder = mkdtempSync(join(tmpdir(), 'resume-management-run-'));
	process.env.RUN_FOLDER = folder;
	process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}
