/**
 * Compares this package with n8n's own nodes in a real n8n. `npm run bench` writes its table to bench/README.md.
 * `npm run bench -- --quick` takes fewer rounds, and only prints the table.
 */
import { parseArgs } from 'node:util';
import { buildPackage } from '../host/build.mts';
import { reportTo } from '../host/progress.mts';
import {
	download,
	growthOfReads,
	memoryOfReads,
	reads,
	triggers,
	upgrades,
} from './comparisons.mts';
import { startInstance } from './instance.mts';
import { missOf, tableOf, writeReport, type Row } from './report.mts';
import { startService } from './service.mts';

/** Source: webhookPhaseNeedsIsolate in n8n/dist/webhooks/live-webhooks.js of n8n 2.41. */
const isolates =
	'for each event, n8n makes three isolates for expressions with this trigger, and two with its own Webhook node. N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE removes the difference.';

const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values;
const report = reportTo(process.stderr);
await buildPackage(report);
const service = await startService();
const instance = await report('Starting n8n', startInstance);
const rows: Row[] = [];
try {
	const bench = { instance, service, rounds: quick ? 2 : 3 };
	const step = async (title: string, work: () => Promise<Row | Row[]>) =>
		rows.push(...[await report(title, work)].flat());
	await step('Reading', async () => await reads(bench, 5, 3));
	// With 64 requests at once, 1,000 take 1.6 s on any machine: a fast one gains less.
	await step('Reading slowly', async () => await reads(bench, 100, 1.2));
	await step('Reading more', async () => await growthOfReads(bench));
	await step('Upgrading plans', async () => await upgrades(bench));
	await step('Downloading', async () => await download(bench, quick ? 256 : 1_024));
	if (!quick) {
		await step('Receiving events', async () => await triggers(bench, '', { reason: isolates }));
		await step('Memory', async () => await memoryOfReads(bench));
	}
	// docs/scaling.md recommends this setting.
	await instance.restart({ N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' });
	const lazy = async () =>
		await triggers(bench, ', isolates on demand', { bound: { ratio: 0.95 } });
	await step('Receiving events, isolates on demand', lazy);
} finally {
	await instance.close();
	await service.close();
}
console.log(tableOf(rows));
if (!quick) await writeReport(rows, instance.version);
for (const miss of rows.flatMap((row) => missOf(row) ?? [])) {
	console.error(`✗ ${miss}`);
	process.exitCode = 1;
}
