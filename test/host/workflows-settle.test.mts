import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INode } from 'n8n-workflow';
import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import {
	activate,
	change,
	deliver,
	instance,
	submitForm,
	submitPage,
	useUpgrades,
	waitingPage,
} from './upgrades.mts';

/** The example that settles open upgrades in a real n8n, through the pages of its form. */

useUpgrades();

const file = 'settle-open-upgrades';

const { pro, basic, failingPayment } = SANDBOX_PLANS;

const again = 'Send again with a new key (bills)';
const late = 'Somebody decided before you, and your decision changed nothing.';

let used = 0;
const newEmail = () => instance.emails[50 + used++]!;

/** Saves an open row, as the examples do. */
async function addRow(row: IDataObject): Promise<void> {
	const texts = { source: 'file', planId: pro, aiTokenId: '', outcome: 'unknown', sentAgain: 0 };
	await instance.insertRow('Upgrade outcomes', { ...texts, detail: 'The reason.', ...row });
}

/** Returns the outcomes of these upgrades, and how often they were sent again. */
async function outcomes(ids: string[]): Promise<string[]> {
	const rows = await instance.readTable('Upgrade outcomes');
	return ids.map((id) => {
		const { outcome, sentAgain } = rows.find(({ upgradeId }) => upgradeId === id)!;
		return `${String(outcome)} ${String(sentAgain)}`;
	});
}

/** Opens the form, and returns its page, and a function that submits a choice for each upgrade and returns how it ended. */
async function open(person: string) {
	const { url, id, page } = await submitForm(file, person);
	return {
		page,
		decide: async (choices: Record<string, string>) => {
			const form = new FormData();
			for (const [upgradeId, choice] of Object.entries(choices)) {
				const label = RegExp(`${upgradeId}: [^]*?for='(field-\\d+)'>Decision`).exec(page);
				form.set(label![1]!, choice);
			}
			await submitPage(url, form);
			for (;;) {
				const { page: last } = await waitingPage(url);
				if (!last.includes(' of this page still open<')) continue;
				await submitPage(url);
				const { status, data } = await instance.api.waitForExecution(id);
				return { page: last, status, message: data.resultData.error?.message };
			}
		},
	};
}

/** Changes the minutes that a row is not listed after its last change. */
const setMinutes = async (from: number, to: number) =>
	await change(
		file,
		(node) =>
			JSON.parse(JSON.stringify(node).replace(`minutes = ${from};`, `minutes = ${to};`)) as INode,
	);

it('lists an upgrade ten minutes after its last change', async () => {
	await activate(file);
	await addRow({ upgradeId: 'young', email: newEmail() });
	const { page } = await submitForm(file, 'Eva');
	const [{ updatedAt } = {}] = await instance.readTable('Upgrade outcomes');
	// A part of a minute counts as one.
	const at = new Date(Date.parse(String(updatedAt)) + 11 * 60_000).toISOString().slice(11, 16);
	expect(page).toContain(`1 open, the first one is listed at ${at} GMT<`);
	expect(page).toContain('listed 10 minutes after its last change');
	await instance.deleteRows('Upgrade outcomes', 'upgradeId', 'young');
	// Nothing was sent for a request that nobody has answered, or that was declined.
	for (const outcome of ['asked', 'declined'])
		await addRow({ upgradeId: outcome, email: newEmail(), outcome });
	expect((await submitForm(file, 'Eva')).page).toContain('Nothing is open');
	for (const outcome of ['asked', 'declined'])
		await instance.deleteRows('Upgrade outcomes', 'upgradeId', outcome);
	await addRow({ upgradeId: 'young', email: newEmail() });
	await setMinutes(10, -5);
	expect((await submitForm(file, 'Eva')).page).toContain('file young: ');
	await instance.deleteRows('Upgrade outcomes', 'upgradeId', 'young');
});

