import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import type { Execution } from '../../host/rest.mts';
import { scoreResume } from '../../sandbox/score.mts';
import type { Section } from '../../sandbox/store.mts';
import { outputOf, startInstance, startMilliseconds, type Instance } from './instance.mts';

/** The nightly sync in a real n8n, whatever happens to it. */

/** With 2.5 resumes each. */
const users = 24;

let instance: Instance;

beforeAll(async () => {
	instance = await startInstance({}, users);
	await settings({ usersPerBatch: 4 });
}, startMilliseconds);

afterAll(async () => await instance?.close(), 60_000);

beforeEach(async () => {
	instance.sandbox.faults.clear();
	await settings({ markGone: true });
});

const runMilliseconds = 110_000;

function query(sql: string, ...values: Array<string | number>) {
	return instance.sandbox.database.prepare(sql).all(...values);
}

const change = (sql: string, ...values: Array<string | number>) => void query(sql, ...values);

/** Changes fields of the node Settings. */
async function settings(fields: Record<string, unknown>): Promise<void> {
	await changeNode('Settings', ({ assignments, ...others }) => {
		const list = (assignments as { assignments: Array<{ name: string; value: unknown }> })
			.assignments;
		return {
			...others,
			assignments: {
				assignments: list.map((one) => ({ ...one, value: fields[one.name] ?? one.value })),
			},
		} as IDataObject;
	});
}

async function changeNode(name: string, edit: (parameters: IDataObject) => object): Promise<void> {
	const { api, exampleId } = instance;
	const id = exampleId('nightly-sync');
	const { nodes } = await api.readWorkflow(id);
	await api.updateWorkflow(id, {
		nodes: nodes.map((node) =>
			node.name === name
				? { ...node, parameters: edit(node.parameters) as typeof node.parameters }
				: node,
		),
	});
}

const start = async () =>
	await instance.api.runWorkflow(instance.exampleId('nightly-sync'), 'Every night');

async function sync(): Promise<Execution> {
	return await instance.api.waitForExecution(await start(), runMilliseconds);
}

/** The night's row, as the last step has written it. */
const outcome = (execution: Execution) => outputOf(execution, 'Summary')[0]?.json;

/** A run that was killed holds the next ones up for half an hour, unless its row is deleted. */
async function deleteRunningRuns(): Promise<void> {
	const { api } = instance;
	const runs = (await api.listDataTables()).find(({ name }) => name === 'Sync nights')!;
	await api.deleteRows(runs.id, 'state', 'running');
}

/** What the table has to hold of each resume, as the service has it now. */
function service(): string[] {
	return query('SELECT id, user_id AS userId, title FROM resumes').map(({ id, userId, title }) => {
		const sections = query(
			'SELECT id, type, title, content FROM sections WHERE resume_id = ? ORDER BY position',
			String(id),
		);
		const { score } = scoreResume(sections as unknown as Section[]);
		return line({ resumeId: id, userId, title, score });
	});
}

/** The rows of the table that are not marked as gone. */
async function table(): Promise<string[]> {
	const rows = await instance.readTable('Synced resumes');
	return rows.filter(({ gone }) => gone === null).map(line);
}

const line = ({ resumeId, userId, title, score }: Record<string, unknown>) =>
	[resumeId, userId, title, score].join(' | ');

/** A night that is like the service, to the row. */
async function expectInStep(): Promise<void> {
	expect((await table()).sort()).toEqual(service().sort());
}

/** `SYNC_RUNS=20 npm run test:host -- sync` takes longer and looks further. */
it('ends with one row a resume and the right score, whatever was killed or failed before', async () => {
	const nightly = fc.record({
		/** Changed since the night before: one of so many. */
		changed: fc.integer({ min: 2, max: 20 }),
		failing: fc.array(fc.constantFrom('/user/*', '/resume/*', '/user/user-007/*'), {
			maxLength: 2,
		}),
		failures: fc.integer({ min: 1, max: 12 }),
		/** n8n is killed after so many requests, where they are so many. */
		killedAfter: fc.option(fc.integer({ min: 1, max: 120 })),
	});
	let serial = 0;
	const nights = fc.array(nightly, { minLength: 1, maxLength: 3 });
	await fc.assert(
		fc.asyncProperty(nights, async (script) => {
			for (const { changed, failing, failures, killedAfter } of script) {
				change(
					'UPDATE sections SET content = content || ? WHERE position = 0 AND rowid % ? = 0',
					` - ${serial++} more words`,
					changed,
				);
				for (const path of failing) {
					const answer = { status: 404, body: '' };
					instance.sandbox.faults.add({ path, times: failures, answer });
				}
				await night(killedAfter);
				instance.sandbox.faults.clear();
			}
			const last = await sync();
			expect(last.status).toBe('success');
			await expectInStep();
		}),
		{ numRuns: Number(process.env.SYNC_RUNS ?? 1), endOnFailure: true },
	);
}, 1_200_000);

