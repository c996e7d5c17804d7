import { createHash } from 'node:crypto';
import {
	isSelected,
	readEvents,
	SECTION_SAVED,
} from '../../nodes/ResumeManagementTrigger/event.ts';
import type { EventItem } from '../../nodes/ResumeManagementTrigger/event.ts';
import type { Settings } from '../../nodes/ResumeManagementTrigger/settings.ts';
import { spellingsOf } from '../../nodes/shared/secrets.ts';

const KEY = 'live-key-0123456789';
const receivedAt = new Date('2026-11-21T12:00:00Z');
const hashOf = (body: string) => createHash('sha256').update(body).digest('hex');

function readBody(body: string | Buffer, headers: Record<string, string> = {}, paths = {}) {
	const verification = 'webhook-id' in headers ? 'standardWebhooks' : 'none';
	const secrets = spellingsOf([KEY]);
	const settings = { verification, eventNamePath: '', eventIdPath: '', ...paths, secrets };
	const delivery = { body: Buffer.from(body), headers, receivedAt };
	return readEvents(settings as unknown as Settings, delivery);
}
const readAll = (payload: unknown, headers = {}, paths = {}) =>
	(readBody(JSON.stringify(payload), headers, paths) as { items: EventItem[] }).items;
const read = (payload: unknown, headers = {}, paths = {}) => {
	const [item, ...others] = readAll(payload, headers, paths);
	expect(others).toEqual([]);
	return item!;
};
const idOf = ({ deliveryId, deliveryIdSource }: EventItem) => [deliveryId, deliveryIdSource];

const NAMES = ['event', 'type', 'event_type', 'eventName', 'Event-Name'];
const UNNAMED = [
	{},
	7,
	null,
	'x',
	{ event: null },
	{ data: { event: 'x' } },
	// The parts of a resume may have types.
	{ resumeId: 'r', sections: [{ type: 'education' }] },
];
/** Of batches, and of events whose name stands deeper. */
const OTHERS = [
	{ event: { name: 'Plan Changed' } },
	{ event: ['Plan Changed'] },
	{ events: [{ event: 'Plan Changed' }] },
	{ batch: [{ event_type: 'plan.changed' }] },
	{ events: [] },
	{ events: [{ name: 'user.deleted' }, { name: 'x' }] },
	{ data: [{ eventName: 'Plan Changed' }] },
];
test.each<[unknown, string, string?]>([
	...NAMES.map((key): [object, string] => [{ [key]: 'Plan Changed' }, 'Plan Changed']),
	[{ type: 'section.saved', event: 'Plan Changed' }, 'Plan Changed'],
	[{ type: 'webhook', event_type: 'resume.section_saved' }, 'resume.section_saved'],
	[{ type: 'webhook', eventName: 'resume.section_saved' }, 'resume.section_saved'],
	[{ event: ' ', event_type: 0, type: ' 7 ' }, '7'],
	// The service names one event.
	...UNNAMED.map((payload): [unknown, string] => [payload, SECTION_SAVED]),
	...OTHERS.map((payload): [unknown, string] => [payload, '']),
	[{ event: 'section.saved', meta: { name: 'Plan Changed' } }, 'Plan Changed', 'meta.name'],
	[{ event: 'Plan Changed' }, SECTION_SAVED, 'meta.name'],
])('the event of %j is %j', (payload, name, eventNamePath = '') => {
	expect(read(payload, {}, { eventNamePath }).event).toBe(name);
});

test('JSON that was encoded twice is the event in it (pyro-api, 623)', () => {
	const payload = { event: 'Plan Changed', id: 'evt_1', data: { a: 1 } };
	const [item] = (readBody(JSON.stringify(JSON.stringify(payload))) as { items: EventItem[] })
		.items;
	expect(item).toMatchObject({ event: 'Plan Changed', deliveryId: 'evt_1', data: payload });
	const list = readBody(JSON.stringify(JSON.stringify([payload])));
	expect(list).toMatchObject({ items: [{ event: 'Plan Changed', deliveryId: 'evt_1' }] });
	for (const text of ['"x"', '7']) expect(read(text).data).toBe(text);
});