it('does what a person decides, once, and leaves the rest open', async () => {
	const { billed, sandbox } = instance;
	const ids = ['row_0', 'row_1', 'row_2', 'row_3', 'row_4'];
	const emails = ids.map(newEmail);
	const bodies = ids.map((id, index) => ({
		id,
		email: emails[index],
		planId: pro,
		status: 'paid',
	}));
	sandbox.faults.add({ path: '/plan/upgrade', drop: 'before', times: 3 });
	for (const body of bodies.slice(0, 3)) {
		expect((await deliver(body)).data.outcome).toBe('unknown');
	}
	expect((await deliver({ ...bodies[3], planId: failingPayment })).data.outcome).toBe('held');
	await addRow({ upgradeId: ids[4], email: emails[4], outcome: 'held', planId: failingPayment });
	expect(await outcomes(ids)).toEqual([
		...['unknown 0', 'unknown 0', 'unknown 0'],
		...['held 0', 'held 0'],
	]);

	const [eva, ann, older] = [await open('Eva'), await open('Ann'), await open('Ann')];
	expect(eva.page).toMatch(/Plan now: plan_\w+, period since .* 20\d\d|record names no plan/);
	expect(eva.page).toMatch(/>Saved \d\d \w+ 20\d\d \d\d:\d\d GMT: held\.<.+ your account manager/s);
	// The row of a payment does not say so itself.
	expect(eva.page).toMatch(/ GMT: unknown\. It may be billed\.</);
	expect(eva.page).toContain('Settle (bills what you send again)');
	expect(eva.page).not.toMatch(/<p>[^<]+\.\.</);
	expect(eva.page).toContain('At most twenty upgrades are listed, ten minutes after');
	sandbox.faults.add({ path: '/plan/upgrade', delayMs: 15_000, times: 1 });
	const deciding = eva.decide({
		row_0: 'It was done',
		row_1: again,
		row_2: 'Drop it',
		row_3: again,
		row_4: 'Leave it open',
	});
	while ((await outcomes(['row_1']))[0] !== 'unknown 1') await sleep(50);
	// A row does not change before it is its turn: another person might send it meanwhile, with the next key.
	expect(await outcomes(['row_3'])).toEqual(['held 0']);
	const slower = await ann.decide({ row_1: again });
	expect(slower.page).toContain(
		`: unknown. ${late} Eva is sending it again now. Nothing to do. If it stays open, it is listed in ten minutes.`,
	);
	const decided = await deciding;
	for (const text of [
		`payment row_0, ${emails[0]}, ${pro}: upgraded. Eva says that it was done.`,
		`payment row_1, ${emails[1]}, ${pro}: upgraded. Eva sent it again with a new key. Billed.`,
		`payment row_2, ${emails[2]}, ${pro}: dropped. Eva dropped it.`,
		`file row_4, ${emails[4]}, ${failingPayment}: held. You left it open.`,
		'3 settled, 2 of this page still open',
	])
		expect(decided.page).toContain(text);
	expect(decided).toMatchObject({
		status: 'error',
		message: expect.stringMatching(
			/^payment row_3, \S+ \S+: held\. Eva sent it again with a new key\. This try is not billed\. The service reported: .* account manager .* Settle open upgrades lists it again in ten minutes\. ?$/,
		) as unknown,
	});

	// Ann's form is older than Eva's decisions.
	const last = await older.decide({ row_0: again, row_1: again, row_2: again, row_3: again });
	expect(last).toMatchObject({ status: 'success' });
	expect(last.page).toContain(`: dropped. ${late} Eva dropped it.`);
	const after = ['upgraded 0', 'upgraded 1', 'dropped 0', 'held 1', 'held 0'];
	expect(await outcomes(ids)).toEqual(after);
	expect(emails.map(billed)).toEqual([0, 1, 0, 0, 0]);
	for (const [index, outcome] of [
		[0, 'upgraded'],
		[2, 'dropped'],
	] as const) {
		expect((await deliver(bodies[index]!)).data).toMatchObject({ outcome, repeated: true });
	}
	expect(emails.map(billed)).toEqual([0, 1, 0, 0, 0]);

	sandbox.faults.add({ path: '/plan/upgrade', drop: 'after', times: 1 });
	const both = [await open('Eva'), await open('Ann')];
	const results = await Promise.all(both.map(async ({ decide }) => decide({ row_3: again })));
	expect(results.map(({ status }) => status).sort()).toEqual(['error', 'success']);
	expect(results.find(({ status }) => status === 'success')!.page).toContain(late);
	expect(await outcomes(['row_3'])).toEqual(['unknown 2']);
	const third = await open('Eva');
	expect(third.page).toMatch(
		/>First saved [^<]+\. Last saved [^<]+: unknown\.<.*<p>(Eva|Ann) sent it again .* This try may be billed\. The connection [^.]*\.\s*</,
	);
	const left = await third.decide({});
	expect(left.page).toMatch(/payment row_3, \S+ \S+: unknown\. You left it open\.[\s<]/);
	expect(left.status).toBe('success');
	for (const id of ids) await instance.deleteRows('Upgrade outcomes', 'upgradeId', id);
});

