import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import type { ExecutionSummary } from '../host/rest.mts';
import type { Instance } from './instance.mts';
import { access, inRounds, webhookSecret, type Bench } from './rounds.mts';
import type { Row } from './report.mts';
import { onlyTrigger, type Action } from './workflows.mts';

/** Deliveries per second. */
interface Rates {
	/** Until all were answered. */
	answered: number;
	/** Until the execution of each had ended. */
	executed: number;
}

const header = { name: 'X-Webhook-Secret', value: webhookSecret };
const parallel = 20;
const pollMilliseconds = 500;
const body = { event: 'Resume Section Saved', data: { resumeId: 'resume-001' } };

/** Events, each with a secret in a header that either trigger checks. */
export async function triggers(
	bench: Bench,
	count: number,
	{ title, unguarded }: { title: string; unguarded?: string },
): Promise<Row[]> {
	const { instance, rounds } = bench;
	const { credentials: ownCredentials } = await access(bench, 0);
	const headerAuth = { name: 'Header', type: 'httpHeaderAuth', data: header };
	const credentials = await instance.credential(headerAuth);
	const own = {
		type: 'n8n-nodes-resume-management.resumeManagementTrigger',
		typeVersion: 1.1,
		parameters: { verification: 'header', headerName: header.name },
		credentials: ownCredentials,
	};
	const webhook = (path: string) => ({
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2.1,
		parameters: {
			httpMethod: 'POST',
			path,
			authentication: 'headerAuth',
			responseMode: 'onReceived',
		},
		credentials,
	});
	const [ours, theirs] = await inRounds(rounds, [
		async () => {
			const id = randomUUID();
			return await deliver(instance, own, id, `/webhook/${id}/webhook`, count);
		},
		async () => {
			const id = randomUUID();
			return await deliver(instance, webhook(id), id, `/webhook/${id}`, count);
		},
	]);
	const row = (verb: string, key: keyof Rates): Row => ({
		title: `${verb} ${count} events${title}`,
		unit: 'per second',
		ours: ours!.map((rates) => rates[key]),
		theirs: theirs!.map((rates) => rates[key]),
		bound: { ratio: 0.95 },
		unguarded,
	});
	return [row('Answer', 'answered'), row('Answer and execute', 'executed')];
}

/** Activates a new workflow of a trigger alone, and sends so many events to its path. */
async function deliver(
	{ api, n8n }: Instance,
	trigger: Action,
	webhookId: string,
	path: string,
	count: number,
): Promise<Rates> {
	const { id } = await api.createWorkflow(onlyTrigger(trigger, webhookId));
	await api.activateWorkflow(id);
	const options = { headers: { [header.name]: header.value }, proxy: false as const };

	const started = Date.now();
	let sent = 0;
	const sender = async () => {
		while (sent++ < count) await axios.post(n8n.url + path, body, options);
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
