import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';

import { useRawService } from '../support/service.mts';
import { weighted } from '../support/weighted.mts';

/**
 * Lists of services of all kinds, read with settings of all kinds: what comes out is what the service
 * has, each record once and in order, or it is an error. `LISTS_RUNS` sets how many are tried.
 */

const RUNS = Number(process.env.LISTS_RUNS ?? 300);

/** A service whose list has rows, some of them hidden from this account. */
interface Service {
	kind: 'whole' | 'page' | 'offset' | 'cursor';
	rows: Array<'shown' | 'hidden'>;
	size: number;
	/** The largest size that it can be asked for; 0 where it can't. */
	largest: number;
	firstPage: 0 | 1;
	beyond: 'empty' | 'clamped';
	/** Cursors that stay the same, or differ each time that one is given. */
	cursors: 'plain' | 'stuck' | 'stamped';
	lastCursor: 'null' | 'empty' | 'missing' | 'an empty page';
	ids: 'id' | '_id' | 'userId' | 'User-ID' | 'two' | 'none';
	/** Of how many kinds the records without an ID are, so that some of them are equal. */
	kinds: number;
	/** Whether each record says when it was sent. */
	stamped: boolean;
	total: 'none' | 'shown' | 'rows';
	sign: 'none' | 'pages' | 'has_more' | 'hasNext' | 'next' | 'nextPage';
	place: 'answer' | 'data' | 'users' | 'data.users' | 'data.people' | 'people';
	beside: Array<(typeof BESIDE)[number]>;
}

const BESIDE = ['empty', 'filled', 'later', 'in data'] as const;

const beside = fc.uniqueArray(fc.constantFrom(...BESIDE));
/** Rows that are shown, and then some that are hidden. */
const stretch = fc
	.tuple(fc.integer({ min: 1, max: 9 }), fc.constantFrom(0, 0, 0, 1, 1, 6))
	.map(([shown, hidden]) => [
		...Array<'shown'>(shown).fill('shown'),
		...Array<'hidden'>(hidden).fill('hidden'),
	]);

const service: fc.Arbitrary<Service> = fc.record({
	kind: fc.constantFrom('whole', 'page', 'offset', 'cursor'),
	rows: fc.array(stretch, { maxLength: 6, size: 'max' }).map((all) => all.flat()),
	size: fc.integer({ min: 3, max: 7 }),
	largest: fc.constantFrom(0, 4, 100),
	firstPage: fc.constantFrom(1, 1, 0),
	beyond: fc.constantFrom('empty', 'empty', 'clamped'),
	cursors: fc.constantFrom('plain', 'plain', 'stuck', 'stamped'),
	lastCursor: fc.constantFrom('null', 'empty', 'missing', 'an empty page'),
	ids: fc.constantFrom('id', 'id', '_id', 'userId', 'User-ID', 'two', 'none', 'none'),
	kinds: fc.constantFrom(1, 2, 100),
	stamped: fc.boolean(),
	total: fc.constantFrom('none', 'none', 'shown', 'rows'),
	sign: fc.constantFrom('none', 'pages', 'has_more', 'hasNext', 'next', 'nextPage'),
	place: fc.constantFrom('answer', 'data', 'users', 'data.users', 'data.people', 'people'),
	beside: weighted([2, fc.constant<Service['beside']>([])], [1, beside]),
});

type Mode = 'pageNumber' | 'offset' | 'cursor';

interface Settings {
	paged: boolean;
	/** That of the service, or any. */
	mode: 'right' | Mode;
	/** Whether the parameters are those that the service knows. */
	knowsParameter: boolean;
	size: 'none' | 'known' | 'unknown';
	pageSize: number;
	knowsCursorPath: boolean;
	itemsPath: boolean;
	/** 0 for Return All. */
	limit: number;
}

const settings: fc.Arbitrary<Settings> = fc.record({
	paged: fc.constantFrom(true, true, true, false),
	mode: fc.constantFrom('right', 'right', 'right', 'pageNumber', 'offset', 'cursor'),
	knowsParameter: fc.constantFrom(true, true, true, false),
	size: fc.constantFrom('none', 'known', 'unknown'),
	pageSize: fc.integer({ min: 3, max: 7 }),
	knowsCursorPath: fc.constantFrom(true, true, true, false),
	itemsPath: fc.boolean(),
	limit: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30 })),
});

const MODES = { whole: undefined, page: 'pageNumber', offset: 'offset', cursor: 'cursor' } as const;

