import fc from 'fast-check';
import type { Drawn } from '../support/arbitraries.mts';
import { useRawService } from '../support/service.mts';

/** The node returns all records of a random service, each once and in order, or an error. The oracle is the service. */

const RUNS = Number(process.env.LISTS_RUNS ?? 150);

const MODES = { page: 'pageNumber', offset: 'offset', cursor: 'cursor', whole: undefined } as const;

const stretch = (...hidden: number[]) =>
	fc
		.tuple(fc.integer({ min: 1, max: 9 }), fc.constantFrom(...hidden))
		.map(([shown, more]) => [
			...Array<'shown'>(shown).fill('shown'),
			...Array<'hidden'>(more).fill('hidden'),
		]);
const rows = (...hidden: number[]) =>
	fc.array(stretch(...hidden), { maxLength: 6, size: 'max' }).map((all) => all.flat());

const signs = ['has_more', 'hasNext', 'next', 'nextPage', 'total'] as const;
const places = ['data', 'users', 'data.users', 'data.people', 'people'] as const;

/** A service whose rows are partly hidden from this account. */
type Service = Drawn<typeof service> | Drawn<typeof rightlyRead>[0];
const service = fc.record({
	size: fc.integer({ min: 3, max: 7 }),
	/** Largest size that a request can ask for; 0 if requests have no size. */
	largest: fc.constantFrom(0, 4, 100),
	firstPage: fc.constantFrom(0, 1),
	lastCursor: fc.constantFrom(null, '', undefined),
	/** Property of a record's ID; without one, records differ by their content, and some are equal. */
	id: fc.constantFrom('id', '_id', 'userId', 'User-ID', undefined),
	/** A record with an ID has the number of its request, so that it differs each time. */
	stamped: fc.boolean(),
	kind: fc.constantFrom('page', 'offset', 'cursor', 'whole'),
	rows: rows(0, 0, 0, 1, 6),
	/** Response to a request for a page after the last one. */
	beyond: fc.constantFrom('empty', 'last page'),
	/** A stuck cursor leads to the second page for ever. A stamped cursor differs in each response. */
	cursors: fc.constantFrom('plain', 'plain', 'stuck', 'stamped'),
	/** Signs that there are more records. `rows` counts the hidden ones too. */
	sign: fc.constantFrom(...signs, 'rows'),
	place: fc.constantFrom(...places),
	beside: fc.constantFrom('none', 'none', 'empty', 'filled', 'later'),
});
type Settings = Drawn<typeof settings>;
const settings = fc.record({
	mode: fc.constantFrom('pageNumber', 'offset', 'cursor', undefined),
	/** If false, the service ignores the parameters. */
	knowsParameter: fc.boolean(),
	knowsCursorPath: fc.boolean(),
	size: fc.constantFrom('none', 'known', 'unknown'),
	pageSize: fc.integer({ min: 3, max: 7 }),
	itemsPath: fc.boolean(),
	limit: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30 })),
});

/** Services that say whether they have more, each read with any settings. */
const telling = fc.tuple(service, settings);

/** Services that may say nothing, read with the settings that are right for them. */
const rightlyRead = fc.constantFrom('whole', 'page', 'offset', 'cursor').chain((kind) => {
	const own = fc.record({
		// An empty page is the end, except by cursor. By offset, hidden rows are not counted.
		rows: rows(...{ whole: [0, 6], page: [0, 1], offset: [0], cursor: [0, 1, 6] }[kind]),
		sign: fc.constantFrom('none', ...(kind === 'cursor' ? ['has_more' as const] : signs)),
		place: kind === 'cursor' ? fc.constantFrom(...places) : fc.constantFrom('body', ...places),
	});
	const fixed = { kind, beyond: 'empty', cursors: 'plain' } as const;
	const right = { mode: MODES[kind], knowsParameter: true, knowsCursorPath: true, itemsPath: true };
	return fc.tuple(
		fc.tuple(service, own).map(([one, more]) => ({ ...one, ...fixed, ...more })),
		settings.map((by) => ({ ...by, ...right })),
	);
});

function recordsOf({ rows, id }: Service): object[] {
	const shown = [...rows.keys()].filter((n) => rows[n] === 'shown');
	return shown.map((n) => (id ? { [id]: n } : { name: `Name ${n % 50}` }));
}

function bodyFor(one: Service, query: URLSearchParams, count: number): unknown {
	const asked = Number(query.get('size') ?? 0);
	const size = one.largest > 0 && asked > 0 ? Math.min(asked, one.largest) : one.size;
	const [start, end] = windowOf(one, query, size);
	const visible = (rows: Service['rows']) => rows.filter((row) => row === 'shown').length;
	const before = visible(one.rows.slice(0, start));
	const stamp = one.stamped && one.id ? { sent: count } : {};
	const records = recordsOf(one)
		.slice(before, before + visible(one.rows.slice(start, end)))
		.map((record) => ({ ...record, ...stamp }));
	return inPlace(one, records, signsOf(one, size, end, count), count);
}

