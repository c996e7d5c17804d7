import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page, PageScreenshotOptions } from 'playwright-core';
import { projectRoot } from '../../host/paths.mts';

const folder = join(projectRoot, 'docs', 'images');

/**
 * Renews a picture of the documentation, by `UPDATE_SCREENSHOTS=1 npm run test:browser`. Without the
 * variable it does nothing: a test run changes no files.
 */
export async function renewScreenshot(
	page: Page,
	name: string,
	options: PageScreenshotOptions,
): Promise<void> {
	if (process.env.UPDATE_SCREENSHOTS !== '1') return;
	await mkdir(folder, { recursive: true });
	await page.screenshot({ path: join(folder, `${name}.png`), ...options });
}
