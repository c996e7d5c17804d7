import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Execution } from '../../host/rest.mts';
import { withValues } from '../../host/workflow.mts';
import { scoreResume } from '../../sandbox/score.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { Store, type Resume } from '../../sandbox/store.mts';
import {
	addExamples,
	outputOf,
	startInstance,
	startMilliseconds,
	tested,
	type OwnInstance,
} from './instance.mts';

/** Both syncs in a real n8n, with failures, kills and changes of the service's data. */

jest.setTimeout(300_000);

let instance: OwnInstance;
let exampleId: (file: string) => string;

/** The Data Table of each sync. */
const tables = { 'nightly-sync': 'Synced resumes', 'large-sync': 'Resume copies' };
type Sync = keyof typeof tables;
const syncs = Object.keys(tables) as Sync[];

beforeAll(async () => {
	// Each user has 2.5 resumes on average.
	instance = await startInstance({}, 12);
	({ exampleId } = await addExamples(instance));
	instance.query('PRAGMA foreign_keys = OFF');
	await settings({ usersPerBatch: 4 });
}, startMilliseconds);

afterAll(async () => await instance?.close(), 60_000);

beforeEach(() => instance.sandbox.faults.clear());

/** Changes the settings of the large sync. */
async function settings(values: Record<string, unknown>): Promise<void> {
	const id = exampleId('large-sync');
	const { nodes } = await instance.api.readWorkflow(id);
	await instance.api.updateWorkflow(id, {
		nodes: nodes.map((node) => (node.name === 'Settings' ? withValues(node, values) : node)),
	});
}

const start = async (which: Sync) =>
	await instance.api.runWorkflow(exampleId(which), 'Every night');

const sync = async (which: Sync) =>
	await instance.api.waitForExecution(await start(which), 110_000);

const failureOf = ({ data }: Execution) => data.resultData.error?.message ?? '';

/** Deletes the row of a killed night, which otherwise keeps the next nights from starting for half an hour. */
const deleteRunningNights = async () =>
	await instance.deleteRows('Sync nights', 'state', 'running');

const rowsOf = async (which: Sync) => await instance.readTable(tables[which]);

const goneIn = async (which: Sync) =>
	(await rowsOf(which)).filter(({ gone }) => gone).map(({ resumeId }) => String(resumeId));

/** Expects one row for each resume that the service has, beside the rows that are marked as gone. */
async function expectInStep(which: Sync): Promise<void> {
	const line = ({ resumeId, userId, title, score }: Record<string, unknown>) =>
		[resumeId, userId, title, score].join(' | ');
	const rows = await rowsOf(which);
	const store = new Store(instance.sandbox.database);
	const resumes = instance.query('SELECT id FROM resumes').map(({ id }) => {
		const resume = store.findResume(String(id)) as Resume;
		return line({ ...resume, resumeId: id, score: scoreResume(resume.sections).score });
	});
	const lines = rows.filter(({ gone }) => !gone).map(line);
	expect(lines.sort()).toEqual(resumes.sort());
	expect(JSON.stringify(rows)).not.toContain(SANDBOX_KEYS.live);
}

/** `SYNC_RUNS=20 npm run test:host -- sync` takes longer and tries more. */
it.each(syncs)(
	'%s repairs its table after nights that fail or are killed',
	async (which) => {
		const night = fc.record({
			/** The divisor for sections: one of so many is changed. */
			changed: fc.integer({ min: 2, max: 20 }),
			failing: fc.array(fc.constantFrom('/user/*', '/resume/*', '/user/user-007/*')),
			failures: fc.integer({ min: 1, max: 12 }),
			/** Requests before n8n is killed. A night may end before. */
			killedAfter: fc.integer({ min: 1, max: 60 }),
		});
		const { faults, requests } = instance.sandbox;
		let serial = 0;
		const write = 'UPDATE sections SET content = content || ? WHERE position = 0 AND rowid % ? = 0';
		await fc.assert(
			fc.asyncProperty(night, async ({ changed, failing, failures: times, killedAfter }) => {
				instance.query(write, ` - ${serial++} more words`, changed);
				for (const path of failing) faults.add({ path, times, answer: { status: 404 } });
				requests.length = 0;
				const run = await start(which);
				const isRunning = async () =>
					/new|running/.test((await instance.api.readExecution(run)).status);
				while (requests.length < killedAfter && (await isRunning())) await sleep(50);
				await instance.killN8n();
				await instance.startN8nAgain();
				await deleteRunningNights();
				faults.clear();
				expect((await sync(which)).status).toBe('success');
				await expectInStep(which);
			}),
			{ numRuns: Number(process.env.SYNC_RUNS ?? 1), endOnFailure: true },
		);
	},
	1_200_000,
);

