import { writeFile } from 'node:fs/promises';
import { picturedFile, versionsNow } from '../support/gallery.mts';
import { instance, page, renewScreenshot, updatesScreenshots } from './editor.mts';

const withPictures = updatesScreenshots ? it : it.skip;

/** The size of a picture in CSS pixels, about as wide as GitHub shows the README. */
const size = { width: 1_120, height: 920 };

const frame = { left: 42, top: 65, bottom: 37 };

const buttons = `
	[data-test-id="canvas-controls"], .vue-flow__panel, .vue-flow__minimap,
	[data-test-id="node-creator-plus-button"], [data-test-id="execute-workflow-button"],
	[class*="nodeButtonsWrapper"], [class*="executionButtons"], [class*="tabBarContainer"], [class*="tab-bar-container"]
	{ visibility: hidden !important; }
`;

withPictures(
	'takes a picture of each example',
	async () => {
		await page.setViewportSize({
			width: frame.left + size.width,
			height: frame.top + size.height + frame.bottom,
		});
		for (const { file, id } of instance.examples) {
			await page.goto(`${instance.url}/workflow/${id}`);
			await page.getByTestId('canvas-node').first().waitFor();
			// n8n's shortcut for Zoom to Fit.
			await page.keyboard.press('1');
			await page.waitForTimeout(2_000);
			const clip = { x: frame.left, y: frame.top, ...size };
			await renewScreenshot(page, `workflows/${file}`, clip, buttons);
		}
		await writeFile(picturedFile, `${JSON.stringify(await versionsNow(), null, 2)}\n`);
	},
	900_000,
);

withPictures('takes a picture of an execution that an event has started', async () => {
	await page.setViewportSize({ width: 1400, height: 800 });
	const id = instance.exampleId('section-saved-score');
	instance.sandbox.webhooks.saveSection(2, { content: 'To be written.' });
	await instance.api.waitForExecutions(id, 1);
	await page.goto(`${instance.url}/workflow/${id}/executions`);
	await page.getByText('Succeeded').first().waitFor();
	// Without n8n's sidebar and its log.
	await renewScreenshot(page, 'receive-events', { x: 42, y: 0, width: 1358, height: 700 });
});
