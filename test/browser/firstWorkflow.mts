import type { Locator } from 'playwright-core';
import { read } from '../support/files.mts';
import {
	addNode,
	change,
	closePanel,
	field,
	instance,
	output,
	page,
	panel,
	renewScreenshot,
} from './editor.mts';

/** Follows docs/first-workflow.md. Each numbered heading is a step, which continues where the last one ended. */

const [, ...numbered] = read('docs/first-workflow.md').split(/^## (?=\d)/m);
const sections = new Map(numbered.map((section) => [section.split('\n')[0]!, section]));

/** Bold, italic and code texts of the current step's section, and its pictures. */
let named = new Set<string>();
/** Those that the step has not used yet. */
let unused = new Set<string>();

/** Defines the test of a step. It fails if the section names a button, a field or a value that the step does not use. */
function step(heading: string, act: () => Promise<void>): void {
	it(heading, async () => {
		const [section = ''] = sections.get(heading)!.split(/^## /m);
		const marks = /\*\*(.+?)\*\*|\b_(.+?)_\b|`(.+?)`|images\/(.+?)\.png/g;
		named = new Set(Array.from(section.matchAll(marks), (mark) => mark.slice(1).find(Boolean)!));
		unused = new Set(named);
		await act();
		expect([...unused]).toEqual([]);
		sections.delete(heading);
	});
}

/** Returns a text, which the current step's section must name. */
function onPage(text: string): string {
	expect([...named]).toContain(text);
	unused.delete(text);
	return text;
}

/** Returns an address of the sandbox with the port of `npm start`. */
const usual = (address: string) => address.replace(/:\d+/, ':8787');

const button = (name: string) => page.getByRole('button', { name: onPage(name), exact: true });
const link = (name: string) => page.getByRole('link', { name: onPage(name), exact: true });
const input = (label: string) => field(onPage(label));
const picture = async (part: Locator, name: string) =>
	await renewScreenshot(part, onPage(`first-workflow/${name}`));

/** Executes the node of the open panel, whose output then has a text. */
async function execute(outcome: string): Promise<void> {
	await page.getByTestId('node-execute-button').getByText(onPage('Execute step')).click();
	await output().getByText(onPage(outcome), { exact: true }).waitFor();
}

/** Types into the search of the open nodes panel, and chooses the first node that it finds. */
async function chooseNode(text: string, node: string): Promise<void> {
	const nodesPanel = page.getByTestId('node-creator');
	await nodesPanel.getByTestId('node-creator-search-bar').pressSequentially(text);
	const names = nodesPanel.getByTestId('node-creator-item-name');
	await names
		.first()
		.and(names.getByText(node, { exact: true }))
		.waitFor();
	await page.keyboard.press('Enter');
}

async function createWorkflow(): Promise<void> {
	await button('Create workflow').click();
	await page.getByText(onPage('Add first step…')).waitFor();
	onPage('+');
	await page.getByTestId('canvas-plus-button').click();
	await chooseNode(onPage('resume management'), 'Resume Management');
}

/** Closes the open panel, and adds a node behind the last one. */
async function addBehind(search: string, node: string, action?: string): Promise<void> {
	await closePanel();
	await page.getByLabel('Zoom to Fit').click();
	await page.getByTestId('canvas-handle-plus').click();
	await chooseNode(search, node);
	if (action) await addNode(onPage(action));
}

/** Enters a text in a node's field, and waits until it is saved. */
async function enter(into: Locator, text: string, saved: string): Promise<void> {
	await change(saved, async () => {
		await into.fill(text);
		await into.press('Enter');
	});
}

/** Drags a field of the panel's input to a parameter, and waits until it is saved. */
async function drag(name: string, to: Locator, saved: string): Promise<void> {
	const names = page.getByTestId('ndv-input-panel').getByTestId('run-data-schema-node-name');
	const dragged = names.getByText(onPage(name), { exact: true });
	await change(saved, async () => await dragged.dragTo(to, { steps: 8 }));
}

step('1. Create the credential', async () => {
	await page.goto(`${instance.url}/home/workflows`);
	await link('Credentials').click();
	await button('Create credential').click();
	await page.getByPlaceholder('Search for app...').fill(onPage('Resume Management API'));
	await page.getByTestId('new-credential-type-select-option').filter({ visible: true }).click();
	await button('Continue').click();
	const { baseUrl } = instance.sandbox;
	await input('Base URL').fill(baseUrl);
	await input('Private Key').fill('a_wrong_key');
	await input('Webhook Secret').fill(onPage('sandbox_webhook_secret'));
	await button('Save').click();
	const dialog = page.getByTestId('editCredential-modal');
	await dialog.getByText('More details').click();
	await dialog.getByText('Check that Private Key is complete').waitFor();
	await input('Private Key').fill(onPage('sandbox_live_key'));
	await button('Save').click();
	await page.getByText(onPage('Connection tested successfully')).waitFor();
	const showUsual = (shown: { value: string }, value: string) => void (shown.value = value);
	await input('Base URL').evaluate(showUsual, onPage(usual(baseUrl)));
	await picture(dialog, 'credential');
	await renewScreenshot(dialog, 'credential');
	await dialog.getByLabel('Close this dialog').click();
});

step('2. List users', async () => {
	await link('Workflows').click();
	await createWorkflow();
	await page.getByTestId('node-creator-category-item').getByText(onPage('Actions')).click();
	await addNode(onPage('Get many users'));
	await enter(input('Limit'), onPage('5'), '"limit":5');
	await execute('5 items');
});

step('3. Read their resumes', async () => {
	['+', 'Zoom to Fit', 'resume management'].forEach(onPage);
	await addBehind('resume management', 'Resume Management', 'Get many resumes');
	await drag('id', input('User'), onPage('{{ $json.id }}'));
	await execute('15 items');
	await picture(panel(), 'resumes');
});

step('4. Score each resume', async () => {
	await addBehind('resume management', 'Resume Management', 'Get resume score');
	onPage('Resumes of User');
	await drag('id', input('Resume'), '"resumeId":{"__rl":true,"value":"={{');
	await panel().getByPlaceholder(onPage('Add Option')).first().click();
	await page.getByRole('option', { name: onPage('Fields to Return') }).click();
	await enter(input('Fields to Return'), onPage('resumeId, score'), '"resumeId, score"');
	await execute('15 items');
});

step('5. Keep the low scores', async () => {
	await addBehind('filter', onPage('Filter'));
	const value1 = panel().getByPlaceholder(onPage('value1'));
	await drag('score', value1, '"leftValue":"={{ $json.score }}"');
	await page.getByTestId('filter-operator-select').click();
	await page.getByRole('menuitem', { name: onPage('Number') }).hover();
	await page.getByRole('menuitem', { name: onPage('is less than'), exact: true }).click();
	const value2 = page.getByTestId('filter-condition-right').locator('input');
	await enter(value2, onPage('70'), '"rightValue":70');
	await execute('Kept (2 items)');
	await picture(panel(), 'filter');
});

step('6. Preview an upgrade', async () => {
	const before = instance.sandbox.requests.length;
	await addBehind('resume management', 'Resume Management', 'Upgrade plan (bills)');
	const preview = page.getByTestId(`parameter-input-${onPage('Preview').toLowerCase()}`);
	await change('"preview":true', async () => await preview.locator('.el-switch').click());
	await enter(input('Plan ID'), onPage('plan_pro'), '"plan_pro"');
	const nodes = page.getByTestId('run-data-schema-header');
	await nodes.filter({ hasText: onPage('Get many users') }).click();
	await drag('email', input('Email'), '.item.json.email }}');
	await preview.locator('.el-switch.is-checked').waitFor();
	await execute('2 items');
	expect(instance.sandbox.requests).toHaveLength(before);
	await output().getByTestId('radio-button-json').click();
	await picture(panel(), 'preview');
	await renewScreenshot(panel(), 'preview-upgrade');
});

step('7. Start on an event', async () => {
	await closePanel();
	await page.getByRole('menuitem', { name: onPage('Overview') }).click();
	await createWorkflow();
	await addNode(onPage('On resume section saved'));
	['Webhook URLs', 'Production URL'].forEach(onPage);
	await page.getByText('Webhook URLs', { exact: true }).click();
	await page.getByTestId('radio-button-production').click();
	await panel().getByText('Ask your account manager how to register').waitFor();
	await renewScreenshot(panel(), 'trigger');
	await panel().getByText(`${instance.url}/webhook/`).click();
	await closePanel();
	await button('Publish').click();
	await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
	await button('Got it').click();

	const sandbox = await page.context().newPage();
	const open = async (name: string) =>
		await sandbox.getByRole('link', { name: onPage(name) }).click();
	onPage(usual(instance.sandbox.url));
	await sandbox.goto(instance.sandbox.url);
	await open('Webhooks');
	await sandbox.getByLabel(onPage('URL')).press('Control+V');
	await sandbox.getByLabel(onPage('Signature')).selectOption(onPage('header'));
	await sandbox.getByLabel(onPage('Secret')).fill(onPage('sandbox_webhook_secret'));
	await sandbox.getByLabel(onPage('Header name')).fill(onPage('X-Webhook-Secret'));
	await sandbox.getByRole('button', { name: onPage('Register') }).click();
	await open('Users');
	await open('Emma Larsen');
	await sandbox.getByRole('list', { name: 'Resumes' }).getByRole('link').click();
	await sandbox.getByRole('button', { name: onPage('Save section 2') }).click();
	await sandbox.getByText('Saved. 2 deliveries queued.').waitFor();
	// Behind another tab, the browser draws the editor once a second.
	await sandbox.close();
	await page.getByRole('radio', { name: onPage('Executions') }).click();
	await page.getByText('Succeeded').first().waitFor();
	await page.getByTestId('canvas-node').dblclick();
	await output().getByTestId('radio-button-table').click();
	await output().getByText('section-0002').waitFor();
	await picture(panel(), 'event');
});

it('each step of the page has a test', () => {
	expect([...sections.keys()]).toEqual([]);
});
