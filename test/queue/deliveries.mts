import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';

import { webhookSecret } from './topology.mts';

export interface Answer {
	/** HTTP status; undefined where no answer came. */
	status?: number;
	/** From the moment that the delivery was due until it was answered. */
	milliseconds: number;
}

/** Payloads of events with an ID each. */
export function events(name: string, length: number): Array<{ eventId: string }> {
	return Array.from({ length }, (_, index) => ({ eventId: `${name}-${index}` }));
}

/** How many there are of each status, of answers or executions. */
export function byStatus(all: Array<{ status?: string | number }>): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { status = 'no answer' } of all) counts[status] = (counts[status] ?? 0) + 1;
	return counts;
}

const connections = 50;
const timeoutMilliseconds = 60_000;

/**
 * Sends bodies as fast as they are answered, or at a rate, and answers what came back for each. Like a
 * proxy in front of n8n it keeps connections open, and no more than n8n can work off side by side: a
 * delivery that finds none free waits for one.
 */
export async function deliver(
	url: string,
	bodies: object[],
	perSecond = Infinity,
): Promise<Answer[]> {
	const httpAgent = new Agent({ keepAlive: true, maxSockets: connections });
	const started = performance.now();
	const pending: Array<Promise<Answer>> = [];
	for (const [index, body] of bodies.entries()) {
		const due = started + (index * 1_000) / perSecond;
		await sleep(Math.max(0, due - performance.now()));
		pending.push(
			axios
				.post(url, body, {
					headers: { 'X-Webhook-Secret': webhookSecret },
					httpAgent,
					proxy: false,
					timeout: timeoutMilliseconds,
					validateStatus: null,
				})
				.then(
					({ status }) => ({ status, milliseconds: performance.now() - due }),
					() => ({ milliseconds: performance.now() - due }),
				),
		);
	}
	const answers = await Promise.all(pending);
	httpAgent.destroy();
	return answers;
}
