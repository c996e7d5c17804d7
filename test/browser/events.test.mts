import type { BrowserContext, Page } from 'playwright-core';

import { startInstance, startMilliseconds, type Instance } from '../host/instance.mts';
import {
	closeBrowser,
	openBrowser,
	openEditor,
	openPanel,
	showProductionUrl,
	testMilliseconds,
} from './editor.mts';
import { Journal } from './journal.mts';
import { renewScreenshot } from './screenshot.mts';
import { watch, type Watch } from './watch.mts';

/** What a person sees of an event, in the sandbox's console and in n8n's editor. */

jest.setTimeout(testMilliseconds);

const journal = new Journal('An event, from the sandbox to n8n');
let instance: Instance;
let context: BrowserContext;
let editor: Page;
let watched: Watch;
let workflowUrl: string;

beforeAll(async () => {
	// Before n8n is installed and started, which takes longer.
	context = await openBrowser();
	instance = await startInstance();
	workflowUrl = `${instance.n8n.url}/workflow/${instance.exampleId('section-saved-score')}`;
	editor = await openEditor(context, instance.n8n.url);
	watched = watch(editor, instance.n8n.url);
}, startMilliseconds);

afterAll(async () => {
	journal.print();
	await closeBrowser(context);
	await instance?.close();
}, 60_000);

it('runs the workflow when a section is saved in the console', async () => {
	const page = await context.newPage();
	await page.goto(instance.sandbox.url);
	await page.getByRole('link', { name: 'Emma Larsen' }).click();
	await page.getByRole('list', { name: 'Resumes' }).getByRole('link').click();
	await page.getByLabel('Content of section 2').fill('To be written.');

	const saving = page.waitForRequest((request) => request.method() === 'POST');
	await page.getByRole('button', { name: 'Save section 2' }).click();
	await page.getByText('Saved. 1 delivery queued.').waitFor();
	await editor.bringToFront();
	expect(await listExecutions()).toEqual([
		expect.stringMatching(/^Score a resume when a section is saved\s+Success/),
	]);
	// By n8n's record: a browser on a busy machine takes seconds to click and to show.
	const [execution] = await instance.api.listExecutions(instance.exampleId('section-saved-score'));
	const saved = (await saving).timing().startTime;
	const seconds = (Date.parse(execution!.stoppedAt!) - saved) / 1_000;
	await instance.sandbox.webhooks.idle();
	expect(instance.sandbox.webhooks.deliveries()).toMatchObject([{ status: 'delivered' }]);
	journal.add(
		'Section saved in the console',
		`has run after ${seconds.toFixed(1)} s, and is listed`,
	);
});

/** Opens n8n's list of executions, and again until it shows one that has succeeded. */
async function listExecutions(): Promise<string[]> {
	const list = editor.getByTestId('global-execution-list-item');
	for (;;) {
		await editor.getByRole('link', { name: 'Executions', exact: true }).click();
		// n8n itself looks every four seconds.
		const succeeded = list.filter({ hasText: 'Success' }).first().waitFor({ timeout: 500 });
		if (await succeeded.then(() => true).catch(() => false)) {
			return (await list.allInnerTexts()).map((text) => text.trim());
		}
		await editor.getByRole('link', { name: 'Workflows', exact: true }).click();
	}
}

it('shows what the execution did', async () => {
	await editor.goto(`${workflowUrl}/executions`);
	await editor.getByText('Succeeded').first().waitFor();
	const succeeded = editor
		.getByTestId('canvas-node')
		.filter({ has: editor.getByTestId('canvas-node-status-success') });
	await succeeded.filter({ hasText: 'Save verdict' }).waitFor();
	const names = await succeeded.evaluateAll((nodes) =>
		nodes.map((node) => node.getAttribute('data-node-name')),
	);
	expect(names).toEqual(['Section saved', 'Score', 'Score too low?', 'Needs work', 'Save verdict']);
	journal.add('What the execution did', `${names.length} nodes succeeded`);
	// Without n8n's sidebar and its log.
	const clip = { x: 42, y: 0, width: 1358, height: 700 };
	await renewScreenshot(editor, 'receive-events', { clip });
});

it('shows the URL that the sandbox calls in the panel of the trigger', async () => {
	await editor.goto(workflowUrl);
	await openPanel(editor, 'Section saved');
	await showProductionUrl(editor);
	const { url } = instance.sandbox.webhooks.list()[0]!;
	await editor.getByTestId('ndv').getByText(url).waitFor();
	journal.add('Panel of the trigger', new URL(url).pathname);
});

it('causes no errors in the browser', () => {
	expect(watched.errors).toEqual([]);
});
