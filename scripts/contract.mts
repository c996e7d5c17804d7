/**
 * `npm run contract`: fails where the built package breaks what an earlier version promised, or where
 * the file that holds the promises is not up to date; `-- --update` writes that file.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { projectRoot } from '../host/paths.mts';
import { describeError } from '../host/trouble.mts';
import { checkFrozenNames, frozenNamesFile, updateFrozenNames } from './freeze.mts';

async function formatted(json: string): Promise<string> {
	const filepath = join(projectRoot, frozenNamesFile);
	return await format(json, { ...(await resolveConfig(filepath)), filepath });
}

try {
	const { values } = parseArgs({ options: { update: { type: 'boolean', default: false } } });
	if (values.update) {
		const written = await updateFrozenNames(projectRoot, formatted);
		console.log(written ? `${written} is written.` : 'Nothing has changed.');
	} else {
		await checkFrozenNames(projectRoot);
		console.log('Every public name is as promised.');
	}
} catch (error) {
	console.error(describeError(error));
	process.exitCode = 1;
}
