import type { Locator } from 'playwright-core';

import {
	addNode,
	change,
	chooseNode,
	closePanel,
	drag,
	enter,
	field,
	instance,
	openNodesBehind,
	page,
	showProductionUrl,
} from './editor.mts';
import { Guide } from './guide.mts';
import { renewScreenshot } from './screenshot.mts';

/** Does what docs/first-workflow.md tells its reader: each step goes on where the one before has ended. */

const guide = new Guide('first-workflow.md');
const told = (text: string) => guide.told(text);

/** An address of the sandbox, of which the page names the usual port. */
const usual = (address: string) => address.replace(/:\d+/, ':8787');

const button = (name: string) => page.getByRole('button', { name: told(name), exact: true });
const link = (name: string) => page.getByRole('link', { name: told(name), exact: true });
const input = (label: string) => field(told(label));
const picture = async (part: Locator, name: string) =>
	await renewScreenshot(part, told(`first-workflow/${name}`));
const panel = () => page.getByTestId('ndv');
const output = () => page.getByTestId('output-panel');

/** Executes the node of the open panel, whose output then says this. */
async function execute(outcome: string): Promise<void> {
	await page.getByTestId('node-execute-button').getByText(told('Execute step')).click();
	await output().getByText(told(outcome), { exact: true }).waitFor();
}

async function createWorkflow(): Promise<void> {
	await page.goto(`${instance.url}/home/credentials`);
	await link('Workflows').click();
	await button('Create workflow').click();
	await page.getByText(told('Add first step…')).waitFor();
	await page.getByTestId('canvas-plus-button').click();
	await chooseNode(told('resume'), told('Resume Management'));
}

async function add(action: string): Promise<void> {
	await addNode(page.getByTestId('node-creator'), told(action));
}

/** Adds a node of ours behind the last one. */
async function addBehind(action: string): Promise<void> {
	await openNodesBehind();
	await chooseNode('resume', 'Resume Management');
	await add(action);
}

guide.step('1. Create the credential', async () => {
	await page.goto(`${instance.url}/home/workflows`);
	await link('Credentials').click();
	await button('Create credential').click();
	await page.getByPlaceholder('Search for app...').fill(told('Resume Management API'));
	await page.getByTestId('new-credential-type-select-option').filter({ visible: true }).click();
	await button('Continue').click();
	const { baseUrl } = instance.sandbox;
	await input('Base URL').fill(baseUrl);
	await input('Private Key').fill(told('sandbox_live_key'));
	await input('Webhook Secret').fill(told('sandbox_webhook_secret'));
	await button('Save').click();
	await page.getByText(told('Connection tested successfully')).waitFor();
	const showUsual = (shown: { value: string }, value: string) => void (shown.value = value);
	await input('Base URL').evaluate(showUsual, told(usual(baseUrl)));
	const dialog = page.getByTestId('editCredential-modal');
	await picture(dialog, 'credential');
	await dialog.getByLabel('Close this dialog').click();
});

guide.step('2. List users', async () => {
	await createWorkflow();
	await page.getByTestId('node-creator-category-item').getByText(told('Actions')).click();
	await add('Get many users');
	await enter(input('Limit'), told('5'), '"limit":5');
	await execute('5 items');
});

guide.step('3. Read their resumes', async () => {
	['+', 'Zoom to Fit', 'resume', 'Resume Management'].forEach(told);
	await addBehind('Get many resumes');
	await drag(told('id'), input('User'), told('{{ $json.id }}'));
	await execute('15 items');
	await picture(panel(), 'resumes');
});

guide.step('4. Score each resume', async () => {
	await addBehind('Get the score of a resume');
	await drag(told('id'), input('Resume'), '"resumeId":{"__rl":true,"value":"={{');
	await panel().getByPlaceholder(told('Add Option')).first().click();
	await page.getByRole('option', { name: told('Fields to Return') }).click();
	await enter(input('Fields to Return'), told('resumeId, score'), '"resumeId, score"');
	await execute('15 items');
});

guide.step('5. Keep the low scores', async () => {
	await openNodesBehind();
	await chooseNode('filter', told('Filter'));
	const value1 = panel().getByPlaceholder(told('value1'));
	await drag(told('score'), value1, '"leftValue":"={{ $json.score }}"');
	await page.getByTestId('filter-operator-select').click();
	await page.getByRole('menuitem', { name: told('Number') }).hover();
	await page.getByRole('menuitem', { name: told('is less than'), exact: true }).click();
	const value2 = page.getByTestId('filter-condition-right').locator('input');
	await enter(value2, told('70'), '"rightValue":70');
	await execute('Kept (2 items)');
	await picture(panel(), 'filter');
});

guide.step('6. Preview an upgrade', async () => {
	const before = instance.sandbox.requests.length;
	await addBehind('Upgrade a plan (bills)');
	const nodes = page.getByTestId('run-data-schema-header');
	await nodes.filter({ hasText: told('Get many users') }).click();
	await drag(told('email'), input('Email'), '.item.json.email }}');
	await enter(input('Plan ID'), told('plan_pro'), '"plan_pro"');
	const preview = page.getByTestId(`parameter-input-${told('Preview').toLowerCase()}`);
	await change('"preview":true', async () => await preview.locator('.el-switch').click());
	await execute('2 items');
	expect(instance.sandbox.requests).toHaveLength(before);
	await output().getByTestId('radio-button-json').click();
	await picture(panel(), 'preview');
});

guide.step('7. Start on an event', async () => {
	await createWorkflow();
	await add('On resume section saved');
	['Webhook URLs', 'Production URL'].forEach(told);
	await showProductionUrl();
	await panel().getByText(`${instance.url}/webhook/`).click();
	await closePanel();
	await button('Publish').click();
	await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
	await button('Got it').click();

	const sandbox = await page.context().newPage();
	const open = async (name: string) =>
		await sandbox.getByRole('link', { name: told(name) }).click();
	told(usual(instance.sandbox.url));
	await sandbox.goto(instance.sandbox.url);
	await open('Webhooks');
	await sandbox.getByLabel(told('URL')).press('Control+V');
	await sandbox.getByLabel(told('Signature')).selectOption(told('header'));
	await sandbox.getByLabel(told('Secret')).fill(told('sandbox_webhook_secret'));
	await sandbox.getByLabel(told('Header name')).fill(told('X-Webhook-Secret'));
	await sandbox.getByRole('button', { name: told('Register') }).click();
	await open('Users');
	await open('Emma Larsen');
	await sandbox.getByRole('list', { name: 'Resumes' }).getByRole('link').click();
	await sandbox.getByRole('button', { name: told('Save section 2') }).click();
	await sandbox.getByText('Saved. 2 deliveries queued.').waitFor();

	await page.getByRole('radio', { name: told('Executions') }).click();
	await page.getByText('Succeeded').first().waitFor();
	await page.getByTestId('canvas-node').dblclick();
	await output().getByTestId('radio-button-table').click();
	await output().getByText('section-0002').waitFor();
	await picture(panel(), 'event');
});

guide.end();
