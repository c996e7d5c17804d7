import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';
import { readPublicNames } from '../../scripts/publicNames.mts';

/** `npm run contract -- --update` writes the file. What a commit takes out of it needs a major version. */
it('has the public names that contract/ holds', () => {
	const saved = readFileSync(join(projectRoot, 'contract', 'public-names.json'), 'utf8');
	expect(readPublicNames(projectRoot)).toEqual(JSON.parse(saved));
});
