/**
 * Measures the large sync in a real n8n, against a service that answers after 5 ms. `npm run bench:sync` takes half an hour and
 * writes the table of docs/scaling.md. `npm run bench:sync -- --users 100` only prints the table, and `--file nightly-sync`
 * measures the other sync.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildPackage } from '../host/build.mts';
import { reportTo } from '../host/progress.mts';
import { prepareWorkspace } from '../host/workspace.mts';
import { scoreResume } from '../sandbox/score.mts';
import { SANDBOX_KEYS } from '../sandbox/seed.mts';
import { startSandbox, type Sandbox } from '../sandbox/server.mts';
import { Store } from '../sandbox/store.mts';
import { table } from '../scripts/blocks.mts';
import { writeBlock } from '../scripts/write.mts';
import { startInstance, type Instance } from './instance.mts';
import { memory, processorSeconds, resetPeak } from './memory.mts';

const env = {
	// Without a limit, V8 lets its heap grow as far as the machine's memory allows. The figures would tell about the
	// machine, and not about the sync.
	NODE_OPTIONS: '--max-old-space-size=1024',
	// The example saves no scheduled run that has succeeded. Here, its runs are manual.
	EXECUTIONS_DATA_SAVE_MANUAL_EXECUTIONS: 'false',
};

const { users: given, file } = parseArgs({
	options: { users: { type: 'string' }, file: { type: 'string', default: 'large-sync' } },
}).values;
const isLarge = file === 'large-sync';
const report = reportTo(process.stderr);
await buildPackage(report);
const nights: Array<Record<string, string>> = [];
for (const users of (given ?? '100,1000,10000').split(',').map(Number)) {
	const sandbox = await startSandbox({ port: 0, users, record: true });
	const instance = await report('Starting n8n', async () => await startInstance());
	try {
		nights.push(...(await measure(instance, sandbox, users)));
	} finally {
		await instance.close();
		await sandbox.close();
	}
}
console.log(tableOf(nights, Object.keys(nights[0]!)));
if (given === undefined && isLarge) {
	// Columns and rows for users.
	const columns = ['Users', 'Night', 'Time', 'Requests', 'Memory, MB'];
	const shown = nights.filter(({ Users }) => Users !== '100');
	await writeBlock('docs/scaling.md', 'measured', tableOf(shown, columns));
}

function tableOf(nights: Array<Record<string, string>>, columns: string[]): string {
	return table([columns, ...nights.map((night) => columns.map((column) => night[column]!))]);
}

/** Returns a row for each night. */
async function measure(instance: Instance, sandbox: Sandbox, users: number) {
	const { database, faults, requests } = sandbox;
	const slow = { delayMs: 5 };
	faults.add(slow);
	await instance.restart(env);
	const { baseUrl } = sandbox;
	const access = { baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret: 'secret' };
	const examples = await prepareWorkspace(instance.api, access);
	const { id } = examples.find((example) => example.file === file)!;
	const before = (await memory(instance.n8n.pid)).resident;

	const night = async (title: string): Promise<Record<string, string>> => {
		const { api, n8n } = instance;
		await resetPeak(n8n.pid);
		const processor = await processorSeconds(n8n.pid);
		const began = performance.now();
		requests.length = 0;
		await api.runWorkflow(id, 'Every night');
		const isAtWork = async () =>
			(await api.listExecutions(id)).some(({ status }) => /new|running/.test(status));
		while (await isAtWork()) await sleep(100);
		const seconds = (performance.now() - began) / 1_000;
		const { peak } = await memory(n8n.pid);
		const used = (await processorSeconds(n8n.pid)) - processor;
		const run = (await readTable(instance, 'Sync nights')).at(-1);
		if (isLarge && !String(run?.state).startsWith('done')) {
			throw new Error(`${title}: ${String(run?.state)}`);
		}
		return {
			Users: number(users),
			Night: title,
			Time: seconds < 100 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`,
			Requests: number(requests.length),
			'… a second': number(requests.length / seconds),
			'ms of processor each': ((used * 1_000) / requests.length).toFixed(1),
			Saved: number(run?.saved ?? requests.filter(({ url }) => url.endsWith('/score')).length),
			Failures: number(run?.failures ?? 0),
			Rows: await compare(instance, sandbox),
			'Memory, MB': number(peak - before),
		};
	};
	const step = async (title: string) => await report(title, async () => await night(title));
	const nights = [await step('First night'), await step('Nothing has changed')];
	database.exec(`UPDATE sections SET content = content || ' and more' WHERE position = 0 AND
		resume_id IN (SELECT id FROM resumes WHERE rowid % 50 = 0)`);
	faults.clear();
	for (const { id } of database.prepare('SELECT id FROM users WHERE rowid % 100 = 1').all()) {
		faults.add({ ...slow, path: `/user/${String(id)}/resumes`, answer: { status: 500 } });
	}
	faults.add(slow);
	nights.push(await step('2% of the resumes have changed, and 1% of the users fail'));
	faults.clear();
	faults.add(slow);
	nights.push(await step('The night after that'));
	return nights;
}

async function readTable({ api }: Instance, table: string) {
	const { id } = (await api.listDataTables()).find(({ name }) => name === table)!;
	return await api.readRows(id);
}

/** Returns the number of rows, and the number of those that differ from the service. */
async function compare(instance: Instance, { database }: Sandbox): Promise<string> {
	const rows = await readTable(instance, isLarge ? 'Resume copies' : 'Synced resumes');
	const store = new Store(database);
	const resumes = database.prepare('SELECT id FROM resumes').all();
	const wanted = resumes.map(({ id }) => {
		const { userId, sections } = store.findResume(String(id))!;
		return `${String(id)} ${userId} ${scoreResume(sections).score}`;
	});
	const found = new Set(
		rows.map(({ resumeId, userId, score }) => `${resumeId} ${userId} ${score}`),
	);
	const missing = wanted.filter((row) => !found.has(row)).length;
	return `${number(rows.length)}, ${number(Math.max(missing, rows.length - wanted.length))} wrong`;
}

function number(value: unknown): string {
	return Math.round(Number(value)).toLocaleString('en');
}