const modeOf = ({ kind }: Service, { mode }: Settings): Mode =>
	mode === 'right' ? (MODES[kind] ?? 'pageNumber') : mode;

/** What can't be told from the answers, whoever reads them. */
function isFair(one: Service, by: Settings): boolean {
	// Records without an ID that differ each time are other records.
	if (one.ids === 'none' && one.stamped) return false;
	// The first page for ever under ever new cursors, without an ID to see it by.
	if (one.ids === 'none' && one.cursors === 'stamped' && !by.knowsParameter) return false;
	// A page of hidden rows alone looks like the end.
	const inARow = one.rows.join('').includes('hiddenhidden');
	return !(inARow && isSilent(one));
}

/** Whether an answer does not say that there is more, and the total does not count. */
const isSilent = ({ place, kind, sign }: Service) =>
	place === 'answer' || (kind !== 'cursor' && ['none', 'pages'].includes(sign));

type Row = Record<string, unknown> & { n: number };

function recordOf({ ids, kinds }: Service, n: number): Row | object {
	if (ids === 'none') return { kind: n % kinds };
	return ids === 'two' ? { id: 7, user_id: n } : { [ids]: n };
}

/** The whole list, as this account may see it. */
const listOf = (one: Service) =>
	one.rows.flatMap((row, n) => (row === 'shown' ? [recordOf(one, n)] : []));

/** Answers one request, the `count`th. */
function answerTo(one: Service, query: URLSearchParams, count: number): unknown {
	const asked = Number(query.get('size') ?? 0);
	const size = one.largest > 0 && asked > 0 ? Math.min(asked, one.largest) : one.size;
	const { start, end } = windowOf(one, query, size);
	const elements = one.rows.slice(start, end).flatMap((row, index) => {
		if (row === 'hidden') return [];
		const record = recordOf(one, start + index);
		return [one.stamped ? { ...record, sent: count } : record];
	});
	return inPlace(one, elements, signsOf(one, end, count, elements.length), count);
}

function windowOf(one: Service, query: URLSearchParams, size: number) {
	const { length } = one.rows;
	const lastPage = Math.max(0, Math.ceil(length / size) - 1);
	const clamped = (start: number) =>
		one.beyond === 'clamped' && start >= length ? lastPage * size : start;
	if (one.kind === 'whole') return { start: 0, end: length };
	let start = clamped(Number(query.get('offset') ?? 0));
	if (one.kind === 'page') {
		start = clamped((Number(query.get('page') ?? one.firstPage) - one.firstPage) * size);
	} else if (one.kind === 'cursor') {
		start = Number((query.get('after') ?? '0').split('.')[0]);
		if (one.cursors === 'stuck' && start > 0) start = size;
	}
	return { start, end: Math.min(start + size, Math.max(start, length)) };
}

function signsOf(one: Service, end: number, count: number, sent: number): object {
	const isMore = end < one.rows.length;
	const totals = { none: undefined, shown: listOf(one).length, rows: one.rows.length };
	const next: Record<string, unknown> = {};
	if (one.kind === 'cursor') {
		const isLast = one.lastCursor === 'an empty page' ? sent === 0 && !isMore : !isMore;
		const ends = { null: null, empty: '', missing: undefined, 'an empty page': null };
		const stamp = one.cursors === 'stamped' ? `.${count}` : '';
		next.nextCursor = isLast
			? ends[one.lastCursor]
			: `${one.cursors === 'stuck' ? one.size : end}${stamp}`;
	}
	if (one.sign === 'next') next.next = isMore ? `/users?after=${end}` : null;
	if (one.sign === 'nextPage') next.nextPage = isMore ? count + 1 : 0;
	if (one.sign === 'has_more') next.has_more = isMore;
	if (one.sign === 'hasNext') next.hasNext = isMore;
	// Numbers of pages are no sign: they mean nothing for offsets.
	if (one.sign === 'pages') next.pages = Math.ceil(one.rows.length / one.size);
	return { ...next, total: totals[one.total] };
}

