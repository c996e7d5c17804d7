import { createHash } from 'node:crypto';

import type { GenericValue, IDataObject } from 'n8n-workflow';

import { decodeText, exactString, parseJson, valueAt } from '../shared/json';
import { ENVELOPE_IDS, EVENT_IDS, EVENT_NAMES, normalizeName, valuesNamed } from '../shared/names';
import { HIDDEN, hideSecrets } from '../shared/secrets';
import type { Settings } from './settings';
import { type Delivery, signedId } from './verify';

/** The one event that the partner API specification names (§6). */
export const SECTION_SAVED = 'Resume Section Saved';

/** The trigger's output. It holds no secret of the credential. */
export interface EventItem extends IDataObject {
	event: string;
	/** ID from the payload, or from the header of Standard Webhooks, or the SHA-256 of the body in hex. */
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

/** Reads any JSON as one event: the specification shows no payload (§6). */
export function readEvent(
	settings: Settings,
	delivery: Delivery,
): { item: EventItem } | Unreadable {
	const { body, headers, receivedAt } = delivery;
	const { secrets } = settings;
	const text = decodeText(body, headers['content-type']);
	if (text === undefined) return { problem: "The body's text can't be decoded." };
	const parsed = parseJson(text);
	if (!parsed) return { problem: 'The body is not JSON.' };
	const data = hideSecrets(parsed.value, secrets) as GenericValue;
	const name = findEventName(data, settings);
	const ids: Array<[EventItem['deliveryIdSource'], string]> = [
		['payload', findEventId(data, settings)],
		['header', hideSecrets(signedId(settings, delivery), secrets)],
	];
	// Two different IDs may be equal once a secret in them is hidden.
	const usable = ids.find(([, id]) => id !== '' && !id.includes(HIDDEN));
	const hash = createHash('sha256').update(body).digest('hex');
	const [deliveryIdSource, deliveryId] = usable ?? ['bodyHash', hash];
	// A payload without a name is the one event of the specification.
	const event = name || SECTION_SAVED;
	return {
		item: { event, deliveryId, deliveryIdSource, receivedAt: receivedAt.toISOString(), data },
	};
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
	const texts = values.map((value) => exactString(value)?.trim());
	return texts.find((text) => text && text !== '0') ?? '';
}
