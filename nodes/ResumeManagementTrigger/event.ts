import { createHash } from 'node:crypto';

import type { GenericValue, IDataObject } from 'n8n-workflow';

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
	/** The payload's own ID, or the SHA-256 of the body in hex. */
	deliveryId: string;
	/** Only an ID of the payload tells a repeated delivery from a second event that looks the same. */
	deliveryIdSource: 'payload' | 'bodyHash';
	/** ISO 8601. */
	receivedAt: string;
	/** The payload, untouched. */
	data: GenericValue;
}

/**
 * Reads the events of a body: one, or as many as its array has elements.
 * @returns undefined when the body is neither a JSON object nor an array
 */
export function readEvents(body: Buffer, paths: EventPaths, now: Date): EventItem[] | undefined {
	const payload = parse(body);
	if (typeof payload !== 'object' || payload === null) return undefined;
	const hash = createHash('sha256').update(body).digest('hex');
	const receivedAt = now.toISOString();
	const elements: unknown[] = Array.isArray(payload) ? payload : [payload];
	return elements.map((data, index) => {
		const name = paths.namePath ? textAt(data, paths.namePath) : firstText(data, NAMES);
		const id = paths.idPath ? textAt(data, paths.idPath) : findId(data);
		return {
			event: name ?? SECTION_SAVED,
			deliveryId: id ?? (Array.isArray(payload) ? `${hash}-${index}` : hash),
			deliveryIdSource: id === undefined ? 'bodyHash' : 'payload',
			receivedAt,
			data: data as GenericValue,
		};
	});
}

/**
 * Whether an event is among those that were selected by their option values, or `*` is. Spelling
 * does not count: the specification shows a name in words, not how a payload writes it.
 */
export function isSelected(event: string, selected: string[]): boolean {
	return selected.some((value) => value === '*' || plain(value) === plain(event));
}

function plain(name: string): string {
	return name.toLowerCase().replace(/[\s_.-]/g, '');
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
	const value = path
		.split('.')
		.reduce<unknown>(
			(inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
			data,
		);
	return (typeof value === 'string' && value !== '') || typeof value === 'number'
		? String(value)
		: undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null;
}

function parse(body: Buffer): unknown {
	try {
		return JSON.parse(body.toString('utf8').replace(/^\uFEFF/, '')) as unknown;
	} catch {
		return undefined;
	}
}