function windowOf(one: Service, query: URLSearchParams, size: number): [number, number] {
	const { length } = one.rows;
	if (one.kind === 'whole') return [0, length];
	const starts = {
		offset: Number(query.get('offset') ?? 0),
		page: (Number(query.get('page') ?? one.firstPage) - one.firstPage) * size,
		cursor: Number((query.get('after') ?? '0').split('.')[0]),
	};
	let start = starts[one.kind];
	if (one.kind !== 'cursor' && one.beyond === 'last page' && start >= length) {
		start = Math.max(0, Math.ceil(length / size) - 1) * size;
	}
	return [start, Math.min(start + size, Math.max(start, length))];
}

function signsOf(one: Service, size: number, end: number, count: number): object {
	const isMore = end < one.rows.length;
	const cursor = one.cursors === 'stuck' ? size : end;
	const next = one.cursors === 'stamped' && one.id ? `${cursor}.${count}` : `${cursor}`;
	const all = {
		none: {},
		has_more: { has_more: isMore },
		hasNext: { hasNext: isMore },
		next: { next: isMore ? `/users?after=${end}` : null },
		nextPage: { nextPage: isMore ? count + 1 : 0 },
		total: { total: recordsOf(one).length },
		rows: { total: one.rows.length },
	};
	return {
		...all[one.sign],
		...(one.kind === 'cursor' && { nextCursor: isMore ? next : one.lastCursor }),
	};
}

function inPlace({ place, beside }: Service, records: object[], signs: object, count: number) {
	if (place === 'body') return records;
	const others = {
		...(beside === 'empty' && { warnings: [] }),
		...(beside === 'filled' && { facets: [{ id: 'a facet' }] }),
		...(beside === 'later' && count > 1 && { notices: [{ id: 'a notice' }] }),
	};
	const name = place.replace('data.', '');
	if (name !== place) return { ...others, data: { [name]: records, ...signs } };
	return { ...others, [name]: records, meta: signs };
}

let respond: (query: URLSearchParams, count: number) => unknown;
const { requests, run } = useRawService(({ path }) =>
	respond(new URL(path, 'http://service').searchParams, requests.length),
);

async function read(one: Service, by: Settings) {
	requests.length = 0;
	respond = (query, count) => bodyFor(one, query, count);
	const { mode } = by;
	const knows = by.knowsParameter && MODES[one.kind] === mode;
	const cursorPath = one.place.startsWith('data.') ? 'data.nextCursor' : 'meta.nextCursor';
	const pagination = {
		mode: mode!,
		parameterName: knows ? { pageNumber: 'page', offset: 'offset', cursor: 'after' }[mode!] : 'no',
		firstPage: one.firstPage,
		cursorPath: by.knowsCursorPath ? cursorPath : 'meta.unknown',
		...(by.size !== 'none' && {
			sizeParameterName: by.size === 'known' ? 'size' : 'unknownSize',
			pageSize: by.pageSize,
		}),
	};
	const { error, items, hints } = await run({
		resource: 'user',
		operation: 'getAll',
		...(by.limit > 0 ? { limit: by.limit } : { returnAll: true }),
		options: {
			retries: 0,
			...(by.itemsPath && one.place !== 'body' && { itemsPath: one.place }),
			...(mode && { pagination: { pagination } }),
		},
	});
	const got = items.map(({ sent: _, ...record }) => record);
	const all = recordsOf(one);
	const wanted = by.limit > 0 ? all.slice(0, by.limit) : all;
	return { error, hints, got, wanted, isComplete: got.length === wanted.length };
}

test('what a telling service has comes out as it is, or an error does', async () => {
	const seen: Record<string, number> = {};
	const property = fc.asyncProperty(telling, async ([one, by]) => {
		const { error, hints, got, wanted, isComplete } = await read(one, by);
		const ending = error?.message.replace(/ did not end.*| \[item.*/, '') ?? String(isComplete);
		seen[ending] = (seen[ending] ?? 0) + 1;
		if (error) return;
		expect(got).toEqual(wanted.slice(0, got.length));
		if (!isComplete) expect([by.limit > 0, hints]).toEqual([true, [expect.any(String)]]);
	});
	await fc.assert(property, { numRuns: RUNS });
	expect(Object.keys(seen).sort()).toEqual([
		'The list is not complete',
		'The response has more than one list',
		'The service sent the same page again',
		'false',
		'true',
	]);
}, 3_600_000);

test('a service that is read with the right settings gives all that it has', async () => {
	let pages = 0;
	const property = fc.asyncProperty(rightlyRead, async ([one, by]) => {
		const { error, got, wanted } = await read(one, by);
		expect([error?.message, got]).toEqual([undefined, wanted]);
		pages += requests.length;
	});
	await fc.assert(property, { numRuns: RUNS });
	expect(pages).toBeGreaterThan(2 * RUNS);
}, 3_600_000);
