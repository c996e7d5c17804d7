import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import type { ExecutionSummary } from '../host/rest.mts';
import type { Instance } from './instance.mts';
import { access, inRounds, webhookSecret, type Bench } from './rounds.mts';
import type { Row } from './report.mts';
import { onlyTrigger, type Action } from './workflows.mts';

const header = { name: 'X-Webhook-Secret', value: webhookSecret };
const parallel = 20;
const pollMilliseconds = 500;
const body = { event: 'Resume Section Saved', data: { resumeId: 'resume-001' } };

/** Compares triggers that check a secret in a header. */
export async function triggers(
	bench: Bench,
	count: number,
	title: string,
	unguarded?: string,
): Promise<Row[]> {
	const { instance, rounds } = bench;
	const own = {
		type: 'n8n-nodes-resume-management.resumeManagementTrigger',
		typeVersion: 1.1,
		parameters: { verification: 'header', headerName: header.name },
		credentials: (await access(bench, 0)).credentials,
	};
	const headerAuth = { name: 'Header', type: 'httpHeaderAuth', data: header };
	const webhook = {
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2.1,
		parameters: { httpMethod: 'POST', authentication: 'headerAuth', responseMode: 'onReceived' },
		credentials: await instance.credential(headerAuth),
	};
	const [ours, theirs] = await inRounds(rounds, [
		async () => await deliver(instance, own, '/webhook', count),
		async () => await deliver(instance, webhook, '', count),
	]);
	const row = (verb: string, key: 'answered' | 'executed'): Row => ({
		title: `${verb} ${count} events${title}`,
		unit: 'per second',
		ours: ours!.map((rates) => rates[key]),
		theirs: theirs!.map((rates) => rates[key]),
		bound: { ratio: 0.95 },
		unguarded,
	});
	return [row('Answer', 'answered'), row('Answer and execute', 'executed')];
}

/**
 * Activates a new workflow with a trigger only, and sends events to it.
 *
 * @param end follows the path in the trigger's address
 * @returns events per second, until all were answered and until their executions had ended
 */
async function deliver({ api, n8n }: Instance, trigger: Action, end: string, count: number) {
	const path = randomUUID();
	const parameters = { ...trigger.parameters, path };
	const { id } = await api.createWorkflow(onlyTrigger({ ...trigger, parameters }, path));
	await api.activateWorkflow(id);
	const url = `${n8n.url}/webhook/${path}${end}`;
	const options = { headers: { [header.name]: header.value }, proxy: false as const };

	const started = Date.now();
	let sent = 0;
	const sender = async () => {
		while (sent++ < count) await axios.post(url, body, options);
	};
	await Promise.all(Array.from({ length: parallel }, sender));
	const answered = Date.now();

	let ended: ExecutionSummary[] = [];
	while (ended.length < count) {
		await sleep(pollMilliseconds);
		ended = (await api.listExecutions(id)).filter(({ status }) => status === 'success');
	}
	const last = Math.max(...ended.map(({ stoppedAt }) => Date.parse(stoppedAt!)));
	const rate = (until: number) => (count * 1000) / (until - started);
	return { answered: rate(answered), executed: rate(last) };
}
