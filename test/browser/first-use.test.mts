import type { BrowserContext, Page } from 'playwright-core';

import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { startEmptyInstance, startMilliseconds, type EmptyInstance } from '../host/instance.mts';
import { offeredOperations } from '../support/openapi.mts';
import {
	addNode,
	closeBrowser,
	closePanel,
	executeStep,
	findNode,
	openBrowser,
	openEditor,
	openPanel,
	parameter,
	showProductionUrl,
	testMilliseconds,
} from './editor.mts';
import { Journal } from './journal.mts';
import { renewScreenshot } from './screenshot.mts';
import { watch, type Watch } from './watch.mts';

/** A person's first minutes with the nodes: each test goes on where the one before has ended. */

jest.setTimeout(testMilliseconds);

const journal = new Journal('First use, in an n8n with nothing in it');
let instance: EmptyInstance;
let context: BrowserContext;
let page: Page;
let watched: Watch;

beforeAll(async () => {
	// Before n8n is installed and started, which takes longer.
	context = await openBrowser();
	instance = await startEmptyInstance();
	page = await openEditor(context, instance.n8n.url);
	watched = watch(page, instance.n8n.url);
}, startMilliseconds);

afterAll(async () => {
	journal.print();
	await closeBrowser(context);
	await instance?.close();
}, 60_000);

it('tells a wrong private key from the right one when the credential is saved', async () => {
	await page.goto(`${instance.n8n.url}/home/credentials`);
	await page.getByTestId('add-resource-credential').click();
	await page.getByTestId('new-credential-type-select').locator('input').fill('resume');
	await page
		.getByTestId('new-credential-type-select-option')
		.filter({ visible: true, hasText: 'Resume Management API' })
		.click();
	await page.getByTestId('new-credential-type-button').click();

	await parameter(page, 'baseUrl').fill(instance.sandbox.baseUrl);
	await parameter(page, 'privateKey').fill('a_wrong_key');
	await page.getByTestId('credential-save-button').click();
	const dialog = page.getByTestId('editCredential-modal');
	await dialog.getByText('More details').click();
	const sentence = dialog.getByText('Check that Private Key is complete');
	journal.add('Credential with a wrong key', await sentence.innerText());

	await parameter(page, 'privateKey').fill(SANDBOX_KEYS.live);
	await page.getByTestId('credential-save-button').click();
	const success = dialog.getByTestId('credentials-config-container-test-success');
	await success.getByText('Connection tested successfully').waitFor();
	journal.add('Credential with the right key', 'Connection tested successfully');
	await renewScreenshot(dialog, 'credential');
});

/** Get and Send of Custom Request, which the OpenAPI document does not have. */
const customRequests = 2;

/** Adds the action node from n8n's folded list of its actions. */
async function addAction(page: Page, action: string): Promise<void> {
	const details = await findNode(page, 'resume');
	await details.getByTestId('node-creator-category-item').filter({ hasText: 'Actions' }).click();
	await addNode(page, details, action);
}

