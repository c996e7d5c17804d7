import { randomBytes } from 'node:crypto';
import type { DatabaseSync, SQLInputValue, SQLTagStore } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

import { inTransaction } from '../database.mts';
import type { Section, Store } from '../store.mts';
import { signatureHeaders, type WebhookRegistration } from './signature.mts';

export interface Webhook extends WebhookRegistration {
	id: number;
}

/** An event on its way to a webhook, or arrived there. */
export interface Delivery {
	id: number;
	/** Address of the webhook. */
	url: string;
	eventId: string;
	/** As it is sent. */
	body: string;
	/** `failed` once the last attempt has failed. */
	status: 'pending' | 'delivered' | 'failed';
	/** How many attempts have ended. */
	attempts: number;
	/** HTTP status of the last attempt's answer; `null` when none came. */
	lastStatus: number | null;
	/** Why the last attempt was no delivery, in a sentence. */
	lastError: string | null;
	/** Unix timestamp in milliseconds; `null` before the end of the first attempt. */
	lastAttemptAt: number | null;
}

/** An error that says why something that was entered cannot be used, and the status of the page for it. */
export function refusal(message: string, statusCode = 400) {
	return Object.assign(new Error(message), { statusCode });
}

/** The one event that the specification names (§6). */
const SECTION_SAVED = 'Resume Section Saved';

/** After this many a delivery has failed. */
const MAX_ATTEMPTS = 8;

/** For a whole attempt, from the connection to the end of the answer. */
const TIMEOUT_IN_MS = 10_000;

/** Webhooks, the event that is sent to them, and the log of its deliveries. */
export class Webhooks {
	readonly #sql: SQLTagStore;
	readonly #store: Store;
	readonly #backoffMs: number;
	readonly #closing = new AbortController();
	readonly #underWay = new Set<Promise<void>>();

	/**
	 * @param backoffMs milliseconds between the first attempt of a delivery and the second; each
	 * further pause is twice as long as the one before
	 */
	constructor(database: DatabaseSync, store: Store, backoffMs: number) {
		this.#sql = database.createTagStore();
		this.#store = store;
		this.#backoffMs = backoffMs;
	}

	list(): Webhook[] {
		const rows = this.#sql.all`SELECT id, registration FROM webhooks ORDER BY id`;
		return rows.map(({ id, registration }) => {
			return { id: Number(id), ...(JSON.parse(String(registration)) as WebhookRegistration) };
		});
	}

