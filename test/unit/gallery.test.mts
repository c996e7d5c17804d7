import { readFileSync } from 'node:fs';
import { picturedFile, versionsNow } from '../support/gallery.mts';

test('the pictures show the example workflows as they are; `UPDATE_SCREENSHOTS=1 npm run test:browser` takes them', async () => {
	expect(JSON.parse(readFileSync(picturedFile, 'utf8'))).toEqual(await versionsNow());
});
