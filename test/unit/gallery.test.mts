import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { galleryFolder, pictured, versionsNow } from '../support/gallery.mts';

/** `UPDATE_SCREENSHOTS=1 npm run test:browser -- gallery` takes the pictures anew. */
it('shows every example workflow as it is now', async () => {
	expect(await pictured()).toEqual(await versionsNow());
});

it('has a picture of one size for each', async () => {
	const files = readdirSync(galleryFolder).filter((name) => name.endsWith('.png'));
	expect(files.sort()).toEqual(
		Object.keys(await pictured())
			.map((file) => `${file}.png`)
			.sort(),
	);
	// Width and height follow the signature and the name of the first chunk (https://www.w3.org/TR/png-3/#11IHDR).
	const sizes = files.map((file) =>
		readFileSync(join(galleryFolder, file)).subarray(16, 24).toString('hex'),
	);
	expect(new Set(sizes).size).toBe(1);
});
