import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { offeredOperations } from '../support/openapi.mts';
import {
	addNode,
	change,
	closePanel,
	executeStep,
	findNode,
	instance,
	openPanel,
	page,
	parameter,
	showProductionUrl,
} from './editor.mts';
import { renewScreenshot } from './screenshot.mts';

/** A person's first minutes with the nodes. */

it('opens on the list of the examples', async () => {
	expect(new URL(page.url()).pathname).toBe('/home/workflows');
	const names = page.getByTestId('workflow-card-name');
	for (const { name } of instance.examples) await names.getByText(name, { exact: true }).waitFor();
});

it('tells a wrong private key from the right one when the credential is saved', async () => {
	await page.goto(`${instance.url}/home/credentials`);
	await page.getByTestId('add-resource-credential').click();
	await page.getByTestId('new-credential-type-select').locator('input').fill('resume');
	await page
		.getByTestId('new-credential-type-select-option')
		.filter({ visible: true, hasText: 'Resume Management API' })
		.click();
	await page.getByTestId('new-credential-type-button').click();

	await parameter('baseUrl').fill(instance.sandbox.baseUrl);
	await parameter('privateKey').fill('a_wrong_key');
	await page.getByTestId('credential-save-button').click();
	const dialog = page.getByTestId('editCredential-modal');
	await dialog.getByText('More details').click();
	await dialog.getByText('Check that Private Key is complete').waitFor();

	await parameter('privateKey').fill(SANDBOX_KEYS.live);
	// n8n may choose this credential for the trigger of a later test.
	await parameter('webhookSecret').fill('sandbox_webhook_secret');
	await page.getByTestId('credential-save-button').click();
	const success = dialog.getByTestId('credentials-config-container-test-success');
	await success.getByText('Connection tested successfully').waitFor();
	await renewScreenshot(dialog, 'credential');
});

/** Get and Send of Custom Request, which the OpenAPI document does not have. */
const customRequests = 2;

/** Adds the action node from n8n's folded list of its actions. */
async function addAction(action: string): Promise<void> {
	const details = await findNode('resume');
	await details.getByTestId('node-creator-category-item').filter({ hasText: 'Actions' }).click();
	await addNode(details, action);
}

/** Executes the step of the open panel, and waits for a text among the fields of its output. */
async function executeToField(text: string): Promise<void> {
	const output = await executeStep();
	await output.getByTestId('node-run-status-success').waitFor();
	await output.getByTestId('radio-button-schema').click();
	await output.getByTestId('run-data-schema-item').getByText(text).waitFor();
}

describe('in a new workflow', () => {
	beforeEach(async () => {
		await page.goto(`${instance.url}/workflow/new`);
	});

	it('finds the node, picks a user from the list and reads it', async () => {
		const details = await findNode('resume');
		const categories = details.getByTestId('node-creator-category-item');
		await categories.filter({ hasText: 'Actions' }).click();
		const actions = offeredOperations().length + customRequests;
		const found = ['Triggers (2)', `Actions (${actions})`];
		expect(await categories.allInnerTexts()).toEqual(found);
		await addNode(details, 'Get a user');

		await page.getByTestId('parameter-input-operation').getByRole('combobox').click();
		const options = page.getByRole('option').filter({ visible: true });
		await options.first().waitFor();
		const names = (await options.allInnerTexts()).map((text) => text.split('\n')[0]);
		expect(names).toEqual(['Connect', 'Get', 'Get Many', 'Get Token', 'Custom API Call']);
		await options.nth(1).click();

		await page.getByTestId('rlc-input').click();
		const users = page.getByTestId('rlc-item');
		await users.nth(59).waitFor();
		expect(await users.count()).toBe(60);
		await page.getByTestId('rlc-search').fill('KELL');
		await users.filter({ hasText: 'emma.larsen' }).waitFor({ state: 'detached' });
		await users.filter({ hasText: 'Sophia Keller · sophia.keller@example.com' }).waitFor();
		expect(await users.count()).toBe(1);
		await users.click();

		await executeToField('sophia.keller@example.com');
		await renewScreenshot(page.getByTestId('ndv'), 'get-user');
	});

	it('shows what an upgrade returns before it runs, and why it failed', async () => {
		await addAction('Upgrade a plan (bills)');
		await parameter('email').fill('sophia.keller@example.com');
		await parameter('planId').fill(SANDBOX_PLANS.failingPayment);
		await closePanel();

		await addNode(await findNode('resume'), 'Get a user token');
		const input = page.getByTestId('ndv-input-panel');
		await input.getByTestId('schema-preview-warning').waitFor();
		for (const field of ['current_period_start', 'current_period_end', 'status', 'plan_id']) {
			const item = input.getByTestId('run-data-schema-item');
			await item.getByText(field, { exact: true }).waitFor();
		}
		await closePanel();

		await openPanel('Upgrade a plan (bills)');
		const output = await executeStep();
		const message = await output.getByTestId('node-error-message').innerText();
		const description = await output.getByTestId('node-error-description').innerText();
		expect(message).toBe('The service answered: stripe error (plan-upgrade-1)');
		expect(description).toBe(
			'The payment provider reported a failure. Contact your account manager before you send this upgrade again.',
		);
		await renewScreenshot(page.getByTestId('ndv'), 'failed-upgrade');
	});

	it('finds a user by e-mail', async () => {
		await addAction('Get a user');
		await page.getByTestId('rlc-mode-selector').click();
		await page.getByRole('option', { name: 'By Email' }).click();
		const email = 'Sophia.Keller@example.com';
		await change(email, async () => await page.getByTestId('rlc-input').fill(email));
		await executeToField('sophia.keller@example.com');
		await renewScreenshot(page.getByTestId('ndv'), 'user-by-email');
	});

	it('sends a custom request', async () => {
		await addAction('Get with a custom request');
		await parameter('path').fill('/user/user-002');
		const output = await executeStep();
		await output.getByTestId('radio-button-json').click();
		await output.getByText('"user-002"').waitFor();
		await renewScreenshot(page.getByTestId('ndv'), 'custom-request');
	});

	it('shows the URL to hand over in the panel of the trigger, with an icon for light and dark', async () => {
		await addNode(await findNode('resume'), 'On resume section saved');
		await showProductionUrl();
		const panel = page.getByTestId('ndv');
		await panel.getByText(`${instance.url}/webhook/`).waitFor();
		await panel.getByText('Ask your account manager how to register').waitFor();
		await renewScreenshot(panel, 'trigger');

		await closePanel();
		for (const [colorScheme, file] of [
			['dark', 'resumeManagement.dark.svg'],
			['light', 'resumeManagement.svg'],
		] as const) {
			await page.emulateMedia({ colorScheme });
			const path = `/icons/n8n-nodes-resume-management/dist/icons/${file}`;
			const icon = page.getByTestId('canvas-node').locator(`img[src$="${path}"]`);
			// It rejects what is no image, or did not arrive.
			await icon.evaluate(async (image: { decode(): Promise<void> }) => await image.decode());
		}
	});
});
