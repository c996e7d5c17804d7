import { readFileSync } from 'node:fs';
import { hiddenPrograms, picturedFile, versionsNow } from '../support/gallery.mts';

test('the pictures show the example workflows as they are; `UPDATE_SCREENSHOTS=1 npm run test:browser` takes them', async () => {
	expect(JSON.parse(readFileSync(picturedFile, 'utf8'))).toEqual(await versionsNow());
});

test('no example hides a program: expressions have at most 250 characters, and Code nodes six lines', async () => {
	expect(await hiddenPrograms()).toEqual([]);
});
