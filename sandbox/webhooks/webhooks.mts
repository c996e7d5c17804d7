import { randomBytes } from 'node:crypto';
import type { DatabaseSync, SQLTagStore } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

import type { Section, Store } from '../store.mts';
import { signatureHeaders, type WebhookRegistration } from './signature.mts';

/** An event for one webhook. The fields `last…` are about the last attempt. */
interface Delivery {
	id: number;
	url: string;
	eventId: string;
	body: string;
	status: 'pending' | 'delivered' | 'failed';
	attempts: number;
	lastStatus?: number;
	lastError?: string;
}

/** Returns an error for the web pages. */
export function refusal(message: string, statusCode = 400) {
	return Object.assign(new Error(message), { statusCode });
}

/** The only event that the specification names (§6). */
const SECTION_SAVED = 'Resume Section Saved';

const MAX_ATTEMPTS = 8;

/** For a whole attempt, up to the end of the answer. */
const TIMEOUT_IN_MS = 10_000;

/** Webhooks, the event that is sent to them, and the log of its deliveries since the start. */
export class Webhooks {
	readonly #sql: SQLTagStore;
	readonly #store: Store;
	readonly #backoffMs: number;
	readonly #deliveries: Delivery[] = [];
	readonly #closing = new AbortController();
	readonly #running = new Set<Promise<void>>();

	/** @param backoffMs pause after the first attempt of a delivery. Each further pause is twice as long */
	constructor(database: DatabaseSync, store: Store, backoffMs: number) {
		this.#sql = database.createTagStore();
		this.#store = store;
		this.#backoffMs = backoffMs;
	}

	list() {
		const rows = this.#sql.all`SELECT id, registration FROM webhooks ORDER BY id`;
		return rows.map(({ id, registration }) => {
			return { id: Number(id), ...(JSON.parse(String(registration)) as WebhookRegistration) };
		});
	}

	/** Adds a webhook. If its URL has one already, that one gets the new settings, for pending deliveries too. */
	register(given: WebhookRegistration) {
		const registration = checked(given);
		const { id } = this.#sql.get`INSERT INTO webhooks (url, registration)
			VALUES (${registration.url}, ${JSON.stringify(registration)})
			ON CONFLICT (url) DO UPDATE SET registration = excluded.registration RETURNING id`!;
		return { id: Number(id) };
	}

	/** Removes a webhook, and ends its pending deliveries. */
	remove(id: number): void {
		this.#sql.run`DELETE FROM webhooks WHERE id = ${id}`;
	}

	/** Saves the section with this number, and sends "Resume Section Saved" to every webhook. Returns its resume's ID. */
	saveSection(number: number, fields: Partial<Section>): string {
		const data = this.#store.saveSection(number, fields);
		if (data === undefined) throw refusal(`There is no section ${number}.`, 404);
		const id = `evt_${randomBytes(12).toString('hex')}`;
		const created = Math.floor(Date.now() / 1000);
		const body = JSON.stringify({ event: SECTION_SAVED, id, created, data });
		for (const { url } of this.list()) this.#start(url, id, body);
		return String(data.resumeId);
	}

	/** Returns the newest delivery first. */
	deliveries(): Delivery[] {
		return this.#deliveries.toReversed();
	}

	/** Sends the body of a delivery again, as a new delivery. */
	redeliver(id: number): void {
		const found = this.#deliveries[id - 1];
		if (found === undefined) throw refusal(`There is no delivery ${id}.`, 404);
		this.#start(found.url, found.eventId, found.body);
	}

	/** Waits until nothing is pending. */
	async idle(): Promise<void> {
		while (this.#running.size > 0) await Promise.all(this.#running);
	}

	/** Aborts all deliveries. */
	async close(): Promise<void> {
		this.#closing.abort();
		await this.idle();
	}

	#start(url: string, eventId: string, body: string): void {
		const id = this.#deliveries.length + 1;
		const delivery: Delivery = { id, url, eventId, body, status: 'pending', attempts: 0 };
		this.#deliveries.push(delivery);
		const running = this.#deliver(delivery).catch((error: unknown) => {
			if (!this.#closing.signal.aborted) console.error(error);
		});
		this.#running.add(running);
		void running.finally(() => this.#running.delete(running));
	}

	async #deliver(delivery: Delivery): Promise<void> {
		const { signal } = this.#closing;
		for (let pause = this.#backoffMs; ; pause *= 2) {
			const webhook = this.list().find(({ url }) => url === delivery.url);
			if (webhook === undefined) return;
			const outcome = await send(webhook, delivery, signal);
			signal.throwIfAborted();
			delivery.attempts++;
			Object.assign(delivery, outcome);
			if (outcome.lastError === undefined) delivery.status = 'delivered';
			else if (delivery.attempts === MAX_ATTEMPTS) delivery.status = 'failed';
			if (delivery.status !== 'pending') return;
			await wait(pause, undefined, { signal });
		}
	}
}

/** @throws if no delivery can be signed with these settings */
function checked({ secret, ...others }: WebhookRegistration): WebhookRegistration {
	// The trigger trims its secret, too.
	const registration = { ...others, secret: secret?.trim() };
	if (others.style !== 'none' && !registration.secret) throw refusal('This style needs a secret.');
	try {
		registration.url = new URL(others.url).href;
		new Headers(signatureHeaders(registration, 'evt', ''));
	} catch (error) {
		throw refusal(`This webhook can't be used: ${(error as Error).message}`);
	}
	return registration;
}

/** Makes one attempt. Redirects are not followed. */
async function send(webhook: WebhookRegistration, { eventId, body }: Delivery, stop: AbortSignal) {
	try {
		const answer = await fetch(webhook.url, {
			method: 'POST',
			headers: {
				'Content-Type': 'application/json',
				...signatureHeaders(webhook, eventId, body),
			},
			body,
			redirect: 'manual',
			signal: AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_IN_MS)]),
		});
		const text = (await answer.text()).slice(0, 300);
		const lastError = answer.ok
			? undefined
			: `The receiver answered HTTP ${answer.status}: ${text}`;
		return { lastStatus: answer.status, lastError };
	} catch (error) {
		const { cause, message } = error as Error & { cause?: { code?: string } };
		const reason = cause?.code ?? message;
		return { lastStatus: undefined, lastError: `The receiver gave no answer: ${reason}` };
	}
}