async function night(killedAfter: number | null): Promise<void> {
	const { requests } = instance.sandbox;
	requests.length = 0;
	const id = await start();
	if (killedAfter === null) return void (await instance.api.waitForExecution(id, runMilliseconds));
	while (requests.length < killedAfter) {
		await sleep(5);
		const { status } = await instance.api.readExecution(id);
		if (status !== 'running' && status !== 'new') return;
	}
	process.kill(instance.n8n.pid, 'SIGKILL');
	await instance.n8n.ended;
	await instance.n8n.stop();
	await instance.startN8nAgain();
	await deleteRunningRuns();
}

describe('two runs at the same time', () => {
	/** So that the first is at work when the second comes. */
	beforeEach(() => instance.sandbox.faults.add({ path: '/resume/*', delayMs: 100 }));

	it('leaves the night to the run that was there first', async () => {
		await sync();
		change("UPDATE sections SET content = content || ' again' WHERE position = 0");
		instance.sandbox.requests.length = 0;
		const first = await start();
		// Each batch tells that the run is still at work.
		const isRenewed = async () =>
			(await instance.readTable('Sync nights')).some(
				({ state, createdAt, updatedAt }) => state === 'running' && createdAt !== updatedAt,
			);
		while (!(await isRenewed())) {
			expect((await instance.api.readExecution(first)).status).toMatch(/^(new|running)$/);
			await sleep(20);
		}
		const second = await sync();
		expect(second.data.resultData.error?.message).toMatch(/^Another night is at work/);
		expect((await instance.api.waitForExecution(first, runMilliseconds)).status).toBe('success');
		const scores = instance.sandbox.requests.filter(({ url }) => url.endsWith('/score'));
		expect(scores).toHaveLength(service().length);
		await expectInStep();
	}, 300_000);

	it('leaves one row of each resume a night later, even where both go on', async () => {
		const { api } = instance;
		const rows = (await api.listDataTables()).find(({ name }) => name === 'Synced resumes')!;
		for (const { userId } of await api.readRows(rows.id)) {
			await api.deleteRows(rows.id, 'userId', String(userId));
		}
		expect(await table()).toEqual([]);
		const runs: string[] = [];
		for (let run = 0; run < 2; run++) {
			instance.sandbox.requests.length = 0;
			runs.push(await start());
			while (instance.sandbox.requests.length < 20) await sleep(20);
			// What somebody does who takes the run for dead.
			await deleteRunningRuns();
		}
		for (const id of runs) await instance.api.waitForExecution(id, runMilliseconds);
		await sync();
		await expectInStep();
	}, 300_000);
});

describe('what is gone from the service', () => {
	const goneOf = async (resumeId: string) =>
		(await instance.readTable('Synced resumes')).find((row) => row.resumeId === resumeId)?.gone;
	const restore = () => {
		change("UPDATE resumes SET user_id = substr(user_id, 6) WHERE user_id LIKE 'away-%'");
		change("UPDATE users SET id = substr(id, 6) WHERE id LIKE 'away-%'");
	};

	beforeEach(async () => {
		change('PRAGMA foreign_keys = OFF');
		await sync();
	});
	afterEach(restore);

	it('is reported once and marked, and unmarked when it is back', async () => {
		change("UPDATE resumes SET user_id = 'away-' || user_id WHERE id = 'resume-003'");
		change("UPDATE resumes SET user_id = 'away-' || user_id WHERE user_id = 'user-005'");
		const ofUser = query("SELECT id FROM resumes WHERE user_id = 'away-user-005'");
		change("DELETE FROM subscriptions WHERE user_id = 'user-005'");
		change("UPDATE users SET id = 'none-' || id WHERE id = 'user-005'");
		const first = await sync();
		expect(first.status).toBe('success');
		const gone = ['resume-003', ...ofUser.map(({ id }) => String(id))];
		expect(String(outcome(first)!.gone).split(', ').toSorted()).toEqual(gone.toSorted());
		for (const id of gone) expect(await goneOf(id)).toMatch(/^\d{4}-\d\d-\d\d$/);

		expect(outcome(await sync())).toMatchObject({ gone: '', saved: 0 });

		change("UPDATE users SET id = 'user-005' WHERE id = 'none-user-005'");
		restore();
		expect(outcome(await sync())).toMatchObject({ gone: '', saved: gone.length });
		expect(await goneOf('resume-003')).toBeNull();
		await expectInStep();
	}, 300_000);

	it('is reported and left alone where the switch is off', async () => {
		await settings({ markGone: false });
		change("UPDATE resumes SET user_id = 'away-' || user_id WHERE id = 'resume-003'");
		for (const time of ['first', 'second']) {
			expect([time, outcome(await sync())]).toMatchObject([time, { gone: 'resume-003' }]);
		}
		expect(await goneOf('resume-003')).toBeNull();
	}, 300_000);

	it('is not what could not be read', async () => {
		instance.sandbox.faults.add({
			path: '/user/user-003/resumes',
			answer: { status: 404, body: '' },
		});
		instance.sandbox.faults.add({ path: '/resume/resume-001', answer: { status: 404, body: '' } });
		const execution = await sync();
		expect(outcome(execution)).toMatchObject({ gone: '', saved: 0, failures: 2 });
		instance.sandbox.faults.clear();
		await expectInStep();
	}, 300_000);

	it('leaves one row of a resume that moves to another user', async () => {
		change("UPDATE resumes SET user_id = 'user-020' WHERE id = 'resume-001'");
		await sync();
		await expectInStep();
		change("UPDATE resumes SET user_id = 'user-001' WHERE id = 'resume-001'");
		await sync();
		await expectInStep();
		// The row that it had with the other user is marked as gone, and goes with the next night.
		await sync();
		await expectInStep();
		const rows = await instance.readTable('Synced resumes');
		expect(rows.filter(({ resumeId }) => resumeId === 'resume-001')).toHaveLength(1);
	}, 300_000);
});

