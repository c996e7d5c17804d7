import { setTimeout as sleep } from 'node:timers/promises';

import axios from 'axios';

import type { Execution } from '../../host/rest.mts';
import { startInstance, startMilliseconds, type Instance } from './instance.mts';

/** workflows/section-saved-score.json, started by sections that are saved in the sandbox. */

/** Contents that score below and above the example's threshold. */
const poorContent = 'To be written.';
const goodContent = '- Led eight people, and cut the time of delivery by 40 percent\n'.repeat(8);

let instance: Instance;
let workflowId: string;

beforeAll(async () => {
	instance = await startInstance();
	workflowId = instance.exampleId('section-saved-score');
}, startMilliseconds);

afterAll(async () => {
	await instance?.close();
}, 60_000);

/** Sections of a resume, in their order. */
function sectionsOf(resumeId: string): string[] {
	const sections = instance.sandbox.database
		.prepare('SELECT id FROM sections WHERE resume_id = ? ORDER BY position')
		.all(resumeId);
	return sections.map(({ id }) => String(id));
}

function save(section: string, content: string): void {
	instance.sandbox.webhooks.saveSection(section, { title: 'Experience', content });
}

/** Waits for this many executions, and for the end of each; oldest first. */
async function executions(count: number): Promise<Execution[]> {
	return await instance.api.waitForExecutions(workflowId, count);
}

function deliveryId({ data }: Execution): unknown {
	return data.resultData.runData['Section saved']?.[0]?.data?.main?.[0]?.[0]?.json.deliveryId;
}

async function rowsOf(resumeId: string): Promise<Array<Record<string, unknown>>> {
	const rows = await instance.readTable('Resume scores');
	return rows.filter((row) => row.resumeId === resumeId);
}

it('writes the score and a verdict, and keeps one row a resume however often it is saved', async () => {
	const [first, ...rest] = sectionsOf('resume-001');
	const count = rest.length + 1;
	// Alone: n8n 1 looks for a row and adds it in two steps, and two events at once would add two.
	save(first!, poorContent);
	await executions(1);
	for (const section of rest) save(section, poorContent);
	for (const { status } of await executions(count)) expect(status).toBe('success');
	const [poor, ...others] = await rowsOf('resume-001');
	expect(others).toEqual([]);
	expect(poor).toMatchObject({ userId: 'user-001', verdict: 'needs work' });
	expect(poor!.score).toBeLessThan(60);

	for (const section of [first!, ...rest]) save(section, goodContent);
	await executions(2 * count);
	const [good, ...more] = await rowsOf('resume-001');
	expect(more).toEqual([]);
	expect(good).toMatchObject({ id: poor!.id, verdict: 'good enough' });
	expect(good!.score).toBeGreaterThanOrEqual(60);
}, 60_000);

it('runs again for a delivery that comes twice, and writes the same', async () => {
	const { api, sandbox } = instance;
	const [before] = await rowsOf('resume-001');
	const [delivery] = sandbox.webhooks.deliveries();
	const count = (await api.listExecutions(workflowId)).length;
	await axios.post(`${sandbox.url}/console/deliveries/${delivery!.id}/redeliver`);
	const runs = (await executions(count + 1)).filter(
		(execution) => deliveryId(execution) === delivery!.eventId,
	);
	expect(runs.map(({ status }) => status)).toEqual(['success', 'success']);
	const { score, verdict } = before!;
	expect(await rowsOf('resume-001')).toEqual([
		expect.objectContaining({ id: before!.id, score, verdict }),
	]);
});

it('misses nothing that is saved while n8n is down', async () => {
	const before = (await instance.api.listExecutions(workflowId)).length;
	const resumes = ['resume-002', 'resume-003', 'resume-004', 'resume-005', 'resume-006'];

	await instance.n8n.stop();
	for (const resumeId of resumes) {
		const [section] = sectionsOf(resumeId);
		save(section!, goodContent);
	}
	const { webhooks } = instance.sandbox;
	while (webhooks.deliveries().some(({ attempts }) => attempts === 0)) await sleep(100);
	await instance.startN8nAgain();
	await webhooks.idle();

	const deliveries = webhooks.deliveries();
	expect(deliveries.every(({ status }) => status === 'delivered')).toBe(true);
	const late = (await executions(before + resumes.length)).slice(before);
	expect(late.map(({ status }) => status)).toEqual(resumes.map(() => 'success'));
	for (const resumeId of resumes) expect(await rowsOf(resumeId)).toHaveLength(1);
	const attempts = deliveries.slice(0, resumes.length).map((delivery) => delivery.attempts);
	process.stdout.write(
		`\nn8n was down: ${resumes.length} events saved, ${late.length} executions, 0 lost, attempts ${attempts.join(', ')}\n\n`,
	);
}, 240_000);
