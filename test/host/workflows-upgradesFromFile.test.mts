import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { fillIn } from './examples.mts';
import type { INode } from 'n8n-workflow';
import { addExamples, startInstance, outputOf, success } from './instance.mts';
import type { Examples, OwnInstance } from './instance.mts';
import { toCsv, uploads, wrongRows } from './uploads.mts';

/** workflows/upgrades-from-file.json in a real n8n, against the sandbox. */

jest.setTimeout(600_000);

let instance: Examples & OwnInstance;
let form: ReturnType<typeof fillIn>;

beforeAll(async () => {
	// Not the n8n of all tests: another file that adds the examples there changes their credential.
	const own = await startInstance();
	instance = { ...own, ...(await addExamples(own)) };
	form = fillIn(instance);
	await instance.api.activateWorkflow(instance.exampleId('upgrades-from-file'));
});
afterAll(async () => await instance?.close());
afterEach(() => instance.sandbox.faults.clear());

const { pro } = SANDBOX_PLANS;
const [emma, noah, olivia] = ['emma.larsen', 'noah.fischer', 'olivia.martin'].map(
	(name) => `${name}@example.com`,
) as [string, string, string];

/** A file of rows `id,email,planId`. */
const csv = (...rows: string[][]) => [['id', 'email', 'planId'], ...rows].map(String).join('\n');
/** A time as the pages say it, in UTC. */
const time = '\\d\\d \\w{3} 20\\d\\d \\d\\d:\\d\\d GMT';
const allBilled = () => instance.query('SELECT 1 FROM upgrades').length;
const upgrades = () =>
	instance.sandbox.requests.filter(({ url }) => url === '/v1/plan/upgrade').length;

test('the files of offices bill what the page says, or are refused with what helps', async () => {
	for (const [name, file, billed, reads] of uploads) {
		const before = allBilled();
		const { asked, page } = await form.upload(file);
		expect([name, `${asked} ${page}`]).toEqual([name, expect.stringContaining(reads)]);
		expect([name, allBilled() - before]).toEqual([name, billed]);
		// A person has seen the page with the button before anything is billed.
		if (billed)
			expect([name, asked]).toEqual([name, expect.stringContaining('Nothing is billed yet.')]);
	}
});

test('each wrong row is refused with its own sentence, and nothing of its file is sent', async () => {
	instance.sandbox.requests.length = 0;
	// A page shows 20 mistakes.
	for (let start = 0; start < wrongRows.length; start += 20) {
		const some = wrongRows.slice(start, start + 20);
		const { asked, page, execution } = await form.upload(toCsv(some.map(([cells]) => cells)));
		const wrong = some.flatMap(([, text], index) => (text ? [{ row: index + 2, text }] : []));
		expect([asked, execution.status]).toEqual(['', 'success']);
		expect(page).toContain(`Nothing was sent: mistakes: ${wrong.length} `);
		for (const { row, text } of wrong)
			expect(page).toMatch(
				RegExp(`Row ${row}: (row \\d+ )?${text.replace(/[$()*+.?[\\\]^|]/g, '\\$&')}`),
			);
	}
	expect(upgrades()).toBe(0);
	const { page } = await form.upload(toCsv(wrongRows.map(([cells]) => cells)));
	expect(page).toContain(`… and ${wrongRows.length - 1 - 20} more.`);
});

test('the page with the button lists each row, and warns of what may be billed twice', async () => {
	await form.upload(csv(['P1', emma, pro]));
	const again = ['P01', emma.toUpperCase(), pro];
	const file = csv(['P1', emma, pro], again, ['P2', noah, pro], ['P3', noah, pro]);
	const { asked } = await form.choose(file);
	for (const text of [
		'Bill these 3 rows?',
		`3 ${emma.toUpperCase()} id P01 ${pro} no credits Row 2 has the same user and plan. The same user and plan was billed on `,
		': file P1.',
		`5 ${noah} id P3 ${pro} `,
		'Row 4 has the same user and plan.',
		'Not sent Row 2 (id P1) was billed on ',
		': for another purchase, enter another id.',
		'Each user is in the list of the service. Plans are not checked.',
	])
		expect(asked).toContain(text);
	expect(asked).not.toContain('Billed.');
});

