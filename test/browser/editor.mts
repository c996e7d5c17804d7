import { selectors, type Browser, type Locator, type Page } from 'playwright-core';
import { owner } from '../../host/workspace.mts';
import {
	addExamples,
	joinInstance,
	type Examples,
	type SharedInstance,
} from '../host/instance.mts';
import { launchChromium } from './chromium.mts';
import { watch, type Watch } from './watch.mts';

/** n8n with the examples, and a browser whose tab `page` is signed in to it as its owner. */
export let instance: Examples & SharedInstance;
export let page: Page;
/** What the tab has requested, and what went wrong in it. */
export let watched: Watch;

let browser: Browser;

/**
 * Opens the editor. The checklist that n8n lays over an active workflow is closed whenever it is in the
 * way: whether it shows up depends on what n8n loads first.
 */
export async function openEditor(): Promise<void> {
	selectors.setTestIdAttribute('data-test-id');
	browser = await launchChromium();
	const context = await browser.newContext({
		viewport: { width: 1400, height: 800 },
		colorScheme: 'light',
		permissions: ['clipboard-read', 'clipboard-write'],
	});
	context.setDefaultTimeout(30_000);
	const joined = await joinInstance();
	instance = { ...joined, ...(await addExamples(joined)) };
	page = await context.newPage();
	const close = page.getByTestId('suggested-actions-close');
	await page.addLocatorHandler(close, async () => await close.click());
	await page.goto(`${instance.url}/signin`);
	await page.getByLabel('Email').fill(owner.email);
	await page.getByLabel('Password').fill(owner.password);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.waitForURL('**/home/**');
	watched = watch(page, instance.url);
}

export async function closeEditor(): Promise<void> {
	await browser?.close();
	await instance?.close();
}

/** Searches the nodes panel, and opens the details of the only node that it finds. */
export async function findNode(text: string): Promise<Locator> {
	await page.getByTestId('node-creator-plus-button').click();
	const panel = page.getByTestId('node-creator');
	await panel.getByTestId('node-creator-search-bar').fill(text);
	await panel.getByTestId('node-creator-action-item').click();
	await panel.getByTestId('nodes-list-header').filter({ hasText: 'Node details' }).waitFor();
	return panel;
}

/** Adds a node by one of its actions or triggers, which opens its panel. */
export async function addNode(nodesPanel: Locator, action: string): Promise<void> {
	await nodesPanel
		.getByTestId('node-creator-item-name')
		.filter({ visible: true })
		.getByText(action, { exact: true })
		.click();
	await page.getByTestId('ndv').waitFor();
}

/** Opens the panel of a node on the canvas. */
export async function openPanel(node: string): Promise<void> {
	await page.locator(`[data-test-id="canvas-node"][data-node-name="${node}"]`).dblclick();
	await page.getByTestId('ndv').waitFor();
}

export async function closePanel(): Promise<void> {
	await page.getByTestId('ndv-close-button').click();
	await page.getByTestId('ndv').waitFor({ state: 'hidden' });
}

/** Executes the node of the open panel, and waits until it has ended, well or badly. */
export async function executeStep(): Promise<Locator> {
	const button = page.getByTestId('node-execute-button');
	await button.click();
	const output = page.getByTestId('output-panel');
	await output.getByTestId('run-data-item-count').waitFor();
	await button.getByText('Execute step').waitFor();
	return output;
}

/** The input of a parameter in an open panel, by the parameter's name. */
export function parameter(name: string): Locator {
	return page.getByTestId(`parameter-input-${name}`).locator('input');
}

/** The input of a field in an open panel or form, by the label that n8n shows. */
export function field(label: string): Locator {
	const exactly = new RegExp(`^\\s*${label}[\\s*]*$`);
	const labels = page.locator('.n8n-input-label span.n8n-text').filter({ hasText: exactly });
	return labels.locator('xpath=ancestor::label/../..').locator('input').last();
}

/**
 * Changes a node, and waits until this is saved: n8n holds back for a moment what is entered, and a
 * node that is executed before it has the value runs without it. What n8n saves, the node has.
 */
export async function change(saved: string, act: () => Promise<void>): Promise<void> {
	const saving = page.waitForRequest((request) => !!request.postData()?.includes(saved));
	await act();
	await saving;
}

/** Enters a text in a node's field, and waits until it is saved. */
export async function enter(into: Locator, text: string, saved: string): Promise<void> {
	await change(saved, async () => {
		await into.fill(text);
		await into.press('Enter');
	});
}

/** Drags what has this name in the panel's input to a field, and waits until the field is saved. */
export async function drag(name: string, to: Locator, saved: string): Promise<void> {
	const names = page.getByTestId('ndv-input-panel').getByTestId('run-data-schema-node-name');
	const dragged = names.getByText(name, { exact: true });
	await change(saved, async () => await dragged.dragTo(to, { steps: 8 }));
}

/** Closes the open panel, and opens the nodes panel behind the last node. */
export async function openNodesBehind(): Promise<void> {
	await closePanel();
	await page.getByLabel('Zoom to Fit').click();
	await page.getByTestId('canvas-handle-plus').click();
}

/** Searches the open nodes panel, and chooses the node of this name. */
export async function chooseNode(text: string, node: string): Promise<void> {
	const nodesPanel = page.getByTestId('node-creator');
	await nodesPanel.getByTestId('node-creator-search-bar').fill(text);
	const names = nodesPanel.getByTestId('node-creator-item-name');
	await names.getByText(node, { exact: true }).click();
}

/** Opens the trigger panel's URLs at the one that the service is to call. */
export async function showProductionUrl(): Promise<void> {
	await page.getByText('Webhook URLs', { exact: true }).click();
	await page.getByTestId('radio-button-production').click();
}
