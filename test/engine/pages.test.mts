import type { INodeParameters } from 'n8n-workflow';

import { byId } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService, useSandbox } from '../support/service.mts';

/**
 * Lists that are read page by page, as the option Pagination says: what is asked for, and what the user
 * reads. That what comes out is the whole list, or an error: lists.test.mts.
 */

const PRIVATE_KEY = 'private-key-of-the-pages';

type Service = (query: URLSearchParams, request: number) => unknown;

let service: Service;
const { requests, run } = useRawService(
	({ path, index }) => service(new URL(path, 'http://service').searchParams, index),
	PRIVATE_KEY,
);
/** What each request asked for, without its path. */
const queries = () => requests.map(({ path }) => path.split('?')[1] ?? '');

const records = (from: number, to: number) =>
	Array.from({ length: Math.max(0, to - from) }, (_, index) => ({ id: from + index }));

/** Pages of a list, by number from 1, and by the size that is asked for or else 10. */
const numbered =
	(total: number): Service =>
	(query) => {
		const size = Number(query.get('size') ?? 10);
		const start = (Number(query.get('page') ?? 1) - 1) * size;
		return { status: 'success', data: records(start, Math.min(start + size, total)) };
	};

function getAll(pagination?: INodeParameters, rest: INodeParameters = {}): INodeParameters {
	const { options = {}, ...others } = rest as { options?: INodeParameters };
	return {
		resource: 'user',
		operation: 'getAll',
		returnAll: true,
		...others,
		options: { retries: 0, ...options, ...(pagination && { pagination: { pagination } }) },
	};
}
const page = { parameterName: 'page' };
const sized = { ...page, sizeParameterName: 'size', pageSize: 10 };
const cursor = { mode: 'cursor', parameterName: 'after', cursorPath: 'meta.next' };
const offset = { mode: 'offset', parameterName: 'skip' };

const ids = (count: number) => records(0, count).map(({ id }) => id);
const at = (query: URLSearchParams, name: string) => Number(query.get(name) ?? 0);
/** Rows of a list, without those that the service hides. */
const rows = (start: number, end: number, hidden: number[] = []) =>
	records(start, end).filter(({ id }) => !hidden.includes(id));

test.each<[string, INodeParameters, Service, expected: unknown[], sent: string[]]>([
	['the first page where it is empty', page, numbered(0), [], ['page=1']],
	[
		'an empty page, and not a short one',
		sized,
		(query) => rows(at(query, 'page') * 10 - 10, Math.min(at(query, 'page') * 10, 30), [12, 13]),
		ids(30).filter((id) => id !== 12 && id !== 13),
		[1, 2, 3, 4].map((number) => `size=10&page=${number}`),
	],
	[
		'an empty page, where pages are counted from 0',
		{ parameterName: 'p', firstPage: 0 },
		(query) => records(at(query, 'p') * 10, Math.min(at(query, 'p') * 10 + 10, 15)),
		ids(15),
		['p=0', 'p=1', 'p=2'],
	],
	[
		'as many records as the service says that there are',
		page,
		(query) => ({ ...(numbered(20)(query, 0) as object), meta: { total_count: '20' } }),
		ids(20),
		['page=1', 'page=2'],
	],
	[
		'a page that says that there are no more',
		page,
		(query) => ({ ...(numbered(20)(query, 0) as object), hasNext: at(query, 'page') < 2 }),
		ids(20),
		['page=1', 'page=2'],
	],
	[
		'an empty page, where hidden records count for the offset',
		{ ...offset, sizeParameterName: 'take', pageSize: 100 },
		(query) => rows(at(query, 'skip'), Math.min(at(query, 'skip') + 10, 23), [3, 21]),
		ids(23).filter((id) => id !== 3 && id !== 21),
		[0, 9, 19, 22, 23].map((start) => `take=100&skip=${start}`),
	],
])('a list ends with %s', async (_, pagination, answer, expected, sent) => {
	service = answer;
	const { error, items, hints } = await run(getAll(pagination));
	expect(error).toBeUndefined();
	expect(items.map(({ id }) => id)).toEqual(expected);
	expect(queries()).toEqual(sent);
	expect(hints).toEqual([]);
});

const AGAIN = 'The service sent the same page again';
const INCOMPLETE = 'The list is not complete';
/** Its first page for ever, with the time in each record. */
const deaf: Service = (_, request) => records(0, 10).map((one) => ({ ...one, request }));

