import { createHash } from 'node:crypto';

import type { GenericValue, IDataObject } from 'n8n-workflow';

import { isObject, valueAt } from '../ResumeManagement/answer/json';

/** The one event that the partner API specification names (§6). */
export const SECTION_SAVED = 'Resume Section Saved';

/** Properties that name an event in payloads of webhooks; the specification shows none. */
const NAMES = ['event', 'type', 'eventName', 'event_type'];
/** Properties that identify a delivery beyond doubt. */
const IDS = ['eventId', 'event_id', 'deliveryId', 'delivery_id'];

export interface EventPaths {
	/** Dotted path of the event's name; '' to look where names are common. */
	namePath: string;
	/** Dotted path of the event's ID; '' to look where IDs are common. */
	idPath: string;
}

/** What the trigger puts out for each event. */
export interface EventItem extends IDataObject {
	event: string;
	/** The payload's own ID, or that of its signed header, or the SHA-256 of the body in hex. */
	deliveryId: string;
	/** Only an ID of the sender tells a repeated delivery from a second event that looks the same. */
	deliveryIdSource: 'payload' | 'header' | 'bodyHash';
	/** ISO 8601. */
	receivedAt: string;
	/** The payload, untouched. */
	data: GenericValue;
}

/**
 * Reads the events of a body: one, or as many as its array has elements.
 * @param deliveryId which the request carries beside its body, signed
 * @returns undefined when the body is neither a JSON object nor an array
 */
export function readEvents(
	body: Buffer,
	paths: EventPaths,
	now: Date,
	deliveryId?: string,
): EventItem[] | undefined {
	const payload = parse(body);
	if (typeof payload !== 'object' || payload === null) return undefined;
	const whole = deliveryId ?? createHash('sha256').update(body).digest('hex');
	const source = deliveryId === undefined ? 'bodyHash' : 'header';
	const receivedAt = now.toISOString();
	const elements: unknown[] = Array.isArray(payload) ? payload : [payload];
	return elements.map((data, index) => {
		const name = paths.namePath ? textAt(data, paths.namePath) : firstText(data, NAMES);
		const id = paths.idPath ? textAt(data, paths.idPath) : findId(data);
		return {
			event: name ?? SECTION_SAVED,
			deliveryId: id ?? (Array.isArray(payload) ? `${whole}-${index}` : whole),
			deliveryIdSource: id === undefined ? source : 'payload',
			receivedAt,
			data: data as GenericValue,
		};
	});
}

/** What can be chosen to start the workflow. */
export const SELECTABLE = ['*', 'resumeSectionSaved'];

/**
 * Whether an event is among those that were chosen. The specification shows a name in words and not
 * how a payload writes it, so that `section.saved` and `com.example.resume.section_saved.v1` are
 * Resume Section Saved, too.
 * @param selected of {@link SELECTABLE}
 */
export function isSelected(event: string, selected: string[]): boolean {
	if (selected.includes('*')) return true;
	const words = event.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
	return selected.includes('resumeSectionSaved') && words.includes('sectionsaved');
}

/** `id` is the event's where it stands beside the event's name and its data, not among the data. */
function findId(data: unknown): string | undefined {
	const isEnvelope = firstText(data, NAMES) !== undefined && isObject(data) && 'data' in data;
	return firstText(data, isEnvelope ? [...IDS, 'id'] : IDS);
}

function firstText(data: unknown, names: string[]): string | undefined {
	return names.map((name) => textAt(data, name)).find((text) => text !== undefined);
}

function textAt(data: unknown, path: string): string | undefined {
	const value = valueAt(data, path);
	return (typeof value === 'string' && value !== '') || typeof value === 'number'
		? String(value)
		: undefined;
}

function parse(body: Buffer): unknown {
	try {
		return JSON.parse(body.toString('utf8').replace(/^\uFEFF/, '')) as unknown;
	} catch {
		return undefined;
	}
}