test('an array of one is the event in it, as Emailit sends it', () => {
	const body = JSON.stringify([{ resumeId: 1 }]);
	const deliveryId = hashOf(body);
	const item = { event: SECTION_SAVED, deliveryId, data: { resumeId: 1 } };
	expect(readBody(body)).toMatchObject({ items: [item] });
	expect(readBody('[]')).toEqual({ items: [] });
	for (const nested of ['[null]', '["x"]', '[[{"event":"a"},{"event":"b"}]]'])
		expect(readBody(nested)).toMatchObject({ items: [{ event: '' }] });
});

const EVENT = { event: SECTION_SAVED };
const SIGNED = { 'webhook-id': 'msg_1' };
test.each<[object | string, string, eventIdPath?: string]>([
	[{ eventId: 'e1' }, 'e1'],
	[{ event_id: ' 5\n' }, '5'],
	[{ ...EVENT, event_id: ' ', id: 5, data: {} }, '5'],
	[{ ...EVENT, event_id: 'null', id: 'e', data: {} }, 'e'],
	[{ ...EVENT, id: 'evt_1', data: {} }, 'evt_1'],
	[{ ...EVENT, id: 'resume-001', event_id: 'evt_1', data: {} }, 'evt_1'],
	[{ id: 'y', meta: { id: 9 } }, '9', 'meta.id'],
	['{"eventId":1234567890123456781}', '1234567890123456781'],
])('%j has the ID %j of its own', (payload, id, eventIdPath = '') => {
	const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
	const item = { deliveryId: id, deliveryIdSource: 'payload' };
	expect(readBody(body, SIGNED, { eventIdPath })).toMatchObject({ items: [item] });
});

test.each<[payload: object, paths?: object]>([
	// The ID may be that of a resume.
	[{ ...EVENT, id: 'resume-001', title: 'Engineer' }],
	[{ id: 'resume-001', data: {} }],
	[{ id: 'resume-001', data: EVENT }, { eventNamePath: 'data.event' }],
	// Many events may have these in place of an ID.
	...[
		'  ',
		'',
		0,
		'0',
		-0,
		null,
		'N/A',
		'00000000-0000-0000-0000-000000000000',
		'evt_undefined',
	].map((id): [object] => [{ ...EVENT, event_id: id, id, data: {} }]),
	[{ ...EVENT, meta: { id: ' ' } }, { eventIdPath: 'meta.id' }],
	[{ eventId: `${KEY}-1` }],
])('%j has no ID of its own', (payload, paths = {}) => {
	const byHash = [hashOf(JSON.stringify(payload)), 'bodyHash'];
	expect(idOf(read(payload, {}, paths))).toEqual(byHash);
	expect(idOf(read(payload, { 'webhook-id': KEY }, paths))).toEqual(byHash);
	expect(idOf(read(payload, SIGNED, paths))).toEqual(['msg_1', 'header']);
});

// As SendGrid, HubSpot and CloudEvents in batches send them.
test.each<[unknown[], names: string[], paths?: object]>([
	[
		[{ event: 'processed' }, { event: SECTION_SAVED }],
		['processed', SECTION_SAVED],
	],
	[
		[{ subscriptionType: 'contact.creation' }],
		['contact.creation'],
		{ eventNamePath: 'subscriptionType' },
	],
	[[{ type: 'a.b', id: 'ce_1', data: {} }], ['a.b']],
	[
		[{ resumeId: 1 }, 7, null, 'x', [{ event: SECTION_SAVED }]],
		['', '', '', '', ''],
	],
	[[], []],
])(
	'each element of %j is an event, and none without a name is the specified one',
	(payload, names, paths = {}) => {
		const items = readAll(payload, {}, paths);
		expect(items.map(({ event, data }) => [event, data])).toEqual(
			names.map((name, index) => [name, payload[index]]),
		);
	},
);