	/**
	 * Has all later events sent to an address. An address that is registered already gets the new
	 * settings, for its pending deliveries too.
	 *
	 * @throws a field cannot be used
	 */
	register(given: WebhookRegistration): Webhook {
		const registration = checked(given);
		this.#sql.run`INSERT INTO webhooks (url, registration)
			VALUES (${registration.url}, ${JSON.stringify(registration)})
			ON CONFLICT (url) DO UPDATE SET registration = excluded.registration`;
		return this.list().find(({ url }) => url === registration.url) as Webhook;
	}

	/** Forgets a webhook and its deliveries. */
	remove(id: number): void {
		this.#sql.run`DELETE FROM webhooks WHERE id = ${id}`;
	}

	/**
	 * Saves a section as the console does, and sends "Resume Section Saved" to every webhook.
	 *
	 * @param section its id, e.g. `section-0042`, or the number in it
	 * @throws there is no such section
	 */
	saveSection(section: string | number, fields: Partial<Section>) {
		const id =
			typeof section === 'number' ? `section-${String(section).padStart(4, '0')}` : section;
		const eventId = `evt_${randomBytes(12).toString('hex')}`;
		const { resumeId, added } = inTransaction(this.#sql.db, () => {
			const data = this.#store.saveSection(id, fields);
			if (data === undefined) throw refusal(`There is no section ${id}.`, 404);
			const created = Math.floor(Date.now() / 1000);
			const body = JSON.stringify({ event: SECTION_SAVED, id: eventId, created, data });
			const added = this.#sql.all`INSERT INTO deliveries (webhook_id, event_id, body)
				SELECT id, ${eventId}, ${body} FROM webhooks ORDER BY id RETURNING id`;
			return { resumeId: data.resumeId, added };
		});
		for (const { id } of added) this.#start(id!);
		return { eventId, resumeId };
	}

	/** Newest first. */
	deliveries(): Delivery[] {
		const rows: unknown[] = this.#sql.all`SELECT deliveries.id, url,
				event_id AS eventId, body, status, attempts, last_status AS lastStatus,
				last_error AS lastError, last_attempt_at_ms AS lastAttemptAt
			FROM deliveries JOIN webhooks ON webhooks.id = webhook_id ORDER BY deliveries.id DESC`;
		return rows as Delivery[];
	}

	/**
	 * Sends the body of a delivery once more, as a new delivery.
	 *
	 * @throws there is no such delivery
	 */
	redeliver(id: number): void {
		const added = this.#sql.get`INSERT INTO deliveries (webhook_id, event_id, body)
			SELECT webhook_id, event_id, body FROM deliveries WHERE id = ${id} RETURNING id`;
		if (added === undefined) throw refusal(`There is no delivery ${id}.`, 404);
		this.#start(added.id!);
	}

	/** Waits until nothing is pending. */
	async idle(): Promise<void> {
		while (this.#underWay.size > 0) await Promise.all(this.#underWay);
	}

	/** Cuts attempts short; their deliveries stay pending. */
	async close(): Promise<void> {
		this.#closing.abort();
		await Promise.all(this.#underWay);
	}

	#start(id: SQLInputValue): void {
		const delivery = this.#deliver(id).catch(console.error);
		this.#underWay.add(delivery);
		void delivery.finally(() => this.#underWay.delete(delivery));
	}

	async #deliver(id: SQLInputValue): Promise<void> {
		const { signal } = this.#closing;
		for (let pause = this.#backoffMs; await this.#attempt(id); pause *= 2) {
			await wait(pause, undefined, { signal }).catch(() => {});
		}
	}

	/** Makes one attempt and logs it; answers whether there is to be another. */
	async #attempt(id: SQLInputValue): Promise<boolean> {
		const { signal } = this.#closing;
		if (signal.aborted) return false;
		const row = this.#sql
			.get`SELECT event_id AS eventId, body, attempts + 1 AS attempts, registration
			FROM deliveries JOIN webhooks ON webhooks.id = webhook_id WHERE deliveries.id = ${id}`;
		if (row === undefined) return false;
		const webhook = JSON.parse(String(row.registration)) as WebhookRegistration;
		const outcome = await send(webhook, String(row.eventId), String(row.body), signal);
		if (signal.aborted) return false;
		const isLast = Number(row.attempts) === MAX_ATTEMPTS;
		const status = outcome.error === null ? 'delivered' : isLast ? 'failed' : 'pending';
		this.#sql.run`UPDATE deliveries SET status = ${status}, attempts = ${row.attempts!},
			last_status = ${outcome.status}, last_error = ${outcome.error},
			last_attempt_at_ms = ${Date.now()} WHERE id = ${id}`;
		return status === 'pending';
	}
}

/** @throws a field cannot be used */
function checked({ secret, ...registration }: WebhookRegistration): WebhookRegistration {
	const url = URL.parse(registration.url.trim());
	if (url === null || !url.protocol.startsWith('http')) {
		throw refusal(`"${registration.url}" is no address that begins with http:// or https://.`);
	}
	// The trigger leaves blanks around a secret out, too.
	const complete = { ...registration, url: url.href, secret: secret?.trim() };
	if (complete.style !== 'none' && !complete.secret) throw refusal('This style needs a secret.');
	try {
		new Headers(signatureHeaders(complete, 'evt', '', new Date()));
	} catch (error) {
		throw refusal(`A delivery cannot be signed with this: ${(error as Error).message}`);
	}
	return complete;
}

/**
 * Sends a body once, straight to the receiver: redirects are not followed.
 *
 * @returns HTTP status of the answer, `null` when none came, and why this was no delivery
 */
async function send(
	webhook: WebhookRegistration,
	eventId: string,
	body: string,
	stop: AbortSignal,
) {
	try {
		const answer = await fetch(webhook.url, {
			method: 'POST',
			headers: {
				'Content-Type': 'application/json',
				...signatureHeaders(webhook, eventId, body, new Date()),
			},
			body,
			redirect: 'manual',
			signal: AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_IN_MS)]),
		});
		const text = (await answer.text()).slice(0, 300);
		const error = answer.ok ? null : `The receiver answered HTTP ${answer.status}: ${text}`;
		return { status: answer.status, error };
	} catch (error) {
		const { cause, message } = error as Error & { cause?: { code?: string } };
		return { status: null, error: `The receiver gave no answer: ${cause?.code ?? message}` };
	}
}
