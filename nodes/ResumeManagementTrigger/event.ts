import { createHash } from 'node:crypto';

import type { GenericValue, IDataObject } from 'n8n-workflow';

import { charsetOf, decodeText, exactString, parseJson, valueAt } from '../shared/json';
import { normalizeName, valuesNamed } from '../shared/names';
import { HIDDEN, hideSecrets } from '../shared/secrets';
import { trimInvisible } from '../shared/text';
import { ENVELOPE_IDS, EVENT_IDS, EVENT_NAMES } from './names';
import type { Settings } from './settings';
import { type Delivery, signedId } from './verify';

/** The one event that the partner API specification names (§6). */
export const SECTION_SAVED = 'Resume Section Saved';

/** The trigger's output. It holds no secret of the credential. */
export interface EventItem extends IDataObject {
	/** '' in an array for an event without a name. */
	event: string;
	/**
	 * ID from the payload, or from the header of Standard Webhooks, or the SHA-256 of the body in hex. The last two are of the
	 * whole delivery: in an array, the event's place follows them.
	 */
	deliveryId: string;
	/** With `bodyHash`, a repeated delivery looks like a second event with the same content. */
	deliveryIdSource: 'payload' | 'header' | 'bodyHash';
	/** ISO 8601. */
	receivedAt: string;
	/** The payload. A number that JavaScript would round is a string with its digits. */
	data: GenericValue;
}

/** A request without an event, and a sentence why. */
export type Unreadable = { problem: string };

/**
 * Reads any JSON: the specification shows no payload (§6). An array has one event for each element, and any other payload is
 * one event.
 */
export function readEvents(
	settings: Settings,
	delivery: Delivery,
): { items: EventItem[] } | Unreadable {
	const { body, headers } = delivery;
	const parsed = parseJson(decodeText(body, charsetOf(headers['content-type'])));
	if (parsed === undefined) return { problem: 'The body is not JSON.' };
	const payload = hideSecrets(parsed, settings.secrets) as GenericValue;
	const receivedAt = delivery.receivedAt.toISOString();
	const toItem = (data: GenericValue, nameless: string, sharedId: EventId): EventItem => ({
		event: findEventName(data, settings) || nameless,
		...(ownIdOf(data, settings) ?? sharedId),
		receivedAt,
		data,
	});
	const id = deliveryIdOf(settings, delivery);
	// A payload without a name is the one event of the specification. An element of an array may be any event.
	if (!Array.isArray(payload)) return { items: [toItem(payload, SECTION_SAVED, id)] };
	const items = payload.map((data: GenericValue, index) => {
		// Two elements may be equal, but each has its place, also when the delivery is repeated.
		return toItem(data, '', { ...id, deliveryId: `${id.deliveryId}-${index + 1}` });
	});
	return { items };
}

type EventId = Pick<EventItem, 'deliveryId' | 'deliveryIdSource'>;

/** Returns the ID of a whole delivery, for events without an ID of their own. */
function deliveryIdOf(settings: Settings, delivery: Delivery): EventId {
	const deliveryId = hideSecrets(signedId(settings, delivery), settings.secrets);
	if (isUsableId(deliveryId)) return { deliveryId, deliveryIdSource: 'header' };
	const hash = createHash('sha256').update(delivery.body).digest('hex');
	return { deliveryId: hash, deliveryIdSource: 'bodyHash' };
}

/** Returns the ID in an event's payload; undefined if there is none. */
function ownIdOf(payload: unknown, settings: Settings): EventId | undefined {
	const deliveryId = findEventId(payload, settings);
	return isUsableId(deliveryId) ? { deliveryId, deliveryIdSource: 'payload' } : undefined;
}

/** Refuses an ID that holds a secret: two different IDs may be equal once it is hidden. */
function isUsableId(id: string): boolean {
	return id !== '' && !id.includes(HIDDEN);
}

export function isSelected(event: string, chosen: string[]): boolean {
	if (chosen.includes('*')) return true;
	return chosen.includes('resumeSectionSaved') && comparable(event) === comparable(SECTION_SAVED);
}

/** Removes case and separators: the specification does not show how a payload spells the name (§6). */
function comparable(event: string): string {
	return normalizeName(event.replace(/[\s.]/g, ''));
}

/** Returns the name of the event; '' if the payload has none. */
function findEventName(payload: unknown, { eventNamePath: path }: Settings): string {
	return firstText(path ? [valueAt(payload, path)] : valuesNamed(payload, EVENT_NAMES));
}

/** Returns the ID of the event; '' if the payload has none. */
function findEventId(payload: unknown, { eventIdPath: path }: Settings): string {
	if (path) return firstText([valueAt(payload, path)]);
	// `id` may be the resume's, with which Remove Duplicates would drop the second save of the resume.
	const hasName = firstText(valuesNamed(payload, EVENT_NAMES)) !== '';
	const isEnvelope = hasName && valueAt(payload, 'data') !== undefined;
	return firstText(valuesNamed(payload, isEnvelope ? ENVELOPE_IDS : EVENT_IDS));
}

/** Returns the first string or exact number, trimmed, but neither '' nor 0, which many events may have. */
function firstText(values: unknown[]): string {
	const texts = values.map((value) => trimInvisible(exactString(value) ?? ''));
	return texts.find((text) => text && text !== '0') ?? '';
}
