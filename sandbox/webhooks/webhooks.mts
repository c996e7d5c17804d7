import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

import { unixTime, type Section, type Store } from '../store.mts';
import { signatureHeaders, type WebhookRegistration } from './signature.mts';

/** An event for one webhook. The fields `last…` are about the last attempt. */
interface Delivery {
	id: number;
	url: string;
	eventId: string;
	body: string;
	status: 'pending' | 'delivered' | 'failed';
	attempts: number;
	/** Unix seconds: the last attempt, or the begin of a delivery without one. */
	time: number;
	lastStatus?: number;
	lastError?: string;
}

/** Throws an error for the web pages. */
export function refuse(message: string, statusCode = 404): never {
	throw Object.assign(new Error(message), { statusCode });
}

/** The only event that the specification names (§6). */
const SECTION_SAVED = 'Resume Section Saved';

export const MAX_ATTEMPTS = 8;

/** For a whole attempt, up to the end of the response. */
export const TIMEOUT_IN_MS = 10_000;

export type Webhooks = ReturnType<typeof createWebhooks>;

/**
 * Keeps the webhooks, sends events to them, and logs the deliveries since the start.
 *
 * @param backoffMs pause after the first attempt of a delivery. Each further pause is twice as long
 */
export function createWebhooks(database: DatabaseSync, store: Store, backoffMs: number) {
	const sql = database.createTagStore();
	const deliveries: Delivery[] = [];
	const running = new Set<Promise<void>>();
	const closing = new AbortController();
	const { signal } = closing;

	const list = () => {
		const rows = sql.all`SELECT id, registration FROM webhooks ORDER BY id`;
		return rows.map(({ id, registration }) => {
			return { id: Number(id), ...(JSON.parse(String(registration)) as WebhookRegistration) };
		});
	};

	const deliver = async (delivery: Delivery): Promise<void> => {
		for (let pause = backoffMs; ; pause *= 2) {
			const webhook = list().find(({ url }) => url === delivery.url);
			if (webhook === undefined) return;
			const outcome = await send(webhook, delivery, signal);
			signal.throwIfAborted();
			delivery.attempts++;
			Object.assign(delivery, outcome, { time: unixTime() });
			if (outcome.lastError === undefined) delivery.status = 'delivered';
			else if (delivery.attempts === MAX_ATTEMPTS) delivery.status = 'failed';
			if (delivery.status !== 'pending') return;
			await wait(pause, undefined, { signal });
		}
	};

	const start = (url: string, eventId: string, body: string): void => {
		const id = deliveries.length + 1;
		const event = { id, url, eventId, body, time: unixTime() };
		const delivery: Delivery = { ...event, status: 'pending', attempts: 0 };
		deliveries.push(delivery);
		const delivering = deliver(delivery).catch((error: unknown) => {
			if (!signal.aborted) console.error(error);
		});
		running.add(delivering);
		void delivering.finally(() => running.delete(delivering));
	};

	/** Waits until nothing is pending. */
	const idle = async (): Promise<void> => {
		while (running.size > 0) await Promise.all(running);
	};

	return {
		list,
		idle,
		/** Returns the newest delivery first. */
		deliveries: () => deliveries.toReversed(),

		/** Adds a webhook. If its URL has one already, that one gets the new settings, for pending deliveries too. */
		register(given: WebhookRegistration) {
			const registration = checked(given);
			const { id } = sql.get`INSERT INTO webhooks (url, registration)
				VALUES (${registration.url}, ${JSON.stringify(registration)})
				ON CONFLICT (url) DO UPDATE SET registration = excluded.registration RETURNING id`!;
			return { id: Number(id) };
		},

		/** Removes a webhook, and ends its pending deliveries. */
		remove(id: number): void {
			sql.run`DELETE FROM webhooks WHERE id = ${id}`;
		},

		/** Saves the section with this number, and sends "Resume Section Saved" to every webhook. Returns its resume's ID. */
		saveSection(number: number, fields: Partial<Section>): string {
			const data = store.saveSection(number, fields) ?? refuse(`There is no section ${number}.`);
			const id = `evt_${randomBytes(12).toString('hex')}`;
			const body = JSON.stringify({ event: SECTION_SAVED, id, created: unixTime(), data });
			for (const { url } of list()) start(url, id, body);
			return String(data.resumeId);
		},

		/** Sends the body of a delivery again, as a new delivery. */
		redeliver(id: number): void {
			const { url, eventId, body } = deliveries[id - 1] ?? refuse(`There is no delivery ${id}.`);
			start(url, eventId, body);
		},

		/** Aborts all deliveries. */
		async close(): Promise<void> {
			closing.abort();
			await idle();
		},
	};
}

/** @throws if no delivery can be signed with these settings */
function checked({ secret, ...others }: WebhookRegistration): WebhookRegistration {
	// The trigger trims its secret, too.
	const registration = { ...others, secret: secret?.trim() };
	if (others.style !== 'none' && !registration.secret) refuse('This style needs a secret.', 400);
	if (['header', 'hmac'].includes(others.style) && !others.headerName) {
		refuse('This style needs a header name.', 400);
	}
	try {
		registration.url = new URL(others.url).href;
		new Headers(signatureHeaders(registration, 'evt', ''));
	} catch (error) {
		refuse(`This webhook can't be used: ${(error as Error).message}`, 400);
	}
	return registration;
}

/** Makes one attempt. Redirects are not followed. */
async function send(webhook: WebhookRegistration, { eventId, body }: Delivery, stop: AbortSignal) {
	try {
		const response = await fetch(webhook.url, {
			method: 'POST',
			headers: {
				'Content-Type': 'application/json',
				...signatureHeaders(webhook, eventId, body),
			},
			body,
			redirect: 'manual',
			signal: AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_IN_MS)]),
		});
		const text = (await response.text()).slice(0, 300);
		const lastError = response.ok
			? undefined
			: `The receiver responded with HTTP ${response.status}: ${text}`;
		return { lastStatus: response.status, lastError };
	} catch (error) {
		const { cause, message } = error as Error & { cause?: { code?: string } };
		const reason = cause?.code ?? message;
		return { lastStatus: undefined, lastError: `The receiver sent no response: ${reason}` };
	}
}