test('each event of an array has an ID of its own, which a repeated delivery has again', () => {
	const payload = [
		{ eventId: 'e1' },
		EVENT,
		EVENT,
		{ ...EVENT, id: 7, data: {} },
		{ eventId: `${KEY}-1` },
	];
	const idsOf = (headers: object) => readAll(payload, headers).map(idOf);
	const hash = hashOf(JSON.stringify(payload));
	for (const [headers, id, source] of [
		[{}, hash, 'bodyHash'],
		[SIGNED, 'msg_1', 'header'],
	] as const) {
		const own = (text: string) => [text, 'payload'];
		const shared = (place: number) => [`${id}-${place}`, source];
		expect(idsOf(headers)).toEqual([own('e1'), shared(2), shared(3), own('7'), shared(5)]);
		expect(idsOf(headers)).toEqual(idsOf(headers));
	}
	const inOnePlace = { eventIdPath: 'meta.uuid' };
	const [item] = readAll([{ eventId: 'e1', meta: { uuid: 'u1' } }], {}, inOnePlace);
	expect(idOf(item!)).toEqual(['u1', 'payload']);
});

test('an object with a list of events in it is one event', () => {
	const payload = { events: [{ event: 'Plan Changed' }, { event: SECTION_SAVED }] };
	expect(read(payload).data).toEqual(payload);
	expect(read(payload, {}, { eventNamePath: 'events.0.event' }).event).toBe('Plan Changed');
});

test('the payload is not changed, and the hash of its body is the ID', () => {
	const data = { text: 'é', list: [1.5, null, { '': true }], $error: {}, toString: [] };
	const id = { deliveryId: hashOf(JSON.stringify(data)), deliveryIdSource: 'bodyHash' };
	const item = { event: SECTION_SAVED, ...id, receivedAt: receivedAt.toISOString(), data };
	expect(read(data)).toEqual(item);
});

const NAME = { name: 'Müller' };
const inBytes = (encoding: BufferEncoding) => Buffer.from(JSON.stringify(NAME), encoding);
test.each<[string | Buffer, string, string | object]>([
	['', '', 'The body is empty.'],
	['a=1', '', 'The body is not JSON, or nested too deeply.'],
	['\uFEFF{"name":"Müller"}', '', NAME],
	[inBytes('utf8'), 'application/json', NAME],
	[inBytes('latin1'), 'text/json; charset=ISO-8859-1', NAME],
	[inBytes('utf16le'), 'text/json; charset="utf-16le"', NAME],
	[inBytes('utf8'), "application/json; charset='utf-8', text/json", NAME],
	[inBytes('latin1'), 'application/json', NAME],
	[inBytes('utf8'), 'application/json; charset=klingon', NAME],
])('the body %j of type %j', (body, type, expected) => {
	const result = readBody(body, { 'content-type': type });
	expect('problem' in result ? result.problem : result.items[0]!.data).toEqual(expected);
});

test.each<[boolean, string[]]>([
	[true, [SECTION_SAVED, 'resume_section_saved', 'RESUME-SECTION-SAVED', 'resumeSectionSaved']],
	[true, ['resume.section.saved', ' Resume section-SAVED\n']],
	[false, ['Plan Changed', 'section.saved', 'no resume section saved', '完了', '']],
])('Resume Section Saved is selected: %j for %j', (isSaved, events) => {
	for (const event of events) {
		const choices = [['resumeSectionSaved'], ['*'], ['resumeSectionSaved', '*'], []];
		const selected = choices.map((chosen) => isSelected(event, chosen));
		expect([event, selected]).toEqual([event, [isSaved, true, true, false]]);
	}
});
