/**
 * Runs the nightly sync as a user imports it, in a real n8n, against a service of so many users that
 * answers after 5 ms: `npm run bench:sync`, for half an hour, or `npm run bench:sync -- --users 100`.
 * Keeps the figures in bench/sync.json and writes them, and what follows from them, into
 * docs/scaling.md.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import axios from 'axios';
import { buildPackage } from '../host/build.mts';
import { reportTo } from '../host/progress.mts';
import type { EditorApi } from '../host/rest.mts';
import { prepareWorkspace } from '../host/workspace.mts';
import { SANDBOX_KEYS } from '../sandbox/seed.mts';
import {
	readFigures,
	writeFigures,
	type Night,
	type SizeFigures,
} from '../scripts/syncFigures.mts';
import { writeTables } from '../scripts/syncTables.mts';
import { memory, processorSeconds, resetPeak, startInstance, type Instance } from './instance.mts';
import { startPartner, type Partner } from './partner.mts';

const latency = 5;

/**
 * V8 lets its heap grow while there is memory, before it looks for garbage. With a limit one sees what
 * the sync needs, and not what the machine has.
 */
const heapMegabytes = 1_024;

const nightMilliseconds = 4 * 3_600_000;

const { values } = parseArgs({ options: { users: { type: 'string', default: '100,1000,10000' } } });
const report = reportTo(process.stderr);
await buildPackage(report);
for (const users of values.users.split(',').map(Number)) {
	const partner = await startPartner({ users, latency });
	const instance = await report('Starting n8n', startInstance);
	try {
		const size = await measure(users, instance, partner);
		const { sizes } = await readFigures();
		const others = sizes.filter((one) => one.users !== users);
		const figures = {
			n8n: instance.version,
			date: new Date().toISOString().slice(0, 10),
			heapMegabytes,
			latency,
			sizes: [...others, size].sort((one, other) => one.users - other.users),
		};
		await writeFigures(figures);
		await writeTables(figures);
	} finally {
		await instance.close();
		await partner.close();
	}
}

async function measure(users: number, instance: Instance, partner: Partner): Promise<SizeFigures> {
	const env = {
		NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}`,
		// The example keeps no scheduled run that has succeeded. Its runs here are started by hand.
		EXECUTIONS_DATA_SAVE_MANUAL_EXECUTIONS: 'false',
	};
	await instance.restart(env);
	const access = {
		baseUrl: partner.baseUrl,
		privateKey: SANDBOX_KEYS.live,
		webhookSecret: 'secret',
	};
	const examples = await prepareWorkspace(instance.api, access);
	const { id } = examples.find(({ file }) => file === 'nightly-sync')!;
	const resident = async () => (await memory(instance.n8n.pid)).resident;
	const startMegabytes = await resident();
	let before = startMegabytes;

	const night = async (title: string): Promise<Night> => {
		const { api, n8n } = instance;
		await resetPeak(n8n.pid);
		await partner.requests(true);
		const processor = await processorSeconds(n8n.pid);
		const began = performance.now();
		await api.runWorkflow(id, 'Every night');
		await whenAllEnded(api, id);
		const seconds = (performance.now() - began) / 1_000;
		const { peak } = await memory(n8n.pid);
		const used = (await processorSeconds(n8n.pid)) - processor;
		const run = await lastRun(api, title);
		return {
			title,
			seconds,
			processorSeconds: used,
			requests: await partner.requests(true),
			saved: Number(run.saved),
			failures: Number(run.failures),
			peakMegabytes: peak,
			growthMegabytes: peak - before,
			...(await compare(api, partner)),
		};
	};

	const step = async (title: string) => {
		const figures = await report(title, async () => await night(title));
		console.log(figures);
		return figures;
	};
	const nights = [await step('First night'), await step('Nothing has changed')];
	await disturb(partner);
	nights.push(await step('2% of the resumes have changed, and 1% of the users fail'));
	await axios.delete(partner.faultsUrl);
	nights.push(await step('The night after that'));
	const killedAfter = await report('A night that is killed', async () => {
		change(partner, 4);
		return await killInTheMiddle(id, instance, partner, env);
	});
	before = await resident();
	nights.push(await step('The night after one that was killed with -9'));
	return { users, startMegabytes, killedAfter, nights };
}

async function whenAllEnded(api: EditorApi, workflowId: string): Promise<void> {
	const deadline = Date.now() + nightMilliseconds;
	const isAtWork = async () =>
		(await api.listExecutions(workflowId)).some(
			({ status }) => status === 'new' || status === 'running',
		);
	while (await isAtWork()) {
		if (Date.now() > deadline) throw new Error('The night does not end');
		await sleep(100);
	}
}

/** What the last run has written of itself. */
async function lastRun(api: EditorApi, title: string): Promise<Record<string, unknown>> {
	const runs = (await readTable(api, 'Sync nights')).rows;
	const run = runs.at(-1);
	if (!String(run?.state).startsWith('done')) throw new Error(`${title}: ${String(run?.state)}`);
	return run!;
}

async function readTable(api: EditorApi, table: string) {
	const { id } = (await api.listDataTables()).find(({ name }) => name === table)!;
	return { id, rows: await api.readRows(id) };
}

/** Changes one resume of so many. */
function change({ database }: Partner, every: number): void {
	const sql = `UPDATE sections SET content = content || ' and more' WHERE position = 0 AND
		resume_id IN (SELECT id FROM resumes WHERE rowid % ? = 0)`;
	database.prepare(sql).run(every);
}

/** Changes 2% of the resumes, and lets the requests for the resumes of 1% of the users fail. */
async function disturb(partner: Partner): Promise<void> {
	change(partner, 50);
	const failing = partner.database.prepare('SELECT id FROM users WHERE rowid % 100 = 1').all();
	for (const { id } of failing) {
		const fault = { path: `/user/${String(id)}/resumes`, answer: { status: 500 } };
		await axios.post(partner.faultsUrl, fault);
	}
}

/** Ends n8n once half of what has changed is scored; answers after how many requests. */
async function killInTheMiddle(
	id: string,
	instance: Instance,
	partner: Partner,
	env: Record<string, string>,
): Promise<number> {
	const half = partner.resumes().length / 8;
	await partner.requests(true);
	await instance.api.runWorkflow(id, 'Every night');
	const scores = async () => (await partner.requests(false))['GET /resume/:id/score'] ?? 0;
	while ((await scores()) < half) await sleep(50);
	process.kill(instance.n8n.pid, 'SIGKILL');
	await instance.n8n.ended;
	const requests = sum(await partner.requests(true));
	await instance.restart(env);
	// What docs/scheduled-sync.md says to do after a run was killed, to run again at once.
	const { id: runs } = await readTable(instance.api, 'Sync nights');
	await instance.api.deleteRows(runs, 'state', 'running');
	return requests;
}

/** How many rows there are, and how many are not as the service has it. */
async function compare(
	api: EditorApi,
	partner: Partner,
): Promise<{ rows: number; wrongRows: number }> {
	const { rows } = await readTable(api, 'Synced resumes');
	const text = (id: unknown, userId: unknown, score: unknown) => `${id} ${userId} ${score}`;
	const left = new Set(partner.resumes().map(({ id, userId, score }) => text(id, userId, score)));
	const wrong = rows.filter(
		({ resumeId, userId, score }) => !left.delete(text(resumeId, userId, score)),
	);
	return { rows: rows.length, wrongRows: Math.max(wrong.length, left.size) };
}

function sum(counts: Record<string, number>): number {
	return Object.values(counts).reduce((total, count) => total + count, 0);
}
