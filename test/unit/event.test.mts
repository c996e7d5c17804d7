import { createHash } from 'node:crypto';

import fc from 'fast-check';

import {
	isSelected,
	readEvents,
	SECTION_SAVED,
} from '../../nodes/ResumeManagementTrigger/event.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const none = { namePath: '', idPath: '' };
const read = (payload: unknown, paths = none) =>
	readEvents(Buffer.from(JSON.stringify(payload)), paths, NOW);
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

test.each(['event', 'type', 'eventName', 'event_type'])('the name is found in %s', (key) => {
	expect(read({ [key]: 'Plan Changed' })![0]!.event).toBe('Plan Changed');
});

test('a payload without a name is the one event that the service names', () => {
	for (const payload of [{}, { event: null }, { event: { deep: 1 } }, { data: 1 }]) {
		expect(read(payload)![0]!.event).toBe(SECTION_SAVED);
	}
});

test('paths come before what is common', () => {
	const payload = { event: 'x', id: 'y', meta: { name: 'Plan Changed', id: 9 } };
	const [event] = read(payload, { namePath: 'meta.name', idPath: 'meta.id' })!;
	expect(event).toMatchObject({ event: 'Plan Changed', deliveryId: '9' });
});

test.each([
	[{ eventId: 'e1' }, 'e1'],
	[{ delivery_id: 5 }, '5'],
	[{ event: 'Resume Section Saved', id: 'evt_1', data: {} }, 'evt_1'],
])('%j carries its own ID', (payload, id) => {
	expect(read(payload)![0]).toMatchObject({ deliveryId: id, deliveryIdSource: 'payload' });
});

test('the ID of a resume is not taken for that of an event', () => {
	const payload = { event: 'Resume Section Saved', id: 'resume-001', title: 'Engineer' };
	expect(read(payload)![0]).toMatchObject({
		deliveryId: hashOf(JSON.stringify(payload)),
		deliveryIdSource: 'bodyHash',
	});
});

test('the payload is handed on untouched', () => {
	fc.assert(
		fc.property(fc.jsonValue(), (value) => {
			const payload = { value };
			const [event] = read(payload)!;
			expect(event!.data).toEqual(JSON.parse(JSON.stringify(payload)));
			expect(event!.receivedAt).toBe('2026-11-21T12:00:00.000Z');
		}),
	);
});

test('an array gives an event for each element, each with an ID of its own', () => {
	const events = read([{ eventId: 'a' }, { n: 1 }, { n: 1 }])!;
	expect(events.map(({ deliveryId }) => deliveryId)).toEqual([
		'a',
		expect.stringMatching(/^[0-9a-f]{64}-1$/),
		expect.stringMatching(/^[0-9a-f]{64}-2$/),
	]);
});

test('the same body has the same ID, and another body another', () => {
	fc.assert(
		fc.property(fc.object(), fc.object(), (a, b) => {
			const id = (payload: object) => read(payload)![0]!.deliveryId;
			const same = JSON.stringify(a) === JSON.stringify(b);
			return id(a) === id(a) && (same || id({ a }) !== id({ b }));
		}),
	);
});

test.each(['', ' ', 'hello', '{"event": ', '"text"', '7', 'null', '\u0000'])(
	'the body %j is no event',
	(text) => {
		expect(readEvents(Buffer.from(text), none, NOW)).toBeUndefined();
	},
);

test('any bytes are either events or not, and never an exception', () => {
	fc.assert(
		fc.property(fc.uint8Array(), (bytes) => {
			readEvents(Buffer.from(bytes), none, NOW);
		}),
	);
});

test('__proto__ keys change nothing but their own event', () => {
	const body = Buffer.from('{"__proto__":{"polluted":true},"event":"x"}');
	expect(readEvents(body, none, NOW)).toHaveLength(1);
	expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('a payload that is nested 10,000 deep is read', () => {
	const text = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
	expect(readEvents(Buffer.from(text), none, NOW)).toHaveLength(1);
});

test('a byte order mark is passed over', () => {
	expect(readEvents(Buffer.from('\uFEFF{"event":"x"}'), none, NOW)![0]!.event).toBe('x');
});

describe('selection', () => {
	test.each([
		'Resume Section Saved',
		'resume_section_saved',
		'RESUME-SECTION-SAVED',
		'resumeSectionSaved',
		'resume.section.saved',
		'resume:section:saved',
		'section.saved',
		'com.example.resume/section_saved.v1',
	])('%s is Resume Section Saved in any spelling', (name) => {
		expect(isSelected(name, ['resumeSectionSaved'])).toBe(true);
	});

	test('another event is not, unless all are selected', () => {
		for (const event of ['Plan Changed', 'education', 'section.deleted', '']) {
			expect(isSelected(event, ['resumeSectionSaved'])).toBe(false);
			expect(isSelected(event, ['*'])).toBe(true);
			expect(isSelected(event, ['resumeSectionSaved', '*'])).toBe(true);
		}
		expect(isSelected(SECTION_SAVED, [])).toBe(false);
	});

	test('no event without a name is left out', () => {
		fc.assert(
			fc.property(fc.object({ key: fc.constantFrom('data', 'id', 'title') }), (payload) => {
				expect(isSelected(read(payload)![0]!.event, ['resumeSectionSaved'])).toBe(true);
			}),
		);
	});
});

test('the signed ID of a request is that of its events, unless they have their own', () => {
	const ids = (payload: unknown) =>
		readEvents(Buffer.from(JSON.stringify(payload)), none, NOW, 'msg_1')!.map(
			({ deliveryId, deliveryIdSource }) => [deliveryId, deliveryIdSource],
		);
	expect(ids({})).toEqual([['msg_1', 'header']]);
	expect(ids([{ eventId: 'a' }, {}])).toEqual([
		['a', 'payload'],
		['msg_1-1', 'header'],
	]);
});
