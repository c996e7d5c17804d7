import type { BrowserContext, Page } from 'playwright-core';
import { owner } from '../../host/workspace.mts';

/** Signs in to n8n's editor as its owner, in a new tab. */
export async function openEditor(context: BrowserContext, url: string): Promise<Page> {
	const page = await context.newPage();
	await page.goto(`${url}/signin`);
	await page.getByLabel('Email').fill(owner.email);
	await page.getByLabel('Password').fill(owner.password);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.waitForURL('**/home/**');
	return page;
}

/** Opens a workflow, and closes the checklist that n8n lays over it. */
export async function openWorkflow(page: Page, address: string): Promise<void> {
	await page.goto(address);
	const close = page.getByTestId('suggested-actions-close');
	await close.click();
	await close.waitFor({ state: 'hidden' });
}

/** Opens the panel of a node on the canvas. */
export async function openPanel(page: Page, node: string): Promise<void> {
	await page.locator(`[data-test-id="canvas-node"][data-node-name="${node}"]`).dblclick();
	await page.getByTestId('ndv').waitFor();
}

export async function closePanel(page: Page): Promise<void> {
	await page.keyboard.press('Escape');
	await page.getByTestId('ndv').waitFor({ state: 'hidden' });
}
