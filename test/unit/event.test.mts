import { createHash } from 'node:crypto';

import fc from 'fast-check';

import {
	isSelected,
	readEvent,
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
	const verification = 'webhook-id' in headers ? 'standardWebhooks' : 'none';
	const settings = { verification, eventNamePath: '', eventIdPath: '', ...paths, secrets };
	const delivery = { body: Buffer.from(body), headers, receivedAt };
	return readEvent(settings as unknown as Settings, delivery);
}
const read = (payload: unknown, request?: Request) =>
	readBody(JSON.stringify(payload), request) as EventItem;
const idOf = ({ deliveryId, deliveryIdSource }: EventItem) => [deliveryId, deliveryIdSource];

test.each<[unknown, string, string?]>([
	...['event', 'type', 'event_type', 'eventName', 'Event-Name'].map((key): [object, string] => [
		{ [key]: 'Plan Changed' },
		'Plan Changed',
	]),
	[{ type: 'section.saved', event: 'Plan Changed' }, 'Plan Changed'],
	[{ event: '', type: 7 }, '7'],
	// The service names one event.
	...[{}, [], 7, { event: null }, { event: { type: 'x' } }, { data: { event: 'x' } }].map(
		(payload): [unknown, string] => [payload, SECTION_SAVED],
	),
	[{ event: 'section.saved', meta: { name: 'Plan Changed' } }, 'Plan Changed', 'meta.name'],
	[{ event: 'Plan Changed' }, SECTION_SAVED, 'meta.name'],
])('the event of %j is %j', (payload, name, eventNamePath = '') => {
	expect(read(payload, { paths: { eventNamePath } }).event).toBe(name);
});

test.each<[object | string, string, string?]>([
	[{ eventId: 'e1' }, 'e1'],
	[{ event_id: 5 }, '5'],
	[{ event: SECTION_SAVED, id: 'evt_1', data: {} }, 'evt_1'],
	[{ event: SECTION_SAVED, id: 'resume-001', event_id: 'evt_1', data: {} }, 'evt_1'],
	[{ id: 'y', meta: { id: 9 } }, '9', 'meta.id'],
	['{"eventId":1234567890123456781}', '1234567890123456781'],
])('%j carries its own ID', (payload, id, eventIdPath = '') => {
	const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
	const request = { paths: { eventIdPath }, headers: { 'webhook-id': 'msg_1' } };
	expect(idOf(readBody(body, request) as EventItem)).toEqual([id, 'payload']);
});

test('an ID beside data is not that of an event whose name is within the data', () => {
	const payload = { id: 'resume-001', data: { event: SECTION_SAVED } };
	const paths = { eventNamePath: 'data.event' };
	expect(read(payload, { paths }).deliveryIdSource).toBe('bodyHash');
});

test.each([
	{ event: SECTION_SAVED, id: 'resume-001', title: 'Engineer' },
	{ id: 'resume-001', data: {} },
	{ eventId: `${KEY}-1` },
])('%j holds no ID of the event: it may be that of a resume, or repeats a secret', (payload) => {
	expect(idOf(read(payload))).toEqual([hashOf(JSON.stringify(payload)), 'bodyHash']);
	expect(idOf(read(payload, { headers: { 'webhook-id': KEY } }))).toEqual(idOf(read(payload)));
	const signed = { headers: { 'webhook-id': 'msg_1' } };
	expect(idOf(read(payload, signed))).toEqual(['msg_1', 'header']);
});

test('the payload is handed on as it is, and the same body has the same ID, another body another', () => {
	fc.assert(
		fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
			const [event, again, second] = [{ one }, { one }, { one: other }].map((payload) =>
				read(payload),
			) as [EventItem, EventItem, EventItem];
			expect(event).toEqual({
				event: SECTION_SAVED,
				deliveryId: again.deliveryId,
				deliveryIdSource: 'bodyHash',
				receivedAt: receivedAt.toISOString(),
				data: (parseJson(JSON.stringify({ one })) as { value: unknown }).value,
			});
			const isSame = JSON.stringify(one) === JSON.stringify(other);
			expect(second.deliveryId === event.deliveryId).toBe(isSame);
		}),
	);
});

const otherCharacters = "The body's characters can't be read.";
const muller = (encoding: BufferEncoding) => Buffer.from('{"name":"Müller"}', encoding);
test.each<[string | Buffer, string, string | object]>([
	['', '', 'The body is not JSON.'],
	['\uFEFF{"name":"Müller"}', '', { name: 'Müller' }],
	[muller('utf8'), 'application/json', { name: 'Müller' }],
	[muller('latin1'), 'text/json; charset=ISO-8859-1', { name: 'Müller' }],
	[muller('utf16le'), 'text/json; charset="utf-16le"', { name: 'Müller' }],
	[muller('utf8'), "application/json; charset='utf-8', text/json", { name: 'Müller' }],
	[muller('latin1'), 'application/json', otherCharacters],
	[muller('utf8'), 'application/json; charset=klingon', otherCharacters],
	['{"__proto__":{"polluted":1}}', '', JSON.parse('{"__proto__":{"polluted":1}}') as object],
])('the body %j of type %j', (body, type, expected) => {
	const event = readBody(body, { headers: { 'content-type': type } });
	if (typeof expected === 'string') expect(event).toBe(expected);
	else expect(event).toMatchObject({ data: expected });
	expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

const LARGEST = 16 * 1024 * 1024;
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const list = (piece: string, count: number) => `[${Array(count).fill(piece).join()}]`;
const tooLarge = 'The body has too many values or levels.';
const names = Array.from({ length: 3_000_000 }, (_, index) => `"${index}":0`).join();
test.each<[string, string, string?]>([
	['500 levels', nested(500)],
	['501 levels', nested(501), tooLarge],
	['100,000 levels', nested(100_000), tooLarge],
	['200,000 numbers that are none', list('1e999', 200_000)],
	['as many `1e999,` as n8n lets in', list('1e999', Math.floor(LARGEST / 6)), tooLarge],
	['200,000 names', `{${names.slice(0, names.indexOf(',"200000"'))}}`],
	['3 million names', `{${names}}`, tooLarge],
	['as many `0,` as n8n lets in', list('0', LARGEST / 2), tooLarge],
	['one long text', JSON.stringify(['x'.repeat(LARGEST - 4)])],
])('a body of %s is answered within seconds', (_, body, sentence = 'bodyHash') => {
	// CPU time, because other work on the machine may take turns.
	const start = process.cpuUsage();
	const event = readBody(body);
	const { user, system } = process.cpuUsage(start);
	expect((user + system) / 1e6).toBeLessThan(8);
	expect(typeof event === 'string' ? event : event.deliveryIdSource).toBe(sentence);
});

test.each<[boolean, string[]]>([
	[true, [SECTION_SAVED, 'resume_section_saved', 'RESUME-SECTION-SAVED', 'resumeSectionSaved']],
	[true, ['resume.section.saved', ' Resume section-SAVED\n']],
	[false, ['Plan Changed', 'section.saved', 'no resume section saved', '完了', '']],
])('that it is Resume Section Saved is %j for %j', (isSaved, names) => {
	for (const name of names) {
		expect([name, isSelected(name, ['resumeSectionSaved'])]).toEqual([name, isSaved]);
		expect(isSelected(name, ['*'])).toBe(true);
		expect(isSelected(name, ['resumeSectionSaved', '*'])).toBe(true);
		expect(isSelected(name, [])).toBe(false);
	}
});
