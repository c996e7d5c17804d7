import { EventEmitter, once } from 'node:events';

import type { Delivery, DeliveryLog } from './log.mts';
import type { Webhook } from './registration.mts';
import { send } from './sender.mts';

/** Attempts under way at a time for each webhook, so that a slow receiver holds up no other. */
const PARALLEL_ATTEMPTS = 16;

/** After this many a delivery has failed. */
const MAX_ATTEMPTS = 8;

/**
 * Sends pending deliveries until each has arrived or failed. What is pending is in the database
 * alone: a delivery whose attempt was cut short, by `close` or by a crash, is still pending there
 * and is sent again by the next queue. So every delivery is sent at least once.
 *
 * @param backoffMs milliseconds between the first attempt and the second; each further pause is
 * twice as long as the one before
 */
export function createQueue(log: DeliveryLog, backoffMs: number) {
	const closing = new AbortController();
	const changes = new EventEmitter().setMaxListeners(0);
	const underWay = new Map<number, Promise<void>>();
	let timer: NodeJS.Timeout | undefined;

	/** Begins every attempt that is due. To be called whenever the deliveries have changed. */
	const wake = () => {
		if (closing.signal.aborted) return;
		const now = Date.now();
		for (const webhook of log.listWebhooks()) {
			for (const delivery of log.listDue(webhook.id, now, PARALLEL_ATTEMPTS)) {
				if (underWay.has(delivery.id)) continue;
				// Where the database fails, the delivery stays under way: it would be sent in a loop.
				underWay.set(delivery.id, attempt(webhook, delivery).catch(console.error));
			}
		}
		clearTimeout(timer);
		const next = log.nextAttemptAfter(now);
		if (next !== undefined) timer = setTimeout(wake, next - now);
		changes.emit('change');
	};

	const attempt = async (webhook: Webhook, { id, eventId, attempts }: Delivery) => {
		const outcome = await send(webhook, eventId, log.bodyOf(eventId), closing.signal);
		if (outcome === undefined) return;
		const now = Date.now();
		if (outcome.error === null) {
			log.recordAttempt(id, 'delivered', outcome, now, now);
		} else if (attempts + 1 < MAX_ATTEMPTS) {
			log.recordAttempt(id, 'pending', outcome, now, now + pauseAfter(attempts + 1, backoffMs));
		} else {
			log.recordAttempt(id, 'failed', outcome, now, now);
		}
		underWay.delete(id);
		wake();
	};

	return {
		wake,

		/**
		 * Waits until nothing is pending.
		 *
		 * @throws the queue was closed meanwhile
		 */
		async idle(): Promise<void> {
			while (log.hasPending()) await once(changes, 'change', { signal: closing.signal });
		},

		/** Cuts attempts short; their deliveries stay pending. */
		async close(): Promise<void> {
			closing.abort();
			clearTimeout(timer);
			await Promise.all(underWay.values());
		},
	};
}

/** Milliseconds; up to half as long again by chance, so that retries do not come all at once. */
function pauseAfter(attempts: number, backoffMs: number): number {
	return Math.round(backoffMs * 2 ** (attempts - 1) * (1 + Math.random() / 2));
}