it('takes an upgrade whose response the node could not show for billed', async () => {
	const { api, exampleId } = instance;
	const { nodes } = await api.readWorkflow(exampleId(file));
	const error = { id: 'write.notShown', message: 'Not shown', outcome: 'applied' };
	const jsCode = `return { json: { error: ${JSON.stringify(error)} } };`;
	const parameters = { mode: 'runOnceForEachItem', jsCode };
	const code = { type: 'n8n-nodes-base.code', typeVersion: 2, parameters };
	await change(file, (node) => (node.name === 'Upgrade plan' ? { ...node, ...code } : node));
	await addRow({ upgradeId: 'applied', email: newEmail() });
	const { page, status } = await (await open('Eva')).decide({ applied: again });
	expect(page).toMatch(/file applied, .*: upgraded\. Eva sent it again with a new key\. Billed\./);
	expect([status, await outcomes(['applied'])]).toEqual(['success', ['upgraded 1']]);
	await api.updateWorkflow(exampleId(file), { nodes });
	await activate(file);
	await instance.deleteRows('Upgrade outcomes', 'upgradeId', 'applied');
});

it('names what is still open with its whole ID, and leaves an ID that nobody decided', async () => {
	const [upgradeId, planId] = ['2026-11-26T17:32:22.022Z', failingPayment];
	await addRow({ source: 'approval', upgradeId, email: newEmail(), planId });
	await addRow({ upgradeId: 'untouched', email: newEmail() });
	const before = await instance.readTable('Upgrade outcomes');
	const { page, status, message } = await (await open('Eva')).decide({ [upgradeId]: again });
	expect(page).toContain(`approval ${upgradeId}, `);
	expect([status, message]).toEqual([
		'error',
		expect.stringContaining(`approval ${upgradeId}, `) as unknown,
	]);
	const now = await instance.readTable('Upgrade outcomes');
	const untouched = (rows: typeof now) => rows.find((row) => row.upgradeId === 'untouched');
	expect(untouched(now)).toEqual(untouched(before));
	for (const id of [upgradeId, 'untouched'])
		await instance.deleteRows('Upgrade outcomes', 'upgradeId', id);
});

it('tells two people with one name apart', async () => {
	await addRow({ upgradeId: 'two', email: newEmail() });
	const both = [await open('Eva'), await open('Eva')];
	const pages = [];
	for (const { decide } of both) pages.push((await decide({ two: 'Drop it' })).page);
	expect(pages[0]).toContain(': dropped. Eva dropped it.');
	expect(pages[1]).toContain(`: dropped. ${late} Eva dropped it.`);
	await instance.deleteRows('Upgrade outcomes', 'upgradeId', 'two');
});

