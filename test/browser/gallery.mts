import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { galleryFolder, picturedFile, versionsNow } from '../support/gallery.mts';
import { instance, page } from './editor.mts';
import { renewScreenshot, withoutOverlays } from './screenshot.mts';

/** What a person sees of the examples after `npm start`. */

/** Of every picture, in CSS pixels; about as wide as GitHub shows the README. */
const size = { width: 1_120, height: 920 };

/** What n8n's editor has around the canvas. */
const frame = { left: 42, top: 65, bottom: 37 };

const clip = { x: frame.left, y: frame.top, ...size };

type Box = Record<'left' | 'top' | 'right' | 'bottom', number>;

/** The buttons that n8n lays over the canvas. */
const canvasOnly = `
	[data-test-id="canvas-controls"], .vue-flow__panel, .vue-flow__minimap,
	[data-test-id="node-creator-plus-button"], [data-test-id="execute-workflow-button"],
	[class*="nodeButtonsWrapper"], [class*="executionButtons"], [class*="tabBarContainer"], [class*="tab-bar-container"]
	{ visibility: hidden !important; }
`;

/** Where they are taken: a unit test fails until the pictures show each workflow as it is. */
const withPictures = process.env.UPDATE_SCREENSHOTS === '1' ? it : it.skip;

withPictures(
	'shows each example whole, each node on the note of its section, and each note full of its text',
	async () => {
		const { width, height } = size;
		await page.setViewportSize({
			width: frame.left + width,
			height: frame.top + height + frame.bottom,
		});
		for (const { file, id } of instance.examples) {
			await page.goto(`${instance.url}/workflow/${id}`);
			const nodes = page.getByTestId('canvas-node');
			await nodes.first().waitFor();
			await page.keyboard.press('1');
			const boxes = await settled(nodes);
			const notes = await settled(page.getByTestId('sticky'));
			const [, ...sections] = notes;
			const stray = boxes.filter((box) => {
				const under = notes.filter((note) => overlap(box, note));
				return under.length !== 1 || !sections.some((section) => contains(section, box));
			});
			expect([file, stray]).toEqual([file, []]);
			const [main, ...others] = await fillings();
			expect([file, main]).toEqual([file, expect.closeTo(0.92, 1)]);
			expect([file, others.filter((filling) => filling > 1)]).toEqual([file, []]);
			const outside = [...boxes, ...notes].filter((box) => !within(box, clip));
			expect([file, outside]).toEqual([file, []]);
			await mkdir(galleryFolder, { recursive: true });
			const path = join(galleryFolder, `${file}.png`);
			await page.screenshot({
				path,
				clip,
				style: withoutOverlays + canvasOnly,
				animations: 'disabled',
			});
		}
		await writeFile(picturedFile, `${JSON.stringify(await versionsNow(), null, 2)}\n`);
	},
	900_000,
);

/** Where elements are once n8n no longer moves them. */
async function settled(elements: Locator): Promise<Box[]> {
	for (let before = ''; ;) {
		const boxes = await elements.evaluateAll((found) =>
			found.map((element) => {
				const { left, top, right, bottom } = element.getBoundingClientRect();
				return { left, top, right, bottom };
			}),
		);
		if (JSON.stringify(boxes) === before) return boxes;
		before = JSON.stringify(boxes);
		await page.waitForTimeout(300);
	}
}

/** How far down its note the text of each goes, 1 being the lower edge; first the main one. */
async function fillings(): Promise<number[]> {
	return await page.getByTestId('sticky').evaluateAll((notes) =>
		notes.map((note) => {
			const { top, height } = note.getBoundingClientRect();
			const blocks = note.querySelectorAll('p, li, h2, h3, table');
			const bottoms = Array.from<typeof note, number>(
				blocks,
				(block) => block.getBoundingClientRect().bottom,
			);
			return (Math.max(...bottoms) - top) / height;
		}),
	);
}

const contains = (outer: Box, inner: Box) =>
	inner.left >= outer.left &&
	inner.top >= outer.top &&
	inner.right <= outer.right &&
	inner.bottom <= outer.bottom;

const overlap = (one: Box, other: Box) =>
	one.left < other.right &&
	other.left < one.right &&
	one.top < other.bottom &&
	other.top < one.bottom;

const within = (box: Box, { x, y, width, height }: typeof clip) =>
	box.left >= x && box.top >= y && box.right <= x + width && box.bottom <= y + height;

it('shows what an event did that was sent by the sandbox', async () => {
	await page.setViewportSize({ width: 1400, height: 800 });
	const id = instance.exampleId('section-saved-score');
	instance.sandbox.webhooks.saveSection(2, { content: 'To be written.' });
	await instance.api.waitForExecutions(id, 1);
	await page.goto(`${instance.url}/workflow/${id}/executions`);
	await page.getByText('Succeeded').first().waitFor();
	const succeeded = page
		.getByTestId('canvas-node')
		.filter({ has: page.getByTestId('canvas-node-status-success') });
	await succeeded.filter({ hasText: 'Save row' }).waitFor();
	const names = await succeeded.evaluateAll((nodes) =>
		nodes.map((node) => node.getAttribute('data-node-name')),
	);
	expect(names).toEqual(['Section saved', 'Score', 'Row', 'Save row']);
	// Without n8n's sidebar and its log.
	const clip = { x: 42, y: 0, width: 1358, height: 700 };
	await renewScreenshot(page, 'receive-events', { clip });
});