test.each<[string, INodeParameters, Service, message: string, description: string, sent: number]>([
	['a page parameter that it does not know', page, deaf, AGAIN, "the parameter 'page'", 2],
	[
		'an offset that it does not know, with two users in turn',
		offset,
		(_, request) => records(0, request % 2 ? 10 : 11),
		'The list did not end after 100 pages',
		'',
		100,
	],
	[
		'a cursor that stays the same',
		cursor,
		(_, request) => ({ items: records(request * 7, request * 7 + 7), meta: { next: 'c' } }),
		AGAIN,
		'A cursor came twice',
		2,
	],
	[
		'something else than a cursor',
		{ ...cursor, cursorPath: 'meta' },
		() => ({ users: records(0, 10), meta: { next: 'c' } }),
		"The answer has no cursor at 'meta'",
		'Check Cursor Path in Pagination',
		1,
	],
	[
		'equal records without an ID, by page number',
		page,
		(query) => (at(query, 'page') < 4 ? [{ name: 'Ann' }, { name: at(query, 'page') }] : []),
		AGAIN,
		'A record without an ID came twice',
		2,
	],
	[
		'two records of one ID on a page',
		page,
		() => ['en', 'fr'].map((language) => ({ id: 1, language })),
		'Different records of one page have the same ID',
		'ask your account manager',
		1,
	],
	[
		'fewer records than it said first',
		page,
		(query) => ({ ...(numbered(15)(query, 0) as object), total: 17 - at(query, 'page') }),
		INCOMPLETE,
		'sent 15 records, and says that the list has 16',
		3,
	],
	[
		'another list on a later page',
		page,
		(query) => (at(query, 'page') < 2 ? { people: records(0, 10) } : { tips: [{ id: 'tip' }] }),
		"The answer has no list at 'people'",
		'Set Items Path',
		2,
	],
	[
		'a page after the other',
		{ ...page, maxPages: 3 },
		numbered(1_000),
		'The list did not end after 3 pages',
		'Max Pages in Pagination',
		3,
	],
])('it is an error where the service sends %s', async (_, pagination, answer, ...expected) => {
	service = answer;
	const [message, description, sent] = expected;
	for (const limited of [{}, { returnAll: false, limit: 2_000 }]) {
		requests.length = 0;
		const { error, outputs } = await run(getAll(pagination, limited));
		expect(error?.message).toBe(message);
		expect(error?.description).toContain(description);
		expect(outputs.flat()).toEqual([]);
		expect(queries()).toHaveLength(sent);
	}
});

test('a hint says that the path of the cursor may be wrong, once for all items', async () => {
	service = () => ({ items: records(0, 2) });
	const parameters = { ...getAll(cursor), resource: 'resume', userId: byId('={{ $json.id }}') };
	const { pairs, hints } = await run(parameters, { items: [{ id: 'a' }, { id: 'b' }] });
	expect(pairs[0]).toEqual([0, 0, 1, 1]);
	expect(hints).toEqual([expect.stringContaining("nothing at 'meta.next'")]);
	service = () => ({ items: records(0, 10), total: 10 });
	expect((await run(getAll(cursor))).hints).toEqual([]);
});

describe('without Pagination', () => {
	test.each<object>([
		{ total: 5_000 },
		{ data: { 'page-info': { hasNextPage: 'true' } } },
		{ meta: { pagination: { links: { nextPage: 2 } } } },
	])('a list says by %j that it is not whole', async (sign) => {
		service = () => ({ users: records(0, 20), ...sign });
		const advice = 'add the option Pagination';
		for (const simplify of [true, false]) {
			const { error, outputs } = await run(getAll(undefined, { simplify }));
			expect(error?.message).toBe(INCOMPLETE);
			expect(error?.description).toMatch(new RegExp(`sent 20 records.*${advice}`));
			expect(outputs.flat()).toEqual([]);
		}
		for (const limit of [50, 20]) {
			const { items, hints } = await run(getAll(undefined, { returnAll: false, limit }));
			expect(items).toEqual(records(0, 20));
			expect(hints).toEqual(limit > 20 ? [expect.stringContaining(advice)] : []);
		}
	});

	test.each([
		{ total: 20, next: null, has_more: false },
		{ total: 3, count: 5_000, page: 1, links: { next: '', self: '/users' } },
		{ next: 0, total: 'many', first: { total: 99 }, users_next: true },
	])('%j does not say that there are more', async (signs) => {
		service = () => ({ ...signs, users: records(0, 20) });
		const { items, hints } = await run(getAll());
		expect([items, hints]).toEqual([records(0, 20), []]);
	});

	test('one request is sent, and its list is cut by Limit', async () => {
		service = () => records(0, 80);
		const { items } = await run(getAll(undefined, { returnAll: false }));
		expect(items).toEqual(records(0, 50));
		expect(queries()).toEqual(['']);
	});

	test('what stands beside a list that Items Path names tells of it, too', async () => {
		service = () => ({ result: { total: 21, page: { users: records(0, 20) } } });
		const { error } = await run(getAll(undefined, { options: { itemsPath: 'result.page.users' } }));
		expect(error?.message).toBe(INCOMPLETE);
	});
});

