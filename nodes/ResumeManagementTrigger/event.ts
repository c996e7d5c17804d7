import { createHash } from 'node:crypto';

import type { GenericValue, IDataObject } from 'n8n-workflow';

import {
	charsetOf,
	decodeText,
	exactString,
	isObject,
	normalizeName,
	parseJson,
	valueAt,
	valuesNamed,
} from '../shared/json';
import { HIDDEN, hideSecrets } from '../shared/secrets';
import { isNotAValue, standsForNone, trimInvisible } from '../shared/text';
import {
	BATCHES,
	ENVELOPE_IDS,
	EVENT_IDS,
	EVENT_NAMES,
	UNAMBIGUOUS_EVENT_NAMES,
} from './eventNames';
import type { Settings } from './settings';
import { type Delivery, signedId } from './verify';

/** The one event that the partner API specification names (§6). */
export const SECTION_SAVED = 'Resume Section Saved';

/** The trigger's output. It holds no secret of the credential. */
export interface EventItem extends IDataObject {
	/** '' if the event has no name, but may be another than the one of the specification. */
	event: string;
	/**
	 * ID from the payload, or from the header of Standard Webhooks, or the SHA-256 of the body in
	 * hex. The last two are of the whole delivery: in an array of several, the event's place follows
	 * them.
	 */
	deliveryId: string;
	/** `bodyHash` does not tell a second event with the same content from a repeated delivery. */
	deliveryIdSource: 'payload' | 'header' | 'bodyHash';
	/** ISO 8601. */
	receivedAt: string;
	/** The payload. A number that JavaScript would round is a string with its digits. */
	data: GenericValue;
}

/** A request without an event, and a sentence why. */
export type Unreadable = { problem: string };

/** Reads any JSON: the specification shows no payload (§6). */
export function readEvents(
	settings: Settings,
	delivery: Delivery,
): { items: EventItem[] } | Unreadable {
	const { body, headers } = delivery;
	if (body.length === 0) return { problem: 'The body is empty.' };
	const payload = readPayload(decodeText(body, charsetOf(headers['content-type'])), settings);
	if (payload === undefined) return { problem: 'The body is not JSON, or nested too deeply.' };
	// An array of one event is that event.
	const isOne = Array.isArray(payload) && payload.length === 1 && isObject(payload[0]);
	const content = isOne ? payload[0] : payload;
	const items = Array.isArray(content)
		? readArray(content, settings, delivery)
		: [readSingleEvent(content, settings, delivery)];
	return { items };
}

/**
 * Parses a body. Some senders encode their JSON twice, so that it is a string of JSON.
 * @returns undefined if the text is not JSON, or has more levels than the stack of Node.js
 */
function readPayload(text: string, { secrets }: Settings): GenericValue | undefined {
	try {
		const once = parseJson(text);
		const twice = typeof once === 'string' ? parseJson(once) : undefined;
		const payload = typeof twice === 'object' && twice !== null ? twice : once;
		return hideSecrets(payload, secrets) as GenericValue | undefined;
	} catch {
		return undefined;
	}
}

/**
 * Reads a payload as one event. If it has no name, it is the one event that the specification
 * names.
 */
function readSingleEvent(data: GenericValue, settings: Settings, delivery: Delivery): EventItem {
	const isOther = settings.eventNamePath === '' && mayBeOtherEvent(data);
	return {
		event: findEventName(data, settings) || (isOther ? '' : SECTION_SAVED),
		...(idInPayload(data, settings) ?? idOfDelivery(settings, delivery)),
		receivedAt: delivery.receivedAt.toISOString(),
		data,
	};
}

