import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import {
	addNode,
	change,
	closePanel,
	field,
	findNode,
	instance,
	output,
	page,
	panel,
	renewScreenshot,
} from './editor.mts';

async function addAction(action: string): Promise<void> {
	const details = await findNode();
	await details.getByTestId('node-creator-category-item').filter({ hasText: 'Actions' }).click();
	await addNode(action);
}

async function execute(): Promise<void> {
	await page.getByTestId('node-execute-button').click();
}

/** Executes the node, and shows the user that it has read. */
async function readUser(email: string): Promise<void> {
	await execute();
	await output().getByTestId('radio-button-schema').click();
	const fields = output().getByTestId('run-data-schema-item');
	await fields.getByText(email).waitFor();
}

describe("the node's panel", () => {
	beforeEach(async () => void (await page.goto(`${instance.url}/workflow/new`)));

	it('reads a user who is chosen from the searched list, and a user by email', async () => {
		await addAction('Get user');
		await page.getByTestId('rlc-input').click();
		const users = page.getByTestId('rlc-item');
		await users.nth(59).waitFor();
		await page.getByTestId('rlc-search').fill('KELL');
		await users.nth(1).waitFor({ state: 'detached' });
		const sophia = 'sophia.keller@example.com';
		const choice = users.filter({ hasText: `Sophia Keller · ${sophia}` });
		await change(sophia, async () => await choice.click());
		await readUser(sophia);
		await renewScreenshot(panel(), 'get-user');

		await page.getByTestId('rlc-mode-selector').click();
		await page.getByRole('option', { name: 'By Email' }).click();
		const email = 'Emma.Larsen@example.com';
		await change(email, async () => await page.getByTestId('rlc-input').fill(email));
		await readUser('emma.larsen@example.com');
		await renewScreenshot(panel(), 'user-by-email');
	});

	it('shows the output of an upgrade before it runs, and why it failed', async () => {
		await addAction('Upgrade plan (bills)');
		await field('Email').fill('sophia.keller@example.com');
		await field('Plan ID').fill(SANDBOX_PLANS.failingPayment);
		await closePanel();
		await findNode();
		await addNode('Get user token');
		const input = page.getByTestId('ndv-input-panel');
		await input.getByText('current_period_end', { exact: true }).waitFor();
		await closePanel();

		await page.locator('[data-node-name="Upgrade plan (bills)"]').first().dblclick();
		await execute();
		const message = output().getByTestId('node-error-message');
		await message.getByText('The service reported: stripe error (plan-upgrade-1)').waitFor();
		const description = output().getByTestId('node-error-description');
		await description.getByText("The service's payment provider reported a failure.").waitFor();
		await renewScreenshot(panel(), 'failed-upgrade');
	});

	it('sends a custom request', async () => {
		await addAction('Get custom request');
		const path = '/user/user-002';
		await change(path, async () => await field('Path').fill(path));
		await execute();
		await output().getByTestId('radio-button-json').click();
		await output().getByText('"user-002"').waitFor();
		await renewScreenshot(panel(), 'custom-request');
	});
});