describe('in a new workflow', () => {
	beforeEach(async () => {
		await page.goto(`${instance.n8n.url}/workflow/new`);
	});

	it('finds the node, picks a user from the list and reads it', async () => {
		const details = await findNode(page, 'resume');
		const categories = details.getByTestId('node-creator-category-item');
		await categories.filter({ hasText: 'Actions' }).click();
		const actions = offeredOperations().length + customRequests;
		const found = ['Triggers (2)', `Actions (${actions})`];
		expect(await categories.allInnerTexts()).toEqual(found);
		journal.add('Nodes panel, searched for "resume"', found.join(', '));
		await addNode(page, details, 'Get a user');

		await page.getByTestId('parameter-input-operation').getByRole('combobox').click();
		const options = page.getByRole('option').filter({ visible: true });
		await options.first().waitFor();
		const names = (await options.allInnerTexts()).map((text) => text.split('\n')[0]);
		expect(names).toEqual(['Get', 'Get Many', 'Get Token', 'Custom API Call']);
		journal.add('Operations of User', names.join(', '));
		await options.first().click();

		await page.getByTestId('rlc-input').click();
		const users = page.getByTestId('rlc-item');
		await users.nth(59).waitFor();
		expect(await users.count()).toBe(60);
		await page.getByTestId('rlc-search').fill('KELL');
		await users.filter({ hasText: 'emma.larsen' }).waitFor({ state: 'detached' });
		await users.filter({ hasText: 'Sophia Keller · sophia.keller@example.com' }).waitFor();
		expect(await users.count()).toBe(1);
		journal.add('List of users', '60, and 1 when searched for "KELL"');
		await users.click();

		const output = await executeStep(page);
		await output.getByTestId('node-run-status-success').waitFor();
		await output.getByTestId('radio-button-schema').click();
		const fields = output.getByTestId('run-data-schema-item');
		await fields.getByText('sophia.keller@example.com').waitFor();
		journal.add('Output', `1 item with ${await fields.count()} fields`);
		await renewScreenshot(page.getByTestId('ndv'), 'get-user');
	});

	it('shows what an upgrade returns before it runs, and why it failed', async () => {
		await addAction(page, 'Upgrade a plan (bills)');
		await parameter(page, 'email').fill('sophia.keller@example.com');
		await parameter(page, 'planId').fill(SANDBOX_PLANS.failingPayment);
		await closePanel(page);

		await addNode(page, await findNode(page, 'resume'), 'Get a user token');
		const input = page.getByTestId('ndv-input-panel');
		await input.getByTestId('schema-preview-warning').waitFor();
		for (const field of ['current_period_start', 'current_period_end', 'status', 'plan_id']) {
			const item = input.getByTestId('run-data-schema-item');
			await item.getByText(field, { exact: true }).waitFor();
		}
		journal.add('Preview of what an upgrade returns', 'current_period_end, plan_id and others');
		await closePanel(page);

		await openPanel(page, 'Upgrade a plan (bills)');
		const output = await executeStep(page);
		const message = await output.getByTestId('node-error-message').innerText();
		const description = await output.getByTestId('node-error-description').innerText();
		expect(message).toBe('The service answered: stripe error (plan-upgrade-1)');
		expect(description).toBe(
			'The payment provider reported a failure. Contact your account manager before you send this upgrade again.',
		);
		journal.add('A failed upgrade', `${message}. ${description}`);
		await renewScreenshot(page.getByTestId('ndv'), 'failed-upgrade');
	});

	it('finds a user by e-mail', async () => {
		await addAction(page, 'Get a user');
		await page.getByTestId('rlc-mode-selector').click();
		await page.getByRole('option', { name: 'By Email' }).click();
		const email = 'Sophia.Keller@example.com';
		// n8n holds back what is entered right after a mode is chosen, and a node that is executed
		// before it has the value does not start. What n8n saves, the node has.
		const saving = page.waitForRequest((request) => !!request.postData()?.includes(email));
		await page.getByTestId('rlc-input').fill(email);
		await saving;
		const output = await executeStep(page);
		await output.getByTestId('node-run-status-success').waitFor();
		await output.getByTestId('radio-button-schema').click();
		const fields = output.getByTestId('run-data-schema-item');
		await fields.getByText('sophia.keller@example.com').waitFor();
		journal.add('A user by e-mail', email);
		await renewScreenshot(page.getByTestId('ndv'), 'user-by-email');
	});

	it('previews an upgrade, and bills nothing', async () => {
		const before = instance.sandbox.requests.length;
		await addAction(page, 'Upgrade a plan (bills)');
		await parameter(page, 'email').fill('sophia.keller@example.com');
		await parameter(page, 'planId').fill(SANDBOX_PLANS.pro);
		await page.getByTestId('parameter-input-preview').locator('.el-switch').click();
		const output = await executeStep(page);
		await output.getByTestId('radio-button-json').click();
		await output.getByText('"/plan/upgrade"').waitFor();
		expect(instance.sandbox.requests).toHaveLength(before);
		journal.add('A preview', 'POST /plan/upgrade and its body; nothing was sent');
		await renewScreenshot(page.getByTestId('ndv'), 'preview-upgrade');
	});

	it('sends a custom request', async () => {
		await addAction(page, 'Get with a custom request');
		await parameter(page, 'path').fill('/user/user-002');
		const output = await executeStep(page);
		await output.getByTestId('radio-button-json').click();
		await output.getByText('"user-002"').waitFor();
		journal.add('A custom request', '/user/user-002');
		await renewScreenshot(page.getByTestId('ndv'), 'custom-request');
	});

	it('shows the URL to hand over in the panel of the trigger', async () => {
		await addNode(page, await findNode(page, 'resume'), 'On resume section saved');
		await showProductionUrl(page);
		const panel = page.getByTestId('ndv');
		const url = await panel.getByText(`${instance.n8n.url}/webhook/`).innerText();
		await panel.getByText('hand it to your account manager').waitFor();
		journal.add('Panel of the trigger', new URL(url).pathname);
		await renewScreenshot(panel, 'trigger');
	});

	it('has an icon for light and one for dark', async () => {
		await addNode(page, await findNode(page, 'resume'), 'On resume section saved');
		await closePanel(page);
		for (const [colorScheme, file] of [
			['light', 'resumeManagement.svg'],
			['dark', 'resumeManagement.dark.svg'],
		] as const) {
			await page.emulateMedia({ colorScheme });
			const path = `/icons/n8n-nodes-resume-management/dist/icons/${file}`;
			const icon = page.getByTestId('canvas-node').locator(`img[src$="${path}"]`);
			// It rejects what is no image, or did not arrive.
			await icon.evaluate(async (image: { decode(): Promise<void> }) => await image.decode());
			expect(watched.files).toContain(path);
			journal.add(`Icon on a ${colorScheme} canvas`, file);
		}
	});
});

it('causes no errors in the browser', () => {
	expect(watched.errors).toEqual([]);
	journal.add('Files of the package', `${watched.files.size} received, none failed`);
});
