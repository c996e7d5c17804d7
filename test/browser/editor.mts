import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, selectors } from 'playwright-core';
import type { Browser, Locator, Page, PageScreenshotOptions } from 'playwright-core';
import { projectRoot } from '../../host/paths.mts';
import { owner } from '../../host/workspace.mts';
import { addExamples, joinInstance } from '../host/instance.mts';
import type { Examples, SharedInstance } from '../host/instance.mts';

/** n8n with the examples, and a browser tab that is signed in to it as its owner. */
export let instance: Examples & SharedInstance;
export let page: Page;

/** Uncaught errors in the tab, and failed requests for the package's files. */
export const errors: string[] = [];

/** `UPDATE_SCREENSHOTS=1 npm run test:browser` writes the pictures of the documentation. */
export const updatesScreenshots = process.env.UPDATE_SCREENSHOTS === '1';

let browser: Browser;

const executables = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

async function launchChromium(): Promise<Browser> {
	const executablePath = process.env.CHROMIUM_PATH ?? executables.find(existsSync);
	if (executablePath === undefined) {
		throw new Error(
			'The browser tests need Chromium: install it (Debian and Ubuntu: `sudo apt-get install chromium`), or set CHROMIUM_PATH to the path of Chromium or Chrome, and run them again.',
		);
	}
	return await chromium.launch({
		executablePath,
		// Chromium's sandbox does not start as root, and only loopback addresses can be reached.
		args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
	});
}

export async function openEditor(): Promise<void> {
	selectors.setTestIdAttribute('data-test-id');
	browser = await launchChromium();
	const context = await browser.newContext({
		viewport: { width: 1400, height: 800 },
		colorScheme: 'light',
		permissions: ['clipboard-read', 'clipboard-write'],
	});
	// Beside other tests, the editor has taken 28 seconds for the first credential.
	context.setDefaultTimeout(90_000);
	const joined = await joinInstance();
	instance = { ...joined, ...(await addExamples(joined)) };
	page = await context.newPage();
	// n8n lays a checklist over an active workflow, sooner or later.
	const close = page.getByTestId('suggested-actions-close');
	await page.addLocatorHandler(close, async () => await close.click());
	// A busy machine takes long to load the editor for the first time.
	await page.goto(`${instance.url}/signin`, { timeout: 100_000 });
	await page.getByLabel('Email').fill(owner.email);
	await page.getByLabel('Password').fill(owner.password);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.waitForURL('**/home/**');
	page.on('pageerror', ({ message }) => {
		// n8n 2.41 throws this itself when the overview is opened from an editor whose panel was open.
		if (!message.startsWith('injectNDVStore()')) errors.push(message);
	});
	page.on('response', (response) => {
		// Operations whose response the specification does not show have no output schema.
		const isIcon = response.url().includes('/icons/n8n-nodes-resume-management/');
		if (isIcon && !response.ok()) errors.push(`${response.status()} ${response.url()}`);
	});
}

export async function closeEditor(): Promise<void> {
	await browser?.close();
	await instance?.close();
}

export const panel = () => page.getByTestId('ndv');
export const output = () => page.getByTestId('output-panel');

export async function findNode(): Promise<Locator> {
	await page.getByTestId('node-creator-plus-button').click();
	const nodesPanel = page.getByTestId('node-creator');
	await nodesPanel.getByTestId('node-creator-search-bar').fill('resume');
	await nodesPanel.getByTestId('node-creator-action-item').click();
	return nodesPanel;
}

export async function addNode(action: string): Promise<void> {
	await page
		.getByTestId('node-creator-item-name')
		.filter({ visible: true })
		.getByText(action, { exact: true })
		.click();
	await panel().waitFor();
}

export async function closePanel(): Promise<void> {
	await page.getByTestId('ndv-close-button').click();
	await panel().waitFor({ state: 'hidden' });
}

/** Returns the input of a field in an open panel or form, by its label. */
export function field(label: string): Locator {
	const exactly = new RegExp(`^\\s*${label}[\\s*]*$`);
	const labels = page.locator('.n8n-input-label span.n8n-text').filter({ hasText: exactly });
	return labels.locator('xpath=ancestor::label/../..').locator('input').last();
}

/** Changes a node, and waits until n8n saves it, which it delays. A node that runs earlier lacks the change. */
export async function change(saved: string, act: () => Promise<void>): Promise<void> {
	const saving = page.waitForRequest((request) => !!request.postData()?.includes(saved));
	await act();
	await saving;
}

/** Hides messages that pop up, the nodes beside a panel, and n8n's checklist. */
const withoutOverlays = `
	.el-notification,
	[data-test-id="floating-node"],
	[role="dialog"]:has([data-test-id="suggested-actions-close"]) { visibility: hidden !important; }
`;

/**
 * Writes a picture in docs/images, if the run updates screenshots.
 * @param subject the whole page, or the part of it to show
 * @param hidden more CSS, to hide parts of n8n
 */
export async function renewScreenshot(
	subject: Page | Locator,
	name: string,
	clip?: PageScreenshotOptions['clip'],
	hidden = '',
): Promise<void> {
	if (!updatesScreenshots) return;
	const path = join(projectRoot, 'docs', 'images', `${name}.png`);
	const style = withoutOverlays + hidden;
	await subject.screenshot({ path, style, animations: 'disabled', ...(clip && { clip }) });
}
