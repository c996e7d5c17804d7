import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext, Locator, Page } from 'playwright-core';

import { withoutAssistant } from '../../host/workspace.mts';
import { galleryFolder, picturedFile, versionsNow } from '../../scripts/gallery.mts';
import { startInstance, startMilliseconds, type Instance } from '../host/instance.mts';
import { closeBrowser, openBrowser, openEditor, testMilliseconds } from './editor.mts';
import { withoutOverlays } from './screenshot.mts';

/** What a person sees who opens n8n after `npm start`: the list of the examples, and each of them. */

jest.setTimeout(testMilliseconds);

/** Of every picture, in CSS pixels; about as wide as GitHub shows the README. */
const size = { width: 1_120, height: 920 };

/** What n8n's editor has around the canvas. */
const frame = { left: 42, top: 65, bottom: 37 };

/** The buttons that n8n lays over the canvas. */
const canvasOnly = `
	[data-test-id="canvas-controls"], .vue-flow__panel, .vue-flow__minimap,
	[data-test-id="node-creator-plus-button"], [data-test-id="execute-workflow-button"],
	[class*="nodeButtonsWrapper"], [class*="executionButtons"], [class*="tabBarContainer"], [class*="tab-bar-container"]
	{ visibility: hidden !important; }
`;

let instance: Instance;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
	context = await openBrowser();
	instance = await startInstance(withoutAssistant);
	page = await openEditor(context, instance.n8n.url);
}, startMilliseconds);

afterAll(async () => {
	await closeBrowser(context);
	await instance?.close();
}, 60_000);

it('opens on the list of the examples', async () => {
	expect(new URL(page.url()).pathname).toBe('/home/workflows');
	const names = page.getByTestId('workflow-card-name');
	for (const { name } of instance.examples) await names.getByText(name, { exact: true }).waitFor();
});

it('shows each example whole, with no node on a note', async () => {
	const { width, height } = size;
	await page.setViewportSize({
		width: frame.left + width,
		height: frame.top + height + frame.bottom,
	});
	const clip = { x: frame.left, y: frame.top, ...size };
	for (const { file, id } of instance.examples) {
		await page.goto(`${instance.n8n.url}/workflow/${id}`);
		const nodes = page.getByTestId('canvas-node');
		await nodes.first().waitFor();
		await page.keyboard.press('1');
		const boxes = await settled(nodes);
		const notes = await settled(page.getByTestId('sticky'));
		const onNotes = boxes.filter((box) => notes.some((note) => overlap(box, note)));
		expect([file, onNotes]).toEqual([file, []]);
		const outside = [...boxes, ...notes].filter((box) => !within(box, clip));
		expect([file, outside]).toEqual([file, []]);
		if (process.env.UPDATE_SCREENSHOTS !== '1') continue;
		await mkdir(galleryFolder, { recursive: true });
		const path = join(galleryFolder, `${file}.png`);
		await page.screenshot({
			path,
			clip,
			style: withoutOverlays + canvasOnly,
			animations: 'disabled',
		});
	}
	if (process.env.UPDATE_SCREENSHOTS !== '1') return;
	await writeFile(picturedFile, `${JSON.stringify(await versionsNow(), null, 2)}\n`);
}, 900_000);

interface Box {
	x: number;
	y: number;
	width: number;
	height: number;
}

/** Where elements are once n8n no longer moves them. */
async function settled(elements: Locator): Promise<Box[]> {
	for (let before = ''; ;) {
		const boxes = await elements.evaluateAll((found) =>
			found.map((element) => {
				const { x, y, width, height } = element.getBoundingClientRect();
				return { x, y, width, height };
			}),
		);
		if (JSON.stringify(boxes) === before) return boxes;
		before = JSON.stringify(boxes);
		await page.waitForTimeout(300);
	}
}

function overlap(one: Box, other: Box): boolean {
	const apart = (start: 'x' | 'y', length: 'width' | 'height') =>
		one[start] + one[length] <= other[start] || other[start] + other[length] <= one[start];
	return !apart('x', 'width') && !apart('y', 'height');
}

function within(box: Box, frame: Box): boolean {
	return (
		box.x >= frame.x &&
		box.y >= frame.y &&
		box.x + box.width <= frame.x + frame.width &&
		box.y + box.height <= frame.y + frame.height
	);
}