it.each(syncs)('%s saves what it can read, and scores only what has changed', async (which) => {
	const { faults, requests } = instance.sandbox;
	instance.query("UPDATE sections SET content = content || ' once more' WHERE position = 0");
	for (const path of ['/user/user-002/resumes', '/resume/resume-010', '/resume/resume-020/score']) {
		faults.add({ path, answer: { status: 404 } });
	}
	const failed = await sync(which);
	faults.clear();
	expect(failed.status).toBe('error');
	for (const failure of ['resumes of user-002', 'resume of resume-010', 'Score of resume-020']) {
		expect(failureOf(failed)).toMatch(new RegExp(`${failure}: .*nothing at this address`));
	}
	expect(await goneIn(which)).toEqual([]);
	const unread = instance.query("SELECT id FROM resumes WHERE user_id = 'user-002'").length + 2;
	for (const scored of [unread, 0]) {
		requests.length = 0;
		expect((await sync(which)).status).toBe('success');
		expect(requests.filter(({ url }) => url.endsWith('/score'))).toHaveLength(scored);
		await expectInStep(which);
	}
});

it('large-sync keeps one row for each resume when nights overlap', async () => {
	const { faults, requests } = instance.sandbox;
	instance.query("UPDATE sections SET content = content || ' again' WHERE position = 0");
	faults.add({ path: '/resume/*', delayMs: 1_000 });
	const startAndRead = async () => {
		requests.length = 0;
		const run = await start('large-sync');
		while (requests.length < 10) await sleep(20);
		return run;
	};
	const first = await startAndRead();
	expect(failureOf(await sync('large-sync'))).toMatch(/^Another night is at work/);
	// A person deletes the row of a night that seems to have been killed.
	await deleteRunningNights();
	const second = await startAndRead();
	expect((await instance.api.readExecution(first)).status).toBe('running');
	faults.clear();
	for (const run of [first, second]) await instance.api.waitForExecution(run);
	expect((await sync('large-sync')).status).toBe('success');
	await expectInStep('large-sync');
});

it('large-sync marks resumes that are gone, and unmarks those that are back', async () => {
	const night = async () => outputOf(await sync('large-sync'), 'Summary')[0]!.json;
	await night();
	// One resume is gone, and one user with all resumes.
	instance.query("UPDATE resumes SET user_id = 'away' WHERE id = 'resume-003'");
	instance.query("UPDATE users SET id = 'none' WHERE id = 'user-005'");
	const moved = instance.query("SELECT id FROM resumes WHERE user_id = 'user-005'");
	const gone = ['resume-003', ...moved.map(({ id }) => String(id))];

	await settings({ markGone: false });
	expect(
		String((await night()).gone)
			.split(', ')
			.sort(),
	).toEqual(gone);
	expect(await goneIn('large-sync')).toEqual([]);
	await settings({ markGone: true });
	await night();
	expect((await goneIn('large-sync')).sort()).toEqual(gone);
	expect(await night()).toMatchObject({ state: 'done', gone: '', saved: 0 });

	instance.query("UPDATE users SET id = 'user-005' WHERE id = 'none'");
	for (const user of ['user-010', 'user-001']) {
		instance.query("UPDATE resumes SET user_id = ? WHERE id = 'resume-003'", user);
		await night();
		await expectInStep('large-sync');
	}
	// The row with the previous user is marked as gone, and the next night deletes it.
	await night();
	expect(await goneIn('large-sync')).toEqual([]);
});

it('large-sync saves the rest when records are repeated or have no ID', async () => {
	await sync('large-sync');
	const answer = (path: string, data: unknown) => {
		const body = JSON.stringify({ status: 'success', data });
		instance.sandbox.faults.add({ path, times: 1, answer: { status: 200, body } });
	};
	const users = instance.query('SELECT id, email FROM users');
	answer('/users', [...users, users[0], { email: 'nobody@example.com' }]);
	const resumes = instance.query("SELECT id, title FROM resumes WHERE user_id = 'user-002'");
	answer('/user/user-002/resumes', [...resumes, resumes[0], { title: 'No ID' }]);
	instance.query("UPDATE sections SET content = content || ' last' WHERE position = 0");
	expect(failureOf(await sync('large-sync'))).toMatch(/^2 of the users and resumes could not/);
	expect(await goneIn('large-sync')).toEqual([]);
	await expectInStep('large-sync');
});

it('both syncs can be activated', async () => {
	// n8n 2 requires that the called workflow is active. n8n 1 can't activate it, because it has no trigger.
	const called = tested === '1' ? [] : ['large-sync-batch'];
	for (const file of [...called, ...syncs]) await instance.api.activateWorkflow(exampleId(file));
});
