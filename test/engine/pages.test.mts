import type { INodeParameters } from 'n8n-workflow';
import { byId, getUsers } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** The place of a list in a response, the signs of more records, and the pages. For random services: lists.test.mts. */

type Service = (query: Record<string, string>, request: number) => unknown;

let service: Service;
const KEY = 'a-private-key';
const { requests, run } = useRawService(
	({ path, index }) =>
		service(Object.fromEntries(new URL(path, 'http://service').searchParams), index),
	KEY,
);
const queries = () => requests.map(({ path }) => path.split('?')[1] ?? '');

async function read(
	pagination?: INodeParameters,
	{ options = {}, ...more }: INodeParameters = {},
	rest = {},
) {
	requests.length = 0;
	const paged = pagination && { pagination: { pagination } };
	const parameters = { retries: 0, ...(options as object), ...paged };
	const result = await run({ ...getUsers, ...more, options: parameters }, rest);
	const { message, description } = result.error ?? {};
	return { ...result, error: result.error && `${message}. ${description}` };
}

const one = [{ id: 1 }];
const another = [{ id: 'another' }];

const resumes = { resource: 'resume', userId: byId('={{ $json.id ?? 1 }}') };

test.each<[where: string, body: object, parameters?: INodeParameters]>([
	['the body itself', one],
	['the users in data', { warnings: another, data: { users: one, facets: another } }],
	['users, in other letters', { Users: one, admins: another }],
	['users, of which only one is a list', { users: { total: 1 }, data: { users: one } }],
	['users in two places that are equal', { users: one, data: { users: one } }],
	['Items Path', { data: { users: one, admins: [] } }, { options: { itemsPath: 'data.users' } }],
	['resumes, for a list of resumes', { resumes: one, user: another }, resumes],
])('a list is found in %s', async (_, body, parameters = {}) => {
	service = () => body;
	expect((await read(undefined, parameters)).items).toEqual(one);
});

const NONE = /^The response has no list\. .*Items Path/;
const SEVERAL = /^The response has more than one list\. .*Items Path/;
const WRONG_PATH = /^The response has no list at 'data.users'\. .*Items Path/;
test.each<[what: string, body: object, error: RegExp, itemsPath?: string]>([
	['no list', { status: 'success', data: { id: 1 } }, NONE],
	['null in its place', { users: null, errors: [] }, NONE],
	['null in place of data', { data: null, links: [{ label: 'Next' }] }, NONE],
	['an object in place of data', { data: { 1: {}, 3: {} }, links: [{ label: 'Next' }] }, NONE],
	['an object in its place', { data: { users: { 1: {} }, roles: ['admin'] } }, NONE],
	['two lists', { people: [], data: { admins: [] } }, SEVERAL],
	['two lists of users', { users: one, data: { users: another } }, SEVERAL],
	['a wrong path', { users: [] }, WRONG_PATH, 'data.users'],
])('%s is an error', async (_, body, error, itemsPath = '') => {
	service = () => body;
	expect((await read(undefined, { options: { itemsPath } })).error).toMatch(error);
});

const records = (from: number, to: number) =>
	Array.from({ length: Math.max(0, to - from) }, (_, index) => ({ id: from + index }));
const users = records(0, 20);
const INCOMPLETE =
	/^The list is not complete\. Records that came: 20\. .*Add 'Pagination' in Options/;

test.each<[sign: object, headers?: Record<string, string>]>([
	[{ total: 5_000 }],
	[{ meta: { 'Total-Count': '21' }, has_more: false }],
	[{ has_more: null, next: '/users?page=2' }],
	[{ data: { pagination: { hasNext: true } } }],
	[{ links: { nextPage: 2 } }],
	[{ data: { next_cursor: 'c' } }],
	[{ meta: { nextPageToken: 'c' } }],
	[{ total_pages: 9 }],
	[{ total: 20, pagination: { pages: 2 } }],
	[{ count: 450 }],
	[{}, { Link: '</users?page=9>; rel="last", </users?page=2>; rel="next"' }],
	[{}, { Link: '</users?page=2>; rel = "last next"' }],
	[{}, { 'X-Total-Count': '250' }],
])('%j and %j show that there are more records', async (sign, headers = {}) => {
	service = () => http(200, headers, JSON.stringify({ users, ...sign }));
	for (const simplify of [true, false]) {
		const { error, outputs } = await read(undefined, { simplify });
		expect([error, outputs]).toEqual([expect.stringMatching(INCOMPLETE), []]);
	}
	for (const limit of [50, 20]) {
		const { items, hints } = await read(undefined, { returnAll: false, limit });
		expect(items).toEqual(users);
		const advice = expect.stringContaining("Add 'Pagination' in Options") as string;
		expect(hints).toEqual(limit > 20 ? [advice] : []);
	}
});

