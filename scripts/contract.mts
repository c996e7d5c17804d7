/**
 * `npm run contract`: fails where the built package breaks workflows that are saved today, or where
 * contract/public-names.json is not up to date; `-- --update` writes what was added to that file.
 */
import { parseArgs } from 'node:util';
import { projectRoot } from '../host/paths.mts';
import { describeError } from '../host/trouble.mts';
import { checkSavedNames } from './savedNames.mts';

try {
	const { values } = parseArgs({ options: { update: { type: 'boolean', default: false } } });
	console.log(await checkSavedNames(projectRoot, values.update));
} catch (error) {
	console.error(describeError(error));
	process.exitCode = 1;
}
