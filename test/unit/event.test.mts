import { createHash } from 'node:crypto';

import fc from 'fast-check';

import {
	isSelected,
	readEvents,
	SECTION_SAVED,
	type EventItem,
} from '../../nodes/ResumeManagementTrigger/event.ts';
import { parseJson } from '../../nodes/shared/json.ts';
import type { Settings } from '../../nodes/ResumeManagementTrigger/settings.ts';
import { secretsOf } from '../../nodes/shared/secrets.ts';

const KEY = 'live-key-0123456789';
const secrets = secretsOf([KEY]);
const receivedAt = new Date('2026-11-21T12:00:00Z');
const hashOf = (body: string | Buffer) => createHash('sha256').update(body).digest('hex');

interface Request {
	paths?: { eventNamePath?: string; eventIdPath?: string };
	headers?: Record<string, string>;
}

function readBody(body: string | Buffer, { paths, headers = {} }: Request = {}) {
	const options = { eventNamePath: '', eventIdPath: '', includeHeaders: false, ...paths };
	const verification = 'webhook-id' in headers ? 'standardWebhooks' : 'none';
	const settings = { verification, options, secrets } as Settings;
	return readEvents(settings, { body: Buffer.from(body), headers, receivedAt });
}
const read = (payload: unknown, request?: Request) =>
	readBody(JSON.stringify(payload), request) as EventItem[];
const idsOf = (events: EventItem[]) =>
	events.map(({ deliveryId, deliveryIdSource }) => [deliveryId, deliveryIdSource]);

test.each<[object, string, string?]>([
	...['event', 'eventName', 'event_name', 'eventType', 'event_type', 'topic', 'action', 'type'].map(
		(key): [object, string] => [{ [key]: 'Plan Changed' }, 'Plan Changed'],
	),
	[{ event: { name: 'Plan Changed' } }, 'Plan Changed'],
	[{ event: 'webhook', type: 'section.saved' }, 'section.saved'],
	[{ type: 'webhook', event: 'Plan Changed' }, 'Plan Changed'],
	[{ event: '', type: 7 }, '7'],
	// What names no event is the one that the service names.
	...[{}, { event: null }, { event: { deep: 1 } }, { data: { event: 'x' } }].map(
		(payload): [object, string] => [payload, SECTION_SAVED],
	),
	[{ event: 'section.saved', meta: { name: 'Plan Changed' } }, 'Plan Changed', 'meta.name'],
	[{ event: 'Plan Changed' }, SECTION_SAVED, 'meta.name'],
])('the event of %j is %j', (payload, name, eventNamePath = '') => {
	expect(read(payload, { paths: { eventNamePath } })).toMatchObject([{ event: name }]);
});

test.each<[object | string, string, string?]>([
	[{ eventId: 'e1' }, 'e1'],
	[{ event_id: 'e1' }, 'e1'],
	[{ deliveryId: 'e1' }, 'e1'],
	[{ delivery_id: 5 }, '5'],
	[{ event: SECTION_SAVED, id: 'evt_1', data: {} }, 'evt_1'],
	[{ id: 'y', meta: { id: 9 } }, '9', 'meta.id'],
	['{"eventId":1234567890123456781}', '1234567890123456781'],
])('%j carries its own ID', (payload, id, eventIdPath = '') => {
	const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
	const request = { paths: { eventIdPath }, headers: { 'webhook-id': 'msg_1' } };
	expect(idsOf(readBody(body, request) as EventItem[])).toEqual([[id, 'payload']]);
});

test('an ID of a resume, or one that repeats a secret, is not taken for that of an event', () => {
	const ofResume = { event: SECTION_SAVED, id: 'resume-001', title: 'Engineer' };
	for (const payload of [ofResume, { eventId: `${KEY}-1` }]) {
		expect(idsOf(read(payload))).toEqual([[hashOf(JSON.stringify(payload)), 'bodyHash']]);
		const ofKey = { headers: { 'webhook-id': KEY } };
		expect(idsOf(read(payload, ofKey))).toEqual(idsOf(read(payload)));
		const signed = { headers: { 'webhook-id': 'msg_1' } };
		expect(idsOf(read(payload, signed))).toEqual([['msg_1', 'header']]);
	}
});

