import { selectors, type Browser, type BrowserContext, type Page } from 'playwright-core';

import { startInstance, startMilliseconds, type Instance } from '../host/instance.mts';
import { launchChromium } from './chromium.mts';
import { closePanel, openEditor, openPanel, openWorkflow } from './editor.mts';
import { renewScreenshot } from './screenshot.mts';

/** What a person sees of an event, in the sandbox's console and in n8n's editor. */

let instance: Instance;
let browser: Browser;
let context: BrowserContext;
let editor: Page;
let workflowUrl: string;
/** What the browser's console shows in red. */
const errors: string[] = [];

beforeAll(async () => {
	// Before n8n is installed and started, which takes longer.
	browser = await launchChromium();
	instance = await startInstance();
	workflowUrl = `${instance.n8n.url}/workflow/${instance.exampleId('section-saved-score')}`;
	selectors.setTestIdAttribute('data-test-id');
	context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
	context.setDefaultTimeout(10_000);
	editor = await openEditor(context, instance.n8n.url);
	editor.on('pageerror', (error) => errors.push(error.message));
	editor.on('console', (message) => {
		// n8n asks for descriptions of a node's output, which a package may have.
		const isOptional = message.location().url.includes('/schemas/');
		if (message.type() === 'error' && !isOptional) errors.push(message.text());
	});
}, startMilliseconds);

afterAll(async () => {
	await browser?.close();
	await instance?.close();
}, 60_000);

it('shows an execution within 3 seconds after a section was saved in the console', async () => {
	const page = await context.newPage();
	await page.goto(instance.sandbox.url);
	await page.getByRole('link', { name: 'Emma Larsen' }).click();
	await page.getByRole('list', { name: 'Resumes' }).getByRole('link').click();
	await page.getByLabel('Content of section 2').fill('To be written.');

	const started = performance.now();
	await page.getByRole('button', { name: 'Save section 2' }).click();
	await page.getByText('Saved. 1 delivery queued.').waitFor();
	await editor.bringToFront();
	const executions = await listExecutions();
	const seconds = (performance.now() - started) / 1_000;

	process.stdout.write(`\nFrom Save to the execution in n8n's list: ${seconds.toFixed(1)} s\n\n`);
	expect(executions).toEqual([
		expect.stringMatching(/^Score a resume when a section is saved\s+Success/),
	]);
	expect(seconds).toBeLessThan(3);
});

/** Opens n8n's list of executions, and again until it shows one that has succeeded. */
async function listExecutions(): Promise<string[]> {
	const list = editor.getByTestId('global-execution-list-item');
	for (;;) {
		await editor.getByRole('link', { name: 'Executions', exact: true }).click();
		// n8n itself looks every four seconds.
		await editor.waitForTimeout(300);
		if (await list.filter({ hasText: 'Success' }).first().isVisible()) {
			return (await list.allInnerTexts()).map((text) => text.trim());
		}
		await editor.getByRole('link', { name: 'Workflows', exact: true }).click();
	}
}

it('shows what the execution did', async () => {
	await openWorkflow(editor, `${workflowUrl}/executions`);
	await editor.getByText('Succeeded').first().waitFor();
	const succeeded = editor
		.getByTestId('canvas-node')
		.filter({ has: editor.getByTestId('canvas-node-status-success') });
	await succeeded.filter({ hasText: 'Save verdict' }).waitFor();
	const names = await succeeded.evaluateAll((nodes) =>
		nodes.map((node) => node.getAttribute('data-node-name')),
	);
	expect(names).toEqual(['Section saved', 'Score', 'Score too low?', 'Needs work', 'Save verdict']);
	// Without n8n's sidebar and its log.
	const clip = { x: 42, y: 0, width: 1238, height: 670 };
	await renewScreenshot(editor, 'receive-events', { clip });
});

describe("the nodes' panels", () => {
	beforeAll(async () => {
		await openWorkflow(editor, workflowUrl);
	});

	it('tell which URL to hand over', async () => {
		await openPanel(editor, 'Section saved');
		await editor.getByText('Webhook URLs').click();
		await editor.getByText('Production URL', { exact: true }).first().click();
		const text = await editor.getByTestId('ndv').innerText();
		expect(text).toContain('Hand the Production URL above to your account manager');
		expect(text).toContain(instance.sandbox.webhooks.list()[0]!.url);
		await closePanel(editor);
	});

	it('list the operations', async () => {
		await openPanel(editor, 'Score');
		await editor.getByTestId('parameter-input-operation').getByRole('combobox').click();
		const names = await editor.getByRole('option').allInnerTexts();
		expect(names.map((name) => name.split('\n')[0])).toEqual([
			'Create',
			'Download',
			'Get',
			'Get Many',
			'Get Score',
			'Custom API Call',
		]);
	});

	it('cause no errors in the browser', () => {
		expect(errors).toEqual([]);
	});
});
