/**
 * Compares this package with n8n's own nodes in a real n8n. `npm run bench` writes its table to docs/scaling.md.
 * `npm run bench -- --quick` takes fewer rounds, and only prints the table.
 */
import { parseArgs } from 'node:util';
import { buildPackage } from '../host/build.mts';
import { reportTo } from '../host/progress.mts';
import { startInstance } from './instance.mts';
import { downloads } from './downloads.mts';
import { loading } from './loading.mts';
import { linearity, longestWait, memoryOfReads, reads } from './reads.mts';
import { triggers } from './triggers.mts';
import { upgrades } from './upgrades.mts';
import { isFailed, tableOf, writeReport, type Row } from './report.mts';
import { startService } from './service.mts';

/** Source: webhookPhaseNeedsIsolate in n8n/dist/webhooks/live-webhooks.js of n8n 2.41. */
const isolateOfTriggers =
	'for each event, n8n makes three isolates for expressions with this trigger, and two with its own Webhook node. N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE removes the difference.';

const waiting =
	'1,000 reads of 100 ms, 32 side by side, take at least 3.1 seconds. HTTP Request has all of them open at once.';

const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values;
const report = reportTo(process.stderr);
await buildPackage(report);
const service = await startService();
const instance = await report('Starting n8n', startInstance);
const rows: Row[] = [];
try {
	const bench = { instance, service, rounds: quick ? 2 : 5 };
	const step = async <Measured extends Row | Row[]>(
		title: string,
		work: () => Promise<Measured>,
	) => {
		const measured = await report(title, work);
		rows.push(...[measured].flat());
		return measured;
	};
	const slowly = async (parallel: number, ratio: number, unguarded?: string) => {
		const once = { ...bench, rounds: quick ? 1 : 5 };
		const more = { parallel, bound: { ratio }, unguarded };
		await step('Reading slowly', async () => await reads(once, 1_000, 100, more));
	};
	const fast = async (items: number, bound?: Row['bound']) =>
		await step(`Reading ${items} users`, async () => await reads(bench, items, 5, { bound }));
	const events = async (count: number, title: string, unguarded?: string) =>
		await step(
			`Receiving events${title}`,
			async () => await triggers(bench, quick ? 0.4 * count : count, title, unguarded),
		);

	await fast(1_000, { ratio: 2.2 });
	await slowly(32, 0.95, waiting);
	await slowly(100, 1.2);
	await step('Upgrading plans', async () => await upgrades(bench, 100, 5));
	await step('Reading long answers', async () => await longestWait(bench, 32));
	if (!quick) await step('Downloading 100 files', async () => await downloads(bench, 100, 1));
	await step('Downloading a large file', async () => await downloads(bench, 1, quick ? 256 : 1024));
	await events(100, '', isolateOfTriggers);
	if (!quick) {
		// Last in this process: 5,000 items at once leave a large heap.
		await fast(1);
		const few = await fast(100);
		rows.push(linearity(few, 100, await fast(5_000), 5_000));
		const fewer = { ...bench, rounds: 2 };
		await step('Memory', async () => await memoryOfReads(fewer, 10_000));
	}
	await step('Loading', async () => await loading(11));
	// n8n's own Webhook node gets an isolate too, so that the nodes themselves are compared.
	await instance.restart({ N8N_EXPRESSION_ENGINE_ALLOW_WEBHOOK_ISOLATE_SKIP: 'false' });
	await events(100, ', an isolate for both');
	// As docs/scaling.md recommends.
	await instance.restart({ N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' });
	await events(400, ', isolates on demand');
} finally {
	await instance.close();
	await service.close();
}
console.log(tableOf(rows));
if (!quick) await writeReport(rows, instance.version);
if (rows.some(isFailed)) process.exitCode = 1;
