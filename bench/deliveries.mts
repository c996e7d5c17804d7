import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import type { ExecutionSummary } from '../host/rest.mts';
import type { Instance } from './instance.mts';
import { onlyTrigger, type Action } from './workflows.mts';

export interface Trigger {
	/** @param webhookId a new one, which the production URL holds */
	action(webhookId: string): Action;
	/** The production URL without n8n's address. */
	path(webhookId: string): string;
}

/** Deliveries per second. */
export interface Rates {
	/** Until all were answered. */
	answered: number;
	/** Until the execution of each had ended. */
	executed: number;
}

const parallel = 20;
const pollMilliseconds = 500;
const body = { event: 'Resume Section Saved', data: { resumeId: 'resume-001' } };

/** Activates a new workflow that begins with `trigger`, and sends it so many events. */
export async function deliver(
	{ api, n8n }: Instance,
	trigger: Trigger,
	headers: Record<string, string>,
	count: number,
): Promise<Rates> {
	const webhookId = randomUUID();
	const { id } = await api.createWorkflow(onlyTrigger(trigger.action(webhookId), webhookId));
	await api.activateWorkflow(id);
	const url = n8n.url + trigger.path(webhookId);

	const started = Date.now();
	let sent = 0;
	const sender = async () => {
		while (sent++ < count) await axios.post(url, body, { headers, proxy: false });
	};
	await Promise.all(Array.from({ length: parallel }, sender));
	const answered = Date.now();

	// n8n answers when an execution ended, which the host's types leave out.
	let ended: Array<ExecutionSummary & { stoppedAt?: string }> = [];
	while (ended.length < count) {
		await sleep(pollMilliseconds);
		ended = (await api.listExecutions(id)).filter(({ status }) => status === 'success');
	}
	const last = Math.max(...ended.map(({ stoppedAt }) => Date.parse(stoppedAt!)));
	const rate = (until: number) => (count * 1000) / (until - started);
	return { answered: rate(answered), executed: rate(last) };
}