test('a payment that has two equal rows is named once, and an upgrade that has them is not sent', async () => {
	const email = 'twin@example.com';
	instance.sandbox.faults.add({ path: '/users', ...success([{ id: 'user-1', email }]) });
	const row = { email, planId: pro, aiTokenId: '', detail: 'Billed.', sentAgain: 0 };
	const twins = [
		{ source: 'payment', upgradeId: 'twin' },
		{ source: 'file', upgradeId: 'TW' },
	];
	for (const twin of twins) {
		for (const outcome of ['unknown', 'upgraded'])
			await instance.insertRow('Upgrade outcomes', { ...row, ...twin, outcome });
	}
	const { asked } = await form.choose(csv(['TW', email, pro], ['TW2', email, pro]));
	expect(asked).toContain('Bill this row unchecked?');
	expect(asked).toMatch(
		RegExp(
			`Row 2 has .*The same user and plan was billed on ${time}: file TW\\. Not sent Row 2 \\(id TW\\) was billed`,
		),
	);
	const payment = await form.choose(csv(['TW3', email, pro]));
	expect(payment.asked.match(/was (maybe )?billed on/g)).toHaveLength(1);
});

test('a file that was billed before shows first what a person has to decide', async () => {
	const { faults } = instance.sandbox;
	const rows = Array.from(Array(30), (_, index) => [`B${index}`, emma, pro]);
	await form.upload(csv(...rows.slice(0, 29)));
	faults.add({ path: '/plan/upgrade', drop: 'after', times: 1 });
	await form.upload(csv(rows[29]!));
	const { page } = await form.upload(csv(...rows));
	expect(page).toMatch(
		RegExp(
			`Nothing was sent: no row is new Row 31 \\(id B29\\) was maybe billed on ${time}: decide in Settle open upgrades\\. The connection .* It may be billed\\. Row 2 \\(id B0\\) was billed on ${time}: for another purchase, enter another id\\. .* … and 10 more\\.`,
		),
	);
});

test('a list of users that has more than it shows blames no row', async () => {
	const body = JSON.stringify({
		status: 'success',
		data: [{ id: 'user-1', email: emma }],
		total: 60,
	});
	instance.sandbox.faults.add({ path: '/users', response: { status: 200, body } });
	const { asked } = await form.choose(csv(['M1', noah, pro]));
	expect(asked).toContain(
		'Users were not checked. The list of users could not be read: The list is not complete. Do not bill now: add Users Pagination to Find user, and upload the file again.',
	);
});

test('a row that was billed as a payment is named, also if it has the id of the payment', async () => {
	const planId = SANDBOX_PLANS.basic;
	const payment = { source: 'payment', detail: 'Billed.', aiTokenId: '', sentAgain: 0 };
	for (const [upgradeId, outcome, text] of [
		['pay_1', 'upgraded', 'billed on '],
		['pay_2', 'unknown', 'maybe billed on '],
		['pay_3', 'applied', 'billed on '],
	] as const) {
		const email = `${upgradeId}@example.com`;
		await instance.insertRow('Upgrade outcomes', { ...payment, upgradeId, outcome, email, planId });
		instance.sandbox.faults.add({ path: '/users', ...success([{ id: 'user-1', email }]) });
		for (const id of [upgradeId, `${upgradeId}-again`]) {
			const { asked } = await form.choose(csv([id, email, planId]));
			expect(asked).toMatch(
				RegExp(`The same user and plan was ${text}${time}: payment ${upgradeId}\\.`),
			);
		}
		instance.sandbox.faults.clear();
	}
});