describe('bad input', () => {
	const allUsers = () => query('SELECT id, email FROM users ORDER BY rowid');
	const resumesOf = (userId: string) =>
		query('SELECT id, user_id AS userId, title FROM resumes WHERE user_id = ?', userId);
	const answer = (path: string, data: unknown, times?: number) =>
		instance.sandbox.faults.add({
			path,
			...(times !== undefined && { times }),
			answer: { status: 200, body: JSON.stringify({ status: 'success', data }) },
		});
	const long = 'r'.repeat(200);

	beforeAll(async () => {
		await sync();
	}, 300_000);

	it.each<{ title: string; prepare: () => void; failed?: RegExp; saved?: number }>([
		{
			title: 'a list of users with one user twice',
			prepare: () => answer('/users', [...allUsers(), allUsers()[0]]),
		},
		{
			title: 'a list of users with one that has no ID',
			prepare: () => answer('/users', [...allUsers(), { email: 'nobody@example.com' }]),
			failed: /^Their resumes of without an ID: /,
		},
		{
			title: 'a list of resumes with one resume twice',
			prepare: () =>
				answer('/user/user-002/resumes', [...resumesOf('user-002'), resumesOf('user-002')[0]]),
		},
		{
			title: 'a resume without an ID',
			prepare: () =>
				answer('/user/user-002/resumes', [...resumesOf('user-002'), { title: 'No ID' }]),
			failed: /^Whole resume of without an ID: /,
		},
		{
			title: 'an answer of 20 MB',
			prepare: () =>
				answer('/resume/resume-010', {
					id: 'resume-010',
					title: 'Large',
					sections: [{ content: 'x'.repeat(20 * 1024 * 1024) }],
				}),
			saved: 1,
		},
	])(
		'$title is no trouble for the others',
		async ({ prepare, failed = /^$/, saved = 0 }) => {
			prepare();
			const execution = await sync();
			instance.sandbox.faults.clear();
			expect(outcome(execution)).toMatchObject({ saved, gone: '' });
			expect(outcome(execution)!.failed).toMatch(failed);
			expect(execution.status).toBe(failed.test('') ? 'success' : 'error');
			if (saved > 0) await sync();
			await expectInStep();
		},
		120_000,
	);

	it('takes IDs of 200 characters', async () => {
		const user = 'u'.repeat(200);
		change("INSERT INTO users VALUES (?, 'long@example.com', 'Long', 'Name', 0, 0)", user);
		change("INSERT INTO resumes VALUES (?, ?, 'Long', 0, 0, '{}')", long, user);
		expect(outcome(await sync())).toMatchObject({
			users: users + 1,
			saved: 1,
			gone: '',
			failures: 0,
		});
		await expectInStep();
		change('DELETE FROM resumes WHERE id = ?', long);
		change('DELETE FROM users WHERE id = ?', user);
		expect(outcome(await sync())).toMatchObject({ users, gone: long });
	}, 300_000);

	it('reads a service that pages, and that repeats a record in two pages', async () => {
		const pagination = {
			pagination: {
				pagination: {
					mode: 'offset',
					parameterName: 'offset',
					firstOffset: 0,
					sizeParameterName: 'limit',
					pageSize: 10,
					maxPages: 100,
				},
			},
		};
		await changeNode('All users', (parameters) => ({ ...parameters, options: pagination }));
		expect(outcome(await sync())).toMatchObject({ users, saved: 0, gone: '', failures: 0 });
		const all = allUsers();
		answer('/users', all.slice(0, 10), 1);
		answer('/users', all.slice(9, 19), 1);
		answer('/users', all.slice(18), 1);
		expect(outcome(await sync())).toMatchObject({ users, saved: 0, gone: '', failures: 0 });
		await changeNode('All users', (parameters) => ({ ...parameters, options: {} }));
	}, 300_000);
});