test.each([
	{ total: 20, next: null, has_more: 'false' },
	{ total: 20, next: '/users?page=2' },
	{ total: 3, count: 20, page: 1, total_pages: 1, links: { next: '', self: '/users' } },
	{ next: 0, total: 'many', first: { total: 99 }, users_next: true },
	{ pages: 3, last: false, meta: { last_page: 3 }, has_more: false, next: '/users?page=2' },
	{ users: [{ id: 1, total: 99, has_more: true, links: { next: '/friends' } }] },
])('%j does not show that there are more records', async (signs) => {
	const body = { users, ...signs };
	service = () => body;
	expect(await read()).toMatchObject({ items: body.users, hints: [] });
});

test('an empty list with a next page is not whole', async () => {
	service = () => ({ users: [], next: '/users?page=2' });
	for (const pagination of [undefined, { parameterName: 'page' }])
		expect((await read(pagination)).error).toMatch(/^The list is not complete/);
});

const page = { parameterName: 'page' };
const cursor = { mode: 'cursor', parameterName: 'after', cursorPath: 'meta.next' };
const offset = { mode: 'offset', parameterName: 'skip' };

/** Returns up to ten rows of a list, without those that the service hides. */
const rows = (from: number, total: number, ...hidden: number[]) =>
	records(from, Math.min(from + 10, total)).filter(({ id }) => !hidden.includes(id));
const all = (total: number, ...hidden: number[]) =>
	records(0, total).filter(({ id }) => !hidden.includes(id));
const numbered =
	(total: number, signs = (_: number): object => ({})): Service =>
	(query) => ({
		status: 'success',
		data: rows(Number(query.page) * 10 - 10, total),
		...signs(Number(query.page)),
	});

test.each<[framework: string, signs: (page: number) => object, headers?: (page: number) => object]>(
	[
		[
			'Django REST Framework (issue 3920)',
			(page) => ({ next: page < 3 ? `?page=${page + 1}` : null }),
		],
		['JSON:API', (page) => ({ links: { prev: null, next: page < 3 ? '/users' : null } })],
		['a number of pages', () => ({ meta: { total_pages: 3 } })],
		[
			"GitHub's header",
			() => ({}),
			(page) => ({
				Link: `</users?page=1>; rel="first"${page < 3 ? ', </users>; rel="next"' : ''}`,
			}),
		],
	],
)('%s names the last page, and refuses the next one', async (_, signs, headers = () => ({})) => {
	service = (query) => {
		const number = Number(query.page);
		if (number > 3) return http(404, {}, '{"detail":"Invalid page."}');
		const body = { users: rows(number * 10 - 10, 25), ...signs(number) };
		return http(200, headers(number) as Record<string, string>, JSON.stringify(body));
	};
	const { items, error } = await read(page);
	expect([items, error]).toEqual([all(25), undefined]);
	expect(requests).toHaveLength(3);
});

test('links to the first and the last page from each page, as of GitLab, end nothing', async () => {
	const Link = '<?page=1>; rel="first", <?page=3>; rel="last"';
	service = (query) => http(200, { Link }, JSON.stringify(rows(Number(query.page) * 10 - 10, 25)));
	expect((await read(page)).items).toEqual(all(25));
});

test('a first page that comes again after the total, as of Magento (issue 3787), is the whole list', async () => {
	service = () => ({ users: records(0, 3), total_count: 3 });
	expect((await read(page)).items).toEqual(records(0, 3));
});