test('of several earlier upgrades, the newest is named', async () => {
	const { faults } = instance.sandbox;
	faults.add({ path: '/plan/upgrade', response: { status: 400 } });
	await form.upload(csv(['S1', olivia, SANDBOX_PLANS.basic]));
	faults.clear();
	for (const id of ['S2', 'S1']) await form.upload(csv([id, olivia, SANDBOX_PLANS.basic]));
	const { asked } = await form.choose(csv(['S3', olivia, SANDBOX_PLANS.basic]));
	const saved = await instance.readTable('Upgrade outcomes');
	const { updatedAt } = saved.find(({ upgradeId }) => upgradeId === 'S1')!;
	// n8n's time zone is New York, where the date can be another one.
	const at = new Date(String(updatedAt)).toUTCString().slice(5, 22);
	expect(asked).toContain(`billed on ${at} GMT: file S1. `);
});

test('nobody is refused for a list of users that shows no emails, or fails', async () => {
	const { faults } = instance.sandbox;
	const unreadable = 'The list of users could not be read: ';
	const wait = 'Do not bill now: clear this up, and upload the file again. An upgrade sent now';
	for (const [fault, reason, toDo] of [
		// A list without emails can't be cleared up.
		[success([{ id: 'user-001' }]), 'No user has this email address.', ''],
		[{ response: { status: 400 } }, unreadable, `${wait} may end as unknown.`],
		[{ response: { status: 401 } }, unreadable, `${wait} would be refused.`],
	] as const) {
		faults.add({ path: '/users', ...fault });
		const { asked } = await form.choose(csv(['U1', emma, pro]));
		expect(asked).toContain(`Users were not checked. ${reason}`);
		expect(/Do not bill now.*?(?= No row)/.exec(asked)?.[0] ?? '').toBe(toDo);
		faults.clear();
	}
});

test('the last page names what was billed before, and open rows stay open', async () => {
	const { billed, readTable, sandbox } = instance;
	const before = [emma, noah, olivia].map(billed);
	const since = () => [emma, noah, olivia].map((email, index) => billed(email) - before[index]!);
	const held = ['1004', emma, SANDBOX_PLANS.failingPayment];
	const rows = [['1001', emma, pro], ['1002', noah, pro], ['1003', olivia, 'plan_unknown'], held];
	const file = csv(...rows);
	sandbox.faults.add({ path: '/plan/upgrade', email: noah, drop: 'after', times: 1 });
	const again = 'Not sent again\\. ';
	const decide =
		"Settle open upgrades lists it after ten minutes, with the user's plan\\. Decide there\\.";
	const open = '1 may be billed, 1 held (not billed), 1 not billed';
	for (const [title, requests, known] of [
		['1 newly billed, 0 billed before, ', 4, ''],
		['0 newly billed, 1 billed before, ', 1, again],
	] as const) {
		sandbox.requests.length = 0;
		const { page, execution } = await form.upload(file);
		expect(page).toContain(`${title}${open} `);
		expect([upgrades(), execution.status]).toEqual([requests, 'error']);
		const causes = [
			`Row 3 \\(1002, ${noah}\\) is unknown\\. ${known}The connection [^.]*\\. It may be billed\\. ${decide}`,
			`Row 5 \\(1004, ${emma}\\) is held\\. ${known}The service .*\\(plan-upgrade-1\\)\\. .* ${decide}`,
			`Row 4 \\(1003, ${olivia}\\) is refused\\. The service .*\\(plan-upgrade-2\\)\\. Nothing was done\\. Use .* Then upload the file again\\.`,
		];
		for (const cause of causes) expect(page).toMatch(RegExp(cause));
		const lines = [`${title}${open}.`.replace(/[()]/g, '\\$&'), ...causes];
		// n8n shows an error of a Code node only from its last colon on.
		expect(execution.data.resultData.error!.message).toMatch(RegExp(`^${lines.join(' ')}$`));
		expect(execution.data.resultData.error!.message).toContain('. The service reported∶ ');
		const [report] = outputOf(execution, 'Report the outcomes');
		expect(report!.binary!.data).toMatchObject({ fileName: 'outcomes.csv', mimeType: 'text/csv' });
		const saved = (await readTable('Upgrade outcomes')).filter(({ upgradeId }) =>
			/^100\d$/.test(String(upgradeId)),
		);
		expect(saved.map(({ source, upgradeId, outcome }) => [source, upgradeId, outcome])).toEqual([
			['file', '1001', 'upgraded'],
			['file', '1002', 'unknown'],
			['file', '1003', 'refused'],
			['file', '1004', 'held'],
		]);
		expect(since()).toEqual([1, 1, 0]);
		if (known) expect(page).toContain('Billed before: row 2. For another purchase, enter');
	}
	const { page } = await form.upload(csv(['1001', noah, pro], ['1004', emma, pro]));
	expect(page).toMatch(
		RegExp(
			`Row 2: the id 1001 was billed on ${time}, for ${emma}, ${pro}: correct it, or for another`,
		),
	);
	expect(page).toMatch(
		RegExp(
			`Row 3: the id 1004 was held on ${time}, for .*: correct it, or decide in Settle open upgrades\\.`,
		),
	);
	const { page: none } = await form.upload(csv(['1001', emma, pro]));
	expect(none).toMatch(
		RegExp(`Nothing was sent: no row is new Row 2 \\(id 1001\\) was billed on ${time}: for`),
	);
});