function inPlace({ place, beside }: Service, elements: unknown[], signs: object, count: number) {
	if (place === 'answer') return elements;
	const others = {
		...(beside.includes('empty') && { warnings: [] }),
		...(beside.includes('filled') && { facets: [{ id: 'a facet' }] }),
		...(beside.includes('later') && count > 1 && { notices: [{ id: 'a notice' }] }),
	};
	const name = place.replace('data.', '');
	if (!place.startsWith('data')) {
		const data = beside.includes('in data') ? { data: { tips: [{ id: 'a tip' }] } } : {};
		return { ...others, [name]: elements, meta: signs, ...data };
	}
	if (place === 'data') return { status: 'success', ...others, data: elements, meta: signs };
	return beside.includes('in data')
		? { status: 'success', data: { ...others, [name]: elements, ...signs } }
		: { status: 'success', ...others, data: { [name]: elements, ...signs } };
}

/** The node's parameters for a service. */
function parametersFor(one: Service, by: Settings): INodeParameters {
	const mode = modeOf(one, by);
	const knows = by.knowsParameter && MODES[one.kind] === mode;
	const names = { pageNumber: 'page', offset: 'offset', cursor: 'after' };
	const path = one.place.startsWith('data.') ? 'data.nextCursor' : 'meta.nextCursor';
	const pagination = {
		mode,
		parameterName: knows ? names[mode] : 'unknown',
		firstPage: one.firstPage,
		cursorPath: by.knowsCursorPath ? path : 'meta.unknown',
		...(by.size !== 'none' && {
			sizeParameterName: by.size === 'known' ? 'size' : 'unknownSize',
			pageSize: by.pageSize,
		}),
	};
	return {
		resource: 'user',
		operation: 'getAll',
		...(by.limit > 0 ? { limit: by.limit } : { returnAll: true }),
		options: {
			retries: 0,
			...(by.itemsPath && one.place !== 'answer' && { itemsPath: one.place }),
			...(by.paged && { pagination: { pagination } }),
		},
	};
}

/** Whether nothing stands in the way of the whole list, so that an error would be one too many. */
function mustSucceed(one: Service, by: Settings): boolean {
	const isFound =
		by.itemsPath || one.beside.length === 0 || ['users', 'data.users', 'data'].includes(one.place);
	const isRight =
		by.paged && by.knowsParameter && by.knowsCursorPath && MODES[one.kind] === modeOf(one, by);
	// A last page that comes again is the end, but not if it is the first one.
	const hasPages = one.kind === 'page' && one.ids !== 'none' && one.rows.length > 7;
	const isPlain =
		(one.beyond === 'empty' || hasPages) && one.cursors !== 'stuck' && one.total !== 'rows';
	// By offset, a last page of one shown record is asked for twice where a hidden one is before it.
	const unseen = one.kind === 'offset' ? /hidden,(hidden|shown(,hidden)?$)/ : /hidden,hidden/;
	const isVisible = one.kind === 'cursor' || !unseen.test(one.rows.join());
	// Overlapping pages need IDs.
	const isDistinct = one.kinds === 100 && (one.kind !== 'offset' || !one.rows.includes('hidden'));
	const isTold = one.ids !== 'none' || one.kind === 'cursor' || isDistinct;
	return isFound && isRight && isPlain && isVisible && isTold && one.place !== 'answer';
}

const ERRORS =
	/^The (list is not complete|list did not end within|service sent the same page again|answer has more than one list)/;

let answer: (query: URLSearchParams, count: number) => unknown;
let count = 0;
const { run } = useRawService(({ path }) =>
	answer(new URL(path, 'http://service').searchParams, ++count),
);

test('what comes out is what the service has, each once and in order, or an error', async () => {
	const property = fc.asyncProperty(service, settings, async (one, by) => {
		fc.pre(isFair(one, by));
		count = 0;
		answer = (query, number) => answerTo(one, query, number);
		const { error, items, hints } = await run(parametersFor(one, by));
		if (error) {
			expect(error.message).toMatch(ERRORS);
			expect([mustSucceed(one, by), error.message]).toEqual([false, error.message]);
			return;
		}
		const got = items.map(({ sent: _, ...record }) => record);
		const list = listOf(one);
		const wanted = by.limit > 0 ? list.slice(0, by.limit) : list;
		// Where the service says nothing of a next page, one request reads what it gives to one.
		const isOne = !by.paged && isSilent(one) && (one.total === 'none' || one.place === 'answer');
		const isHinted = hints.some((hint) => by.limit > 0 || hint.includes('Cursor Path'));
		if (isHinted || isOne) {
			expect(got).toEqual(wanted.slice(0, got.length));
			return;
		}
		expect(got).toEqual(wanted);
	});
	await fc.assert(property, { numRuns: RUNS });
}, 600_000);
