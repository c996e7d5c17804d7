import { createHash } from 'node:crypto';

import type { GenericValue, IDataObject } from 'n8n-workflow';

import { decodeText, exactText, isObject, parseJson, valueAt } from '../shared/json';
import { hideSecrets, holdsSecret } from '../shared/secrets';
import type { Settings } from './settings';
import { type Delivery, signedId } from './verify';

/** The one event that the partner API specification names (§6). */
export const SECTION_SAVED = 'Resume Section Saved';

/** Where webhooks name their event, the most telling first; the specification does not show where. */
const NAMES = [
	...['event', 'event.name', 'event.type', 'eventName', 'event_name', 'eventType', 'event_type'],
	...['topic', 'action', 'type'],
];
/** Properties that identify a delivery beyond doubt. */
const IDS = ['eventId', 'event_id', 'deliveryId', 'delivery_id'];

/** Each event becomes an item, which takes hundreds of times as much memory as a `0,` of an array. */
const MOST_EVENTS = 10_000;

/** What the trigger puts out for each event, without the secrets of the credential. */
export interface EventItem extends IDataObject {
	event: string;
	/** The payload's own ID, or that of its signed header, or the SHA-256 of the body in hex. */
	deliveryId: string;
	/** Only an ID of the sender tells a repeated delivery from a second event that looks the same. */
	deliveryIdSource: 'payload' | 'header' | 'bodyHash';
	/** ISO 8601. */
	receivedAt: string;
	/** The payload. A number that JavaScript can't hold exactly is a text with its digits. */
	data: GenericValue;
	/** Only present where the payload repeated a secret, so that `data` is not quite what was sent. */
	secretsHidden?: true;
}

/**
 * Reads the events of a body: one, or as many as its array has elements.
 * @returns a sentence where the body can't be read
 */
export function readEvents(settings: Settings, delivery: Delivery): EventItem[] | string {
	const { body, headers, receivedAt } = delivery;
	const { options, secrets } = settings;
	const text = decodeText(body, headers['content-type']);
	if (text === undefined) {
		return 'The body is not in the character set that its Content-Type names, or not in UTF-8 if it names none.';
	}
	const payload = parseJson(text);
	if (typeof payload !== 'object' || payload === null) {
		return 'The body is not a JSON object or array, or is nested too deeply.';
	}
	const elements: unknown[] = [payload].flat();
	const hidden = [hideSecrets(payload, secrets, text)].flat();
	if (elements.length > MOST_EVENTS) return `The body has more than ${MOST_EVENTS} events.`;
	const sent = signedId(settings, delivery);
	const hash = createHash('sha256').update(body).digest('hex');
	return elements.map((element, index) => {
		const place = Array.isArray(payload) ? `-${index}` : '';
		const ids: Array<[EventItem['deliveryIdSource'], string | undefined]> = [
			['payload', findId(element, options)],
			['header', sent && sent + place],
		];
		// Two different IDs could be the same once a secret in them is hidden.
		const usable = ids.find(([, id]) => id !== undefined && !holdsSecret(id, secrets));
		const [deliveryIdSource, deliveryId = ''] = usable ?? ['bodyHash', hash + place];
		const data = hidden[index] as GenericValue;
		const secretsHidden = data !== element && JSON.stringify(data) !== JSON.stringify(element);
		return {
			event: hideSecrets(findName(element, options), secrets),
			deliveryId,
			deliveryIdSource,
			receivedAt: receivedAt.toISOString(),
			data,
			...(secretsHidden && { secretsHidden }),
		};
	});
}

/** Whether an event is among those that were chosen in Trigger On. */
export function isSelected(event: string, chosen: string[]): boolean {
	return chosen.includes('*') || (chosen.includes('resumeSectionSaved') && isSectionSaved(event));
}

/**
 * The specification shows a name in words and not how a payload spells it, so that `section.saved` and
 * `com.example.resume.section_saved.v1` are Resume Section Saved, too.
 */
function isSectionSaved(event: string): boolean {
	return /sectionsaved/.test(event.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ''));
}

function findName(data: unknown, { eventNamePath }: Settings['options']): string {
	const names = textsAt(data, eventNamePath ? [eventNamePath] : NAMES);
	return names.find(isSectionSaved) ?? names[0] ?? SECTION_SAVED;
}

/** `id` is the event's where it stands beside the event's name and its data, not among the data. */
function findId(data: unknown, { eventIdPath }: Settings['options']): string | undefined {
	if (eventIdPath) return textsAt(data, [eventIdPath])[0];
	const isEnvelope = isObject(data) && 'data' in data && textsAt(data, NAMES).length > 0;
	return textsAt(data, isEnvelope ? [...IDS, 'id'] : IDS)[0];
}

/** The texts at these paths that are not empty, and the numbers as texts. */
function textsAt(data: unknown, paths: string[]): string[] {
	return paths.map((path) => exactText(valueAt(data, path)) ?? '').filter((text) => text !== '');
}
