import { readFileSync } from 'node:fs';
import { readExamples } from '../../host/workspace.mts';
import { picturedFile, versionsNow } from '../support/gallery.mts';

test('the pictures show the example workflows as they are; `UPDATE_SCREENSHOTS=1 npm run test:browser` takes them', async () => {
	expect(JSON.parse(readFileSync(picturedFile, 'utf8'))).toEqual(await versionsNow());
});

test('no example hides a program: expressions have at most 250 characters, and Code nodes six lines', async () => {
	const programs: string[][] = [];
	for (const { file, definition } of await readExamples()) {
		JSON.stringify(definition.nodes, (name, value: unknown) => {
			// A parameter is an expression if it begins with "=".
			const hidden = name === 'jsCode' ? /(\n.*){6}|.{141}/ : /^=[^]{250}/;
			if (typeof value === 'string' && hidden.test(value)) programs.push([file, value]);
			return value;
		});
	}
	expect(programs).toEqual([]);
});