test('a last page that is named too early is an error, and no shorter list', async () => {
	service = (query) => ({ users: rows(Number(query.page) * 10 - 10, 30), next: null, total: 30 });
	expect((await read(page)).error).toMatch(/^The list is not complete/);
});

const short: Service = (query) => rows(Number(query.page) * 10 - 10, 30, 12, 13);
const counted = numbered(20, () => ({ meta: { total_count: '20' } }));
const countedByPage: Service = (query) => {
	const data = rows(Number(query.page) * 10 - 10, 20);
	return { data, total: data.length };
};
/** Half of the first two pages is hidden, so that after them as many records came as a page has rows. */
const HIDDEN_ROWS = [0, 1, 2, 3, 4, 10, 11, 12, 13, 14];
const countedRows: Service = (query) => ({
	data: rows(Number(query.page) * 10 - 10, 30, ...HIDDEN_ROWS),
	count: 10,
});
const flagged = numbered(20, (number) => ({ hasNext: number < 2 }));
const hiding: Service = (query) => rows(Number(query.skip), 23, 3, 21);
const dotted: Service = ({ page: number }) => ({ 'all.users': rows(Number(number) * 10 - 10, 15) });
const ANNS = [{ name: 'Ann' }, { name: 'Ann' }];
const annTwice: Service = ({ after }) => ({ data: [ANNS[0]], meta: { next: after ? '' : 'b' } });
const lastForEver: Service = (query) => rows(Math.min(Number(query.page), 3) * 10 - 10, 25);
/** A service that sends a cursor with the last page, too. */
const edges =
	(sign: object): Service =>
	({ after = 0 }) => ({
		data: rows(Number(after), 15),
		meta: { next: Number(after) + 10 },
		...(Number(after) > 0 && sign),
	});

test.each<[end: string, paged: INodeParameters, service: Service, items: object[], asked: string]>([
	['an empty page, not a short one', page, short, all(30, 12, 13), '1 2 3 4'],
	['as many records as the total', page, counted, all(20), '1 2'],
	['an empty page, with a total of each page', page, countedByPage, all(20), '1 2 3'],
	['an empty page, with a count of rows', page, countedRows, all(30, ...HIDDEN_ROWS), '1 2 3 4'],
	['a flag for no more records', page, flagged, all(20), '1 2'],
	['its last page for the second time', page, lastForEver, all(25), '1 2 3 4'],
	// Hidden records count for the offset.
	['an empty page, with hidden records', offset, hiding, all(23, 3, 21), '0 9 19 22 23'],
	['has_more: false beside a cursor', cursor, edges({ has_more: false }), all(15), ' 10'],
	['an empty page, though a name of the list has a dot', page, dotted, all(15), '1 2 3'],
	['the cursor "0"', cursor, edges({ meta: { next: '0' } }), all(15), ' 10'],
	['no cursor, after equal records without an ID', cursor, annTwice, ANNS, ' b'],
])('a list ends with %s', async (_, pagination, given, items, asked) => {
	service = given;
	expect(await read(pagination)).toMatchObject({ error: undefined, items, hints: [] });
	const values = queries().map((query) => query.split('=')[1]);
	expect(values.join(' ')).toBe(asked);
});

const AGAIN = 'The service sent the same page again.*';
const MAX_PAGES = "The list did not end within 'Max Pages' \\(3\\).*'Max Pages' in 'Pagination'";
const FEWER = 'The list is not complete.*Records that came: 15';
const REPEATED = `${AGAIN}A page has the records of the page before.*Parameter Name`;
const NO_CURSOR = "The response has no cursor at 'meta'.*Check 'Cursor Path' in 'Pagination'";
const SAME_ID = 'Different records of one page have the same ID';
const noList = (path: string) => `The response has no list at '${path}'.*Set 'Items Path'`;
const wrongCursor = { ...cursor, cursorPath: 'meta' };