test('two people with the same file at the same time bill each row once', async () => {
	const before = allBilled();
	const file = csv(['W1', emma, pro], ['W2', noah, pro]);
	const people = await Promise.all([form.choose(file), form.choose(file)]);
	for (const { asked } of people) expect(asked).toContain('Bill these 2 rows?');
	const results = await Promise.all(people.map(({ press }) => press()));
	expect(allBilled() - before).toBe(2);
	expect(results.map(({ execution }) => execution.status)).toEqual(['success', 'success']);
	const saved = await instance.readTable('Upgrade outcomes');
	for (const id of ['W1', 'W2'])
		expect(saved.filter((row) => row.upgradeId === id)).toMatchObject([
			{ outcome: 'upgraded', detail: 'Billed.' },
		]);
});

test('a second person at the same id reads whose row it is, and changes nothing of it', async () => {
	const before = allBilled();
	const held = SANDBOX_PLANS.failingPayment;
	const first = csv(['O1', emma, pro], ['O2', noah, held]);
	const second = csv(['O1', noah, pro], ['O2', emma, pro]);
	const [eva, ann] = [await form.choose(first), await form.choose(second)];
	await eva.press();
	const rows = async () =>
		(await instance.readTable('Upgrade outcomes')).filter(({ upgradeId }) =>
			/^O\d$/.test(String(upgradeId)),
		);
	const saved = await rows();
	expect(saved.map(({ outcome, planId }) => [outcome, planId])).toEqual([
		['upgraded', pro],
		['held', held],
	]);
	const { page, execution } = await ann.press();
	expect(page).toContain('0 newly billed, 0 billed before, 2 may be billed ');
	expect(page).toContain(
		`Rows 2 (O1, ${noah}), 3 (O2, ${emma}) are unknown. Another upload is sending this id, or sent it. It may be billed. Do not give it a new id. In ten minutes, look at its row in Upgrade outcomes. If it is unknown, decide in Settle open upgrades.`,
	);
	expect([execution.status, allBilled() - before]).toEqual(['success', 1]);
	expect(await rows()).toEqual(saved);
	// If n8n stopped while a row was sent, there is no row yet.
	await instance.deleteRows('Upgrade outcomes', 'upgradeId', 'O2');
	const again = await form.upload(csv(['O2', noah, held]));
	expect(again.execution.status).toBe('error');
	expect((await rows()).at(-1)).toMatchObject({ upgradeId: 'O2', outcome: 'unknown' });
});

/** Runs a test with a change of the example's nodes, and takes it back. */
async function withNodes(edit: (node: INode) => INode, run: () => Promise<void>): Promise<void> {
	const { api, exampleId } = instance;
	const id = exampleId('upgrades-from-file');
	const { nodes } = await api.readWorkflow(id);
	const publish = async (changed: INode[]) => {
		await api.updateWorkflow(id, { nodes: changed });
		await api.activateWorkflow(id);
	};
	await publish(nodes.map(edit));
	await run().finally(async () => await publish(nodes));
}

