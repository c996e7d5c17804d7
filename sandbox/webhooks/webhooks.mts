import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

import { inTransaction } from '../database.mts';
import { InputError } from '../errors.mts';
import { sectionId, type SectionFields, type Store } from '../store.mts';
import { createDeliveryLog } from './log.mts';
import { createQueue } from './queue.mts';
import { completeRegistration, type Webhook, type WebhookRegistration } from './registration.mts';

/** The one event that the specification names (§6). */
const SECTION_SAVED = 'Resume Section Saved';

export type Webhooks = ReturnType<typeof createWebhooks>;

/**
 * Webhooks, the event that is sent to them, and the deliveries of it.
 *
 * @param backoffMs milliseconds between the first attempt of a delivery and the second
 */
export function createWebhooks(database: DatabaseSync, store: Store, backoffMs: number) {
	const log = createDeliveryLog(database);
	const queue = createQueue(log, backoffMs);

	return {
		/**
		 * Has all later events sent to an address. An address that is registered already gets the new
		 * settings, for its pending deliveries too.
		 *
		 * @throws {InputError} a field cannot be used
		 */
		register(registration: WebhookRegistration): Webhook {
			return log.putWebhook(completeRegistration(registration));
		},

		list: log.listWebhooks,

		/** Forgets a webhook and its deliveries. */
		remove(id: number): void {
			log.removeWebhook(id);
			queue.wake();
		},

		/**
		 * Saves a section as the console does, and queues "Resume Section Saved" for every webhook.
		 *
		 * @param section its id, e.g. `section-0042`, or the number in it
		 * @throws {InputError} there is no such section
		 */
		saveSection(section: string | number, fields: SectionFields): { eventId: string } {
			const id = typeof section === 'number' ? sectionId(section) : section;
			const eventId = inTransaction(database, () => {
				const saved = store.saveSection(id, fields);
				if (saved === undefined) {
					throw new InputError(`There is no section ${id}. Read a resume to see its sections.`);
				}
				const event = {
					event: SECTION_SAVED,
					id: `evt_${randomBytes(12).toString('hex')}`,
					created: Math.floor(Date.now() / 1000),
					data: saved,
				};
				const body = Buffer.from(JSON.stringify(event));
				log.addEvent({ id: event.id, name: event.event, body, created: event.created });
				return event.id;
			});
			queue.wake();
			return { eventId };
		},

		deliveries: log.listDeliveries,
		deliveryDetails: log.listDeliveryDetails,
		countDeliveries: log.countDeliveries,

		/**
		 * Sends the same body once more: a pending delivery without further waiting, any other as a
		 * new delivery.
		 *
		 * @throws {InputError} there is no such delivery
		 */
		redeliver(deliveryId: number): void {
			if (!log.repeatDelivery(deliveryId)) {
				throw new InputError(
					`There is no delivery ${deliveryId}. Its webhook may have been removed meanwhile.`,
				);
			}
			queue.wake();
		},

		idle: queue.idle,

		/** Sends what is pending from an earlier run. */
		start: queue.wake,

		/** Stops sending; what is pending stays in the database. */
		close: queue.close,
	};
}
