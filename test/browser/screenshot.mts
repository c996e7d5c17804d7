import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page, PageScreenshotOptions } from 'playwright-core';
import { projectRoot } from '../../host/paths.mts';

const folder = join(projectRoot, 'docs', 'images');

/**
 * Messages that pop up for some seconds, the next nodes, which peep out from behind a panel, and the
 * checklist of an active workflow.
 */
export const withoutOverlays = `
	.el-notification,
	[data-test-id="floating-node"],
	[role="dialog"]:has([data-test-id="suggested-actions-close"]) { visibility: hidden !important; }
`;

/**
 * Renews a picture of the documentation, by `UPDATE_SCREENSHOTS=1 npm run test:browser`. Without the
 * variable it does nothing: a test run changes no files.
 *
 * @param subject the whole page, or the part of it to show
 */
export async function renewScreenshot(
	subject: Page | Locator,
	name: string,
	options: Pick<PageScreenshotOptions, 'clip'> = {},
): Promise<void> {
	if (process.env.UPDATE_SCREENSHOTS !== '1') return;
	await mkdir(folder, { recursive: true });
	const path = join(folder, `${name}.png`);
	await subject.screenshot({ path, style: withoutOverlays, animations: 'disabled', ...options });
}
