import { activateNightly, nightMilliseconds, type Nightly } from './nightly.mts';
import { until } from './executions.mts';
import { startMilliseconds, startTopology, type QueueProcess, type Topology } from './topology.mts';
import { killNoticedSooner } from './upgrades.mts';

/** The nightly sync, its batches spread over the workers. */

const users = 400;

let topology: Topology;
let nightly: Nightly;

beforeAll(async () => {
	topology = await startTopology(2, killNoticedSooner, users);
	nightly = await activateNightly(topology);
}, startMilliseconds);

afterAll(async () => await topology?.close(), 120_000);

async function expectOneRowEach(): Promise<void> {
	const { api, sandbox } = topology;
	const table = (await api.listDataTables()).find(({ name }) => name === 'Synced resumes')!;
	const rows = (await api.readRows(table.id)).map(
		({ resumeId, userId }) => `${resumeId} ${userId}`,
	);
	const resumes = sandbox.database.prepare('SELECT id, user_id AS userId FROM resumes').all();
	expect(rows.sort()).toEqual(resumes.map(({ id, userId }) => `${id} ${userId}`).sort());
}

test('two workers do a night together', async () => {
	const first = await nightly.ended(await nightly.start());
	expect(first.summary).toMatchObject({ users, saved: 1_000, failures: 0 });
	expect(first.batches.reduce((one, other) => one + other)).toBe(users / 25);
	expect(Math.min(...first.batches)).toBeGreaterThan(0);
	await expectOneRowEach();
	const second = await nightly.ended(await nightly.start());
	expect(second.summary).toMatchObject({ saved: 0, gone: '', failures: 0 });
}, 900_000);

test('a worker that is killed costs its batches, which the next night does', async () => {
	topology.sandbox.database.exec("UPDATE sections SET content = content || ' and more'");
	const [worker] = topology.workers as [QueueProcess];
	topology.sandbox.requests.length = 0;
	const id = await nightly.start();
	await until('some scores are asked for', nightMilliseconds, () =>
		topology.sandbox.requests.some(({ url }) => url.endsWith('/score')) ? true : undefined,
	);
	await worker.kill();
	await worker.startAgain();
	await nightly.ended(id);
	const next = await nightly.ended(await nightly.start());
	expect(next.summary).toMatchObject({ users, gone: '', failures: 0 });
	await expectOneRowEach();
}, 900_000);

test('one worker does it as well', async () => {
	const [worker] = topology.workers as [QueueProcess];
	await worker.n8n.stop();
	const { summary, batches } = await nightly.ended(await nightly.start());
	expect(summary).toMatchObject({ saved: 0, gone: '', failures: 0 });
	expect(batches[0]).toBe(0);
	await worker.startAgain();
}, 900_000);
