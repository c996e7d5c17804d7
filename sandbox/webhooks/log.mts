import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

import { inTransaction } from '../database.mts';
import type { Webhook, WebhookRegistration } from './registration.mts';
import type { Outcome } from './sender.mts';

/** An event on its way to a webhook, or arrived there. */
export interface Delivery {
	id: number;
	webhookId: number;
	eventId: string;
	/** `failed` once the last attempt has failed. */
	status: 'pending' | 'delivered' | 'failed';
	/** How many attempts have ended. */
	attempts: number;
	/** HTTP status of the last attempt's answer; `null` when none came. */
	lastStatus: number | null;
	/** Why the last attempt was no delivery, in a sentence. */
	lastError: string | null;
	/** Unix timestamp in milliseconds; `null` before the first attempt. */
	lastAttemptAt: number | null;
	/** Unix timestamp in milliseconds; it is in the past during an attempt and after the last one. */
	nextAttemptAt: number;
}

/** A delivery with what a page shows beside it. */
export interface DeliveryDetails extends Delivery {
	url: string;
	event: string;
	/** Unix timestamp in seconds. */
	eventCreated: number;
	/** The body as it is sent. */
	body: string;
}

export interface Event {
	id: string;
	name: string;
	/** The exact bytes of every delivery. */
	body: Uint8Array;
	/** Unix timestamp in seconds. */
	created: number;
}

export type DeliveryLog = ReturnType<typeof createDeliveryLog>;

const DELIVERY = `
	deliveries.id, webhook_id AS webhookId, event_id AS eventId, status, attempts,
	last_status AS lastStatus, last_error AS lastError,
	last_attempt_at_ms AS lastAttemptAt, next_attempt_at_ms AS nextAttemptAt`;

/** Webhooks, events and deliveries in the database. */
export function createDeliveryLog(database: DatabaseSync) {
	const upsertWebhook = database.prepare(
		`INSERT INTO webhooks (url, registration) VALUES (?, ?)
		ON CONFLICT (url) DO UPDATE SET registration = excluded.registration RETURNING *`,
	);
	const webhooks = database.prepare('SELECT * FROM webhooks ORDER BY id');
	const deleteWebhook = database.prepare('DELETE FROM webhooks WHERE id = ?');
	const insertEvent = database.prepare(
		'INSERT INTO events (id, name, body, created) VALUES (?, ?, ?, ?)',
	);
	const bodyOfEvent = database.prepare('SELECT body FROM events WHERE id = ?');
	const insertDeliveries = database.prepare(
		`INSERT INTO deliveries (webhook_id, event_id, next_attempt_at_ms)
		SELECT id, ?, ? FROM webhooks ORDER BY id`,
	);
	const deliveries = database.prepare(`SELECT ${DELIVERY} FROM deliveries ORDER BY id DESC`);
	const deliveryDetails = database.prepare(
		`SELECT ${DELIVERY}, url, name AS event, created AS eventCreated, CAST(body AS TEXT) AS body
		FROM deliveries JOIN webhooks ON webhooks.id = webhook_id JOIN events ON events.id = event_id
		ORDER BY deliveries.id DESC LIMIT ? OFFSET ?`,
	);
	const countDeliveries = database.prepare('SELECT count(*) AS count FROM deliveries');
	const dueDeliveries = database.prepare(
		`SELECT ${DELIVERY} FROM deliveries
		WHERE status = 'pending' AND webhook_id = ? AND next_attempt_at_ms <= ?
		ORDER BY next_attempt_at_ms, id LIMIT ?`,
	);
	const pending = database.prepare("SELECT 1 FROM deliveries WHERE status = 'pending' LIMIT 1");
	const nextAttempt = database.prepare(
		`SELECT min(next_attempt_at_ms) AS time FROM deliveries
		WHERE status = 'pending' AND next_attempt_at_ms > ?`,
	);
	const recordAttempt = database.prepare(
		`UPDATE deliveries SET status = ?, attempts = attempts + 1, last_status = ?, last_error = ?,
			last_attempt_at_ms = ?, next_attempt_at_ms = ?
		WHERE id = ?`,
	);
	const hasten = database.prepare(
		`UPDATE deliveries SET next_attempt_at_ms = ? WHERE id = ? AND status = 'pending'`,
	);
	const repeat = database.prepare(
		`INSERT INTO deliveries (webhook_id, event_id, next_attempt_at_ms)
		SELECT webhook_id, event_id, ? FROM deliveries WHERE id = ?`,
	);

	return {
		/** An address that is registered already keeps its id and its deliveries. */
		putWebhook(registration: WebhookRegistration): Webhook {
			return toWebhook(upsertWebhook.get(registration.url, JSON.stringify(registration)) as Row);
		},

		listWebhooks(): Webhook[] {
			return webhooks.all().map(toWebhook);
		},

		/** Its deliveries go with it. */
		removeWebhook(id: number): void {
			deleteWebhook.run(id);
		},

		/** Queues an event for every webhook. To be run in a transaction. */
		addEvent({ id, name, body, created }: Event): void {
			insertEvent.run(id, name, body, created);
			insertDeliveries.run(id, Date.now());
		},

		bodyOf(eventId: string): Uint8Array {
			return bodyOfEvent.get(eventId)?.body as Uint8Array;
		},

		/** Newest first. */
		listDeliveries(): Delivery[] {
			return deliveries.all() as unknown as Delivery[];
		},

		/** Newest first. */
		listDeliveryDetails({ offset, limit }: { offset: number; limit: number }): DeliveryDetails[] {
			return deliveryDetails.all(limit, offset) as unknown as DeliveryDetails[];
		},

		countDeliveries(): number {
			return Number(countDeliveries.get()?.count);
		},

		/**
		 * @param now Unix timestamp in milliseconds
		 * @returns the deliveries whose next attempt may begin, those under way included; the ones
		 * that have waited longest come first
		 */
		listDue(webhookId: number, now: number, limit: number): Delivery[] {
			return dueDeliveries.all(webhookId, now, limit) as unknown as Delivery[];
		},

		hasPending(): boolean {
			return pending.get() !== undefined;
		},

		/**
		 * @param now Unix timestamp in milliseconds
		 * @returns when the next attempt after `now` is to begin, in milliseconds
		 */
		nextAttemptAfter(now: number): number | undefined {
			const time = nextAttempt.get(now)?.time;
			return typeof time === 'number' ? time : undefined;
		},

		/** Notes how an attempt ended, and when the next one begins. Times are in milliseconds. */
		recordAttempt(
			id: number,
			status: Delivery['status'],
			outcome: Outcome,
			now: number,
			nextAttemptAt: number,
		): void {
			recordAttempt.run(status, outcome.status, outcome.error, now, nextAttemptAt, id);
		},

		/**
		 * Queues a delivery once more, for now: a pending one is sent without further waiting, the
		 * event of any other becomes a new delivery to the same webhook.
		 *
		 * @returns whether there is such a delivery
		 */
		repeatDelivery(id: number): boolean {
			return inTransaction(database, () => {
				const now = Date.now();
				return hasten.run(now, id).changes === 1 || repeat.run(now, id).changes === 1;
			});
		},
	};
}

type Row = Record<string, SQLInputValue>;

function toWebhook({ id, registration }: Row): Webhook {
	return { id: Number(id), ...(JSON.parse(String(registration)) as WebhookRegistration) };
}