test('an array gives an event for each element, each with an ID of its own', () => {
	const payload = [{ eventId: 'a' }, { n: 1 }, { n: 1 }];
	const hash = hashOf(JSON.stringify(payload));
	const hashed = [1, 2].map((index) => [`${hash}-${index}`, 'bodyHash']);
	expect(idsOf(read(payload))).toEqual([['a', 'payload'], ...hashed]);
	const signed = [1, 2].map((index) => [`msg_1-${index}`, 'header']);
	const headers = { 'webhook-id': 'msg_1' };
	expect(idsOf(read(payload, { headers }))).toEqual([['a', 'payload'], ...signed]);
	expect(read(Array(10_000).fill(0))).toHaveLength(10_000);
	expect(read(Array(10_001).fill(0))).toBe('The body has more than 10000 events.');
});

test('the payload is handed on as it is, and the same body has the same ID, another body another', () => {
	fc.assert(
		fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
			const [[event], [again], [second]] = [{ one }, { one }, { one: other }].map((payload) =>
				read(payload),
			) as [EventItem[], EventItem[], EventItem[]];
			expect(event).toEqual({
				event: SECTION_SAVED,
				deliveryId: again!.deliveryId,
				deliveryIdSource: 'bodyHash',
				receivedAt: receivedAt.toISOString(),
				data: parseJson(JSON.stringify({ one })),
			});
			const isSame = JSON.stringify(one) === JSON.stringify(other);
			expect(second!.deliveryId === event!.deliveryId).toBe(isSame);
		}),
	);
});

const unreadable = /^The body is not a JSON object or array/;
const otherCharacters = /^The body is not in the character set/;
const muller = (encoding: BufferEncoding) => Buffer.from('{"name":"Müller"}', encoding);
test.each<[string | Buffer, string, RegExp | object]>([
	['', '', unreadable],
	['\uFEFF{"name":"Müller"}', '', { name: 'Müller' }],
	[muller('utf8'), 'application/json', { name: 'Müller' }],
	[muller('latin1'), 'text/json; charset=ISO-8859-1', { name: 'Müller' }],
	[muller('utf16le'), 'text/json; charset="utf-16le"', { name: 'Müller' }],
	[muller('utf8'), "application/json; charset='utf-8', text/json", { name: 'Müller' }],
	[muller('utf8'), 'application/json; charset=utf8mb4', { name: 'Müller' }],
	[muller('latin1'), 'application/json', otherCharacters],
	[muller('utf8'), 'application/json; charset=klingon', otherCharacters],
	['{"__proto__":{"polluted":1}}', '', JSON.parse('{"__proto__":{"polluted":1}}') as object],
])('the body %j of type %j', (body, type, expected) => {
	const events = readBody(body, { headers: { 'content-type': type } });
	if (expected instanceof RegExp) expect(events).toMatch(expected);
	else expect(events).toMatchObject([{ data: expected }]);
	expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

test('500 levels are read, and no more', () => {
	const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
	expect(readBody(nested(500))).toHaveLength(1);
	for (const levels of [501, 100_000]) expect(readBody(nested(levels))).toMatch(unreadable);
});

test.each<[boolean, string[]]>([
	[true, [SECTION_SAVED, 'resume_section_saved', 'RESUME-SECTION-SAVED', 'resumeSectionSaved']],
	[true, ['resume:section:saved', 'section.saved', 'com.example.resume/section_saved.v1']],
	[false, ['Plan Changed', 'education', 'section.deleted', '完了', '']],
])('that it is Resume Section Saved is %j for %j', (isSaved, names) => {
	for (const name of names) {
		expect([name, isSelected(name, ['resumeSectionSaved'])]).toEqual([name, isSaved]);
		expect(isSelected(name, ['*'])).toBe(true);
		expect(isSelected(name, ['resumeSectionSaved', '*'])).toBe(true);
		expect(isSelected(name, [])).toBe(false);
	}
});