describe('with the sandbox', () => {
	const { sandbox, run: runThere, sent } = useSandbox();

	test('an offset reads all users', async () => {
		const size = { sizeParameterName: 'limit', pageSize: 25 };
		const { items } = await runThere(getAll({ mode: 'offset', parameterName: 'offset', ...size }));
		const all = sandbox().database.prepare('SELECT id FROM users ORDER BY id').all();
		expect(items.map(({ id }) => ({ id }))).toEqual(all.map(({ id }) => ({ id })));
		expect(sent()).toEqual(
			[0, 25, 50, 60].map((start) => `GET /v1/users?limit=25&offset=${start}`),
		);
	});
});

test('Limit ends a list early, in the middle of a page', async () => {
	service = numbered(100);
	const { items } = await run(getAll(page, { returnAll: false, limit: 15 }));
	expect(items).toEqual(records(0, 15));
	expect(queries()).toEqual(['page=1', 'page=2']);
});

test('without Simplify, each page is an item', async () => {
	service = numbered(15);
	const { items } = await run(getAll(page, { simplify: false }));
	expect(items).toEqual([
		{ status: 'success', data: records(0, 10) },
		{ status: 'success', data: records(10, 15) },
	]);
});

test('Items Path and Query Parameters go for each page', async () => {
	service = (query) => ({
		a: [],
		b: { users: (numbered(12)(query, 0) as { data: [] }).data },
	});
	const queryParameters = { parameter: [{ name: 'role', value: 'x' }] };
	const { items } = await run(getAll(page, { options: { itemsPath: 'b.users', queryParameters } }));
	expect(items).toEqual(records(0, 12));
	expect(queries()).toEqual(['role=x&page=1', 'role=x&page=2', 'role=x&page=3']);
});

describe('each page goes through the pipeline', () => {
	const failing =
		(answer: unknown, times: number): Service =>
		(query, request) =>
			query.get('page') === '2' && request <= times ? answer : numbered(25)(query, request);

	test('it is repeated after a failure that may pass', async () => {
		service = failing(http(503, { 'Retry-After': '0' }), 2);
		const { items } = await run(getAll(sized, { options: { retries: 2 } }));
		expect(items).toEqual(records(0, 25));
		expect(queries().map((query) => query.at(-1))).toEqual(['1', '2', '2', '2', '3', '4']);
		const keys = new Set(requests.map(({ headers }) => headers.authentication));
		expect([...keys]).toEqual([`Bearer ${PRIVATE_KEY}`]);
	});

	test('its error is the error of the item, without the pages before', async () => {
		service = failing({ status: 'error', errorCode: 'u-1' }, Infinity);
		const node = { onError: 'continueErrorOutput' } as const;
		const { items, failures } = await run(getAll(sized), { node });
		expect([items, failures]).toMatchObject([[], [{ code: 'u-1' }]]);
	});

	test('none is sent after the execution is cancelled', async () => {
		const cancel = new AbortController();
		service = (query, request) => {
			if (request === 1) cancel.abort();
			return numbered(1_000)(query, request);
		};
		const parameters = getAll(page, { options: { retries: 2 } });
		await run(parameters, { signal: cancel.signal }).catch(() => {});
		expect(queries().length).toBeLessThanOrEqual(2);
	});
});

test.each([
	['no parameter', {}, "'Parameter Name' is empty"],
	['a cursor without a path', { ...page, mode: 'cursor' }, "'Cursor Path' is empty"],
])('%s is an error that names the field', async (_, pagination, message) => {
	const { error } = await run(getAll(pagination));
	expect(error?.message).toBe(`${message} [item 0]`);
	expect(queries()).toEqual([]);
});