const shuffled: Service = (query) => {
	return { users: query.page === '1' ? users : users.toReversed(), has_more: true };
};
const stuck: Service = (_, request) => ({ items: rows(request * 10, 99), meta: { next: 'c' } });
const equal: Service = (query) => [{ name: 'Ann' }, { name: query.page }];
const sameId: Service = () => ['en', 'fr'].map((language) => ({ id: 1, language }));
const fewerPages = numbered(15, (number) => (number === 1 ? { count: 40, total_pages: 4 } : {}));
const fewerThanPages = numbered(15, (number) => (number === 1 ? { total_pages: 4 } : {}));
const lastOffset: Service = (query) => rows(Math.min(Number(query.skip), 20), 25);
const emptyMore = numbered(15, () => ({ has_more: true }));
const shrinking = numbered(15, (number) => ({ total: 17 - number }));
const tips: Service = (query) => (query.page === '1' ? { people: users } : { tips: another });
const secretive: Service = () => ({ items: ANNS, meta: { next: `page ${KEY}` } });
const notices: Service = ({ page }) => (page === '1' ? users : { notices: another });

test.each<[fault: string, paged: INodeParameters, service: Service, error: string, sent: number]>([
	['the same page in another order', page, shuffled, REPEATED, 2],
	['its last page for each offset', offset, lastOffset, REPEATED, 4],
	['has_more and no more records', page, emptyMore, FEWER, 3],
	['a cursor that stays the same', cursor, stuck, `${AGAIN}A cursor came twice`, 2],
	['an object in place of a cursor', wrongCursor, stuck, NO_CURSOR, 1],
	['a cursor with a secret', cursor, secretive, "The response has no cursor at 'meta.next'", 1],
	['equal records without an ID', page, equal, `${AGAIN}A record without an ID came twice`, 2],
	['two records with one ID on a page', page, sameId, SAME_ID, 1],
	['fewer records than its first number of pages', page, fewerPages, FEWER, 3],
	['fewer records than a number of pages on its first page', page, fewerThanPages, FEWER, 3],
	['fewer records than its first total', page, shrinking, FEWER, 3],
	['another list on a later page', page, tips, noList('people'), 2],
	['another list after one that is the body itself', page, notices, noList(''), 2],
	['pages without an end', { ...page, maxPages: 3 }, numbered(1_000), MAX_PAGES, 3],
])('a service that sends %s is an error', async (_, pagination, given, message, sent) => {
	service = given;
	const whole = await read(pagination);
	expect([whole.error, whole.outputs]).toEqual([expect.stringMatching(`^${message}`), []]);
	expect(requests).toHaveLength(sent);
	const limited = await read(pagination, { returnAll: false, limit: 2_000 });
	// With a Limit, the user asked for a part of the list.
	if (message === FEWER) expect(limited.hints).toEqual([expect.stringContaining('there are more')]);
	else expect(limited.error).toBe(whole.error);
});

test('no page is requested once Limit is reached', async () => {
	service = numbered(35);
	const { items } = await read(page, { returnAll: false, limit: 20 });
	expect([items, requests.length]).toEqual([all(20), 2]);
});

test('without Simplify, each response is an item, but not a last page that is repeated', async () => {
	service = () => ({ users: null, total: 5 });
	expect((await read(undefined, { simplify: false })).items).toEqual([{ users: null, total: 5 }]);
	service = ({ page: number }, index) => numbered(15)({ page: `${Math.min(+number!, 2)}` }, index);
	const { items } = await read(page, { simplify: false });
	const pages = [records(0, 10), records(10, 15)];
	expect(items).toEqual(pages.map((data) => ({ status: 'success', data })));
});

test('Items Path, Query Parameters, Page Size and Retries count for each page', async () => {
	service = (query, request) =>
		query.page === '2' && request <= 2
			? http(503, { 'Retry-After': '0' })
			: { a: [], b: numbered(12)(query, request) };
	const queryParameters = { parameter: [{ name: 'role', value: 'x' }] };
	const options = { itemsPath: 'b.data', queryParameters, retries: 2 };
	const { items } = await read({ ...page, sizeParameterName: 'size', pageSize: 7 }, { options });
	const asked = [1, 2, 2, 2, 3].map((number) => `role=x&size=7&page=${number}`);
	expect([items, queries()]).toEqual([records(0, 12), asked]);
});