it('shows three confirmed upgrades of the same email, as the node compares emails, first of the same plan', async () => {
	const email = newEmail();
	await addRow({ upgradeId: 'open_a', email: `\u200b${email.toUpperCase()} ` });
	const ids = ['done_a', 'done_c', 'done_d', 'done_e'];
	await addRow({ upgradeId: ids[0], email, outcome: 'upgraded' });
	for (const upgradeId of ids.slice(1)) {
		// Rows of the same second have no order.
		await sleep(1_000);
		await addRow({ upgradeId, email, outcome: 'upgraded', planId: basic });
	}
	// The search finds it too.
	await addRow({ upgradeId: 'done_b', email: `x${email}`, outcome: 'upgraded' });
	const { page } = await open('Eva');
	const shown = Array.from(
		page.matchAll(/Saved as upgraded [^<]+ GMT: file (\w+): ([^<&]+)<\/p>/g),
		([, id, what]) => `${id} ${what}`,
	);
	expect(shown).toEqual([
		`done_a ${email}, ${pro}`,
		`done_e ${email}, ${basic}`,
		`done_d ${email}, ${basic}`,
	]);
	expect(page).not.toContain('done_b');
	for (const id of ['open_a', ...ids, 'done_b'])
		await instance.deleteRows('Upgrade outcomes', 'upgradeId', id);
});

it('lets a person decide where the user could not be read, and survives odd rows', async () => {
	await addRow({ upgradeId: 'odd', email: newEmail(), detail: '<b>{{ $json }}</b>' });
	await addRow({ upgradeId: 'gone', email: newEmail() });
	instance.sandbox.faults.add({ path: '/users', response: { status: 400 } });
	const { page, decide } = await open('Ev\0a <i>');
	expect(page).toMatch(
		/Plan now: not known\. The list of users could not be read: The .*\. Clear this up before you send again\.</,
	);
	expect(page).toMatch(/<p> +b +\$json +\/b +<\/p>/);
	await instance.deleteRows('Upgrade outcomes', 'upgradeId', 'gone');
	const decided = await decide({ odd: 'Drop it', gone: again });
	expect(decided).toMatchObject({ status: 'success' });
	expect(decided.page).toContain('file gone: somebody deleted the row.');
	const [row] = (await instance.readTable('Upgrade outcomes')).filter(
		({ upgradeId }) => upgradeId === 'odd',
	);
	expect(row).toMatchObject({ outcome: 'dropped' });
	expect(String(row!.detail)).toContain('Ev\ufffda');
});

describe('with two equal rows of one payment, as PostgreSQL keeps them', () => {
	const addTwins = async (twins: IDataObject[]) => {
		const email = newEmail();
		for (const twin of twins)
			await addRow({ source: 'payment', upgradeId: 'twin', email, ...twin });
		return email;
	};
	const outcomesNow = async () =>
		(await instance.readTable('Upgrade outcomes'))
			.filter(({ upgradeId }) => upgradeId === 'twin')
			.map(({ outcome, sentAgain }) => `${String(outcome)} ${String(sentAgain)}`);
	afterEach(async () => await instance.deleteRows('Upgrade outcomes', 'upgradeId', 'twin'));

	it('lists the payment once, and bills it at most once', async () => {
		const email = await addTwins([{}, {}]);
		const { page, decide } = await open('Eva');
		expect(page).toMatch(/payment twin: [^]*Decision 1/);
		expect(page).not.toContain('Decision 2');
		const decided = await decide({ twin: again });
		expect(decided.page).toContain('1 settled, 0 of this page still open');
		expect([instance.billed(email), await outcomesNow()]).toEqual([
			1,
			['upgraded 1', 'upgraded 1'],
		]);
	});

	it('keeps the outcome of the one try for both rows', async () => {
		const planId = failingPayment;
		await addTwins([{ planId }, { planId }]);
		expect((await (await open('Eva')).decide({ twin: again })).status).toBe('error');
		expect(await outcomesNow()).toEqual(['unknown 1', 'unknown 1']);
	});

	it('does not list the payment if one of its rows is upgraded', async () => {
		await addTwins([{}, { outcome: 'upgraded' }]);
		expect((await submitForm(file, 'Eva')).page).not.toContain('payment twin: ');
	});
});