test('a page that nobody answers bills nothing when its time is over', async () => {
	// Long enough for a busy machine to see the page.
	const soon = { resumeAmount: 10, resumeUnit: 'seconds' };
	const isPage = ({ name }: INode) => name === 'Bill these rows?';
	const edit = (node: INode) =>
		isPage(node) ? { ...node, parameters: { ...node.parameters, ...soon } } : node;
	await withNodes(edit, async () => {
		const before = allBilled();
		const { id, asked } = await form.choose(csv(['L1', emma, pro]));
		expect(asked).toContain('Bill this row?');
		expect((await instance.api.waitForExecution(id, 180_000)).status).toBe('success');
		expect(allBilled()).toBe(before);
	});
});

test('if the table refuses the outcomes, the person still reads what was billed', async () => {
	const dataTableId = { __rl: true, mode: 'id', value: 'deleted' } as const;
	const isSaved = ({ name }: INode) => ['Skip upgraded rows', 'Save outcome'].includes(name);
	const without = (node: INode) =>
		isSaved(node) ? { ...node, parameters: { ...node.parameters, dataTableId } } : node;
	await withNodes(without, async () => {
		const { page, execution } = await form.upload(csv(['T1', emma, pro]));
		expect(page).toContain('1 newly billed, 0 billed before');
		expect(execution.status).toBe('error');
		expect(execution.data.resultData.lastNodeExecuted).toBe('Skip upgraded rows');
	});
});

test('a row that the service confirmed counts as billed, also if the node could not show it', async () => {
	const error = {
		id: 'write.notShown',
		outcome: 'applied',
		message: 'The service did what was asked for, but the node could not show its response',
		description: 'Do not send it again.',
	};
	const jsCode = `return ${JSON.stringify([{ json: { error } }])};`;
	const notShown = (node: INode) =>
		node.name === 'Upgrade plan'
			? { ...node, type: 'n8n-nodes-base.code', typeVersion: 2, parameters: { jsCode } }
			: node;
	await withNodes(notShown, async () => {
		const { page, execution } = await form.upload(csv(['A1', emma, pro]));
		expect(page).toContain('1 newly billed, 0 billed before');
		expect(page).toContain(
			`Row 2 (A1, ${emma}) is upgraded. Billed. ${error.message}. Do not send it again.`,
		);
		expect(page).not.toContain('upload the file again');
		expect(execution.status).toBe('success');
	});
	const saved = await instance.readTable('Upgrade outcomes');
	expect(saved.find(({ upgradeId }) => upgradeId === 'A1')!.outcome).toBe('upgraded');
});

test.each(['Read the cells', 'Check the rows', 'Compare the rows', 'List the rows to bill'])(
	'if "%s" fails, the execution fails, and nothing is billed',
	async (name) => {
		const before = allBilled();
		const jsCode = "throw new Error('a fault of the example')";
		const broken = (node: INode) =>
			node.name === name ? { ...node, parameters: { ...node.parameters, jsCode } } : node;
		await withNodes(broken, async () => {
			await expect(form.choose(csv(['C1', emma, pro]))).rejects.toThrow('The form ended: error');
		});
		expect(allBilled()).toBe(before);
	},
);

test('a character that PostgreSQL refuses is replaced before a row is saved', async () => {
	const { faults } = instance.sandbox;
	const body = { status: 'error', errorCode: 'x', errorMessage: 'no\u0000way' };
	faults.add({ path: '/plan/upgrade', response: { status: 401, body: JSON.stringify(body) } });
	await form.upload(csv(['N1', emma, pro]));
	const [row] = (await instance.readTable('Upgrade outcomes')).filter(
		(one) => one.upgradeId === 'N1',
	);
	expect(row!.detail).not.toContain('\0');
	expect(row!.outcome).toBe('refused');
});