/** Returns an event for each element. One without a name may be any event. */
function readArray(elements: GenericValue[], settings: Settings, delivery: Delivery): EventItem[] {
	const { deliveryId, deliveryIdSource } = idOfDelivery(settings, delivery);
	return elements.map((data, index) => {
		// Two elements may be equal. The place of each is the same when the delivery is repeated.
		const idOfElement = { deliveryId: `${deliveryId}-${index + 1}`, deliveryIdSource };
		return {
			event: findEventName(data, settings),
			...(idInPayload(data, settings) ?? idOfElement),
			receivedAt: delivery.receivedAt.toISOString(),
			data,
		};
	});
}

/**
 * Checks whether a payload without a name may be another event than the one of the specification:
 * it is a batch, such as `{ events: [] }` or `{ data: [{ event: 'a' }] }`, or its name is no text,
 * such as `{ event: { name: 'a' } }`.
 */
function mayBeOtherEvent(payload: unknown): boolean {
	if (valuesNamed(payload, BATCHES).some(Array.isArray)) return true;
	const lists = isObject(payload) ? Object.values(payload).filter(Array.isArray) : [];
	const names = [payload, ...lists.flat()].flatMap((one) =>
		valuesNamed(one, UNAMBIGUOUS_EVENT_NAMES),
	);
	return names.some((name) => name !== null && name !== '');
}

type EventId = Pick<EventItem, 'deliveryId' | 'deliveryIdSource'>;

/** Returns the ID in an event's payload; undefined if there is none. */
function idInPayload(payload: unknown, settings: Settings): EventId | undefined {
	const deliveryId = findEventId(payload, settings);
	return isUsableId(deliveryId) ? { deliveryId, deliveryIdSource: 'payload' } : undefined;
}

/** Returns the ID of a whole delivery, for events without an ID of their own. */
function idOfDelivery(settings: Settings, delivery: Delivery): EventId {
	const deliveryId = hideSecrets(signedId(settings, delivery), settings.secrets);
	if (isUsableId(deliveryId)) return { deliveryId, deliveryIdSource: 'header' };
	const hash = createHash('sha256').update(delivery.body).digest('hex');
	return { deliveryId: hash, deliveryIdSource: 'bodyHash' };
}

/** Refuses an ID that holds a secret: two different IDs may be equal once it is hidden. */
function isUsableId(id: string): boolean {
	return id !== '' && !standsForNone(id) && !id.includes(HIDDEN);
}

/** @param choices of the field Trigger On */
export function isSelected(event: string, choices: string[]): boolean {
	if (choices.includes('*')) return true;
	const isSectionSaved = normalizeEventName(event) === normalizeEventName(SECTION_SAVED);
	return isSectionSaved && choices.includes('resumeSectionSaved');
}

/**
 * Removes case and separators: the specification does not show how a payload spells the name (§6).
 */
function normalizeEventName(event: string): string {
	return normalizeName(event.replace(/[\s.]/g, ''));
}

/** Returns the name of the event; '' if the payload has none. */
function findEventName(payload: unknown, { eventNamePath: path }: Settings): string {
	return firstText(path ? [valueAt(payload, path)] : valuesNamed(payload, EVENT_NAMES));
}

/** Returns the ID of the event; '' if the payload has none. */
function findEventId(payload: unknown, { eventIdPath: path }: Settings): string {
	if (path) return firstText([valueAt(payload, path)]);
	// `id` may be the resume's, with which Remove Duplicates would drop the second save of the
	// resume.
	const hasName = firstText(valuesNamed(payload, EVENT_NAMES)) !== '';
	const isEnvelope = hasName && valueAt(payload, 'data') !== undefined;
	return firstText(valuesNamed(payload, isEnvelope ? ENVELOPE_IDS : EVENT_IDS));
}

/**
 * Returns the first string or exact number, trimmed, but neither '' nor 0, which many events may
 * have, nor what stands for no value, such as `null`.
 */
function firstText(values: unknown[]): string {
	const texts = values.map((value) => trimInvisible(exactString(value) ?? ''));
	return texts.find((text) => text && text !== '0' && !isNotAValue(text)) ?? '';
}
