import { inspect } from 'node:util';

import type { INodeListSearchResult, NodeApiError } from 'n8n-workflow';

import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { type Sandbox, startSandbox } from '../../sandbox/server.mts';
import { printed } from '../support/environment.mts';
import { type ListSearch, searchList } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import { http, startRawServer } from '../support/rawServer.mts';

/** The lists that the editor offers to pick a user or a resume from. */

const PRIVATE_KEY = SANDBOX_KEYS.live;
const WEBHOOK_SECRET = 'whsec-of-the-tests';

const credential = (baseUrl: string, privateKey = PRIVATE_KEY) => ({
	baseUrl,
	privateKey,
	webhookSecret: WEBHOOK_SECRET,
});
const USERS: Omit<ListSearch, 'credential'> = {
	method: 'searchUsers',
	parameters: { resource: 'user', operation: 'get' },
};
const resumesOf = (listUserId: unknown): Omit<ListSearch, 'credential'> => ({
	method: 'searchResumes',
	parameters: {
		resource: 'resume',
		operation: 'get',
		resumeId: { __rl: true, mode: 'list', value: '' },
		listUserId: listUserId as never,
	},
});

/** A service whose every answer is this one. */
async function withAnswer<Result>(
	answer: string,
	use: (baseUrl: string, requests: number[]) => Promise<Result>,
): Promise<Result> {
	const requests: number[] = [];
	const server = await startRawServer((socket, { index }) => {
		requests.push(index);
		socket.end(answer);
	});
	try {
		return await use(`http://127.0.0.1:${server.port}/v1`, requests);
	} finally {
		await server.close();
	}
}
const json = (body: unknown, status = 200) =>
	http(status, { 'Content-Type': 'application/json' }, JSON.stringify(body));

const pickFrom = (answer: string, search = USERS, rest: Partial<ListSearch> = {}) =>
	withAnswer(answer, (baseUrl) =>
		searchList({ ...search, credential: credential(baseUrl), ...rest }),
	);

/**
 * What n8n hands to its editor of an error, which shows the status, the message and the description
 * (`sendErrorResponse` in n8n/src/response-helper.ts).
 */
async function shownError(result: Promise<INodeListSearchResult>) {
	const error = await result.then(
		() => undefined,
		(thrown: NodeApiError) => thrown,
	);
	expect(error?.name).toBe('NodeApiError');
	const sent = { ...error, message: error!.message };
	for (const secret of [PRIVATE_KEY, WEBHOOK_SECRET]) {
		expect(JSON.stringify(sent) + inspect(error, { depth: 10 }) + printed.join()).not.toContain(
			secret,
		);
	}
	return { message: sent.message, description: sent.description, httpCode: sent.httpCode };
}

describe('with the sandbox', () => {
	let sandbox: Sandbox;
	beforeAll(async () => {
		sandbox = await startSandbox({ port: 0, record: true });
	});
	beforeEach(() => {
		sandbox.requests.length = 0;
		sandbox.faults.clear();
	});
	afterAll(() => sandbox.close());

	const search = (what: Omit<ListSearch, 'credential'>, rest: Partial<ListSearch> = {}) =>
		searchList({ ...what, credential: credential(sandbox.baseUrl), ...rest });

	test('users have their name and e-mail address, and come with one request', async () => {
		const { results, paginationToken } = await search(USERS);
		expect(results).toHaveLength(60);
		expect(results[0]).toEqual({
			name: 'Emma Larsen · emma.larsen@example.com',
			value: 'user-001',
		});
		expect(paginationToken).toBeUndefined();
		expect(sandbox.requests.map(({ method, url }) => [method, url])).toEqual([
			['GET', '/v1/users'],
		]);
	});

	test('what was typed is looked for in names, e-mail addresses and IDs', async () => {
		for (const filter of [' emma LARSEN', 'emma.larsen@', 'user-001']) {
			const { results } = await search(USERS, { filter });
			expect(results.map(({ value }) => value)).toEqual(['user-001']);
		}
	});

	test('a search that nothing matches is an empty list, and no error', async () => {
		expect(await search(USERS, { filter: 'nobody' })).toEqual({ results: [] });
	});

	test.each([
		['picked from the list', { __rl: true, mode: 'list', value: 'user-003' }],
		['given by ID', byId('user-003')],
	])('resumes of a user %s have their title', async (_, user) => {
		const { results } = await search(resumesOf(user));
		expect(results.length).toBeGreaterThan(0);
		const titles = sandbox.database
			.prepare('SELECT id, title FROM resumes WHERE user_id = ?')
			.all('user-003');
		expect(results).toEqual(titles.map(({ id, title }) => ({ name: title, value: id })));
		expect(sandbox.requests.map(({ url }) => url)).toEqual(['/v1/user/user-003/resumes']);
	});

	test('resumes need a user to be picked first', async () => {
		for (const user of [undefined, byId('')]) {
			expect(await shownError(search(resumesOf(user)))).toEqual({
				message: 'No user is picked',
				description: "Pick a user in 'Resumes of User' first, or enter the resume's ID.",
				httpCode: null,
			});
		}
		expect(await shownError(search(resumesOf(byId('..'))))).toMatchObject({
			message: "'Resumes of User' is not an ID [item 0]",
		});
		expect(sandbox.requests).toEqual([]);
	});

	test('a user without resumes is an explanation', async () => {
		expect(await shownError(search(resumesOf(byId('user-006')), { filter: 'x' }))).toEqual({
			message: 'The service returned no resumes',
			description: expect.stringContaining('create a resume for this one') as string,
			httpCode: null,
		});
	});

	test('an error of the service is shown in its words, with a code that can be read', async () => {
		const shown = await shownError(
			search(USERS, { credential: credential(sandbox.baseUrl, 'unknown-key') }),
		);
		// The editor would show "sandbox unauthorized" for a code with plain hyphens.
		expect(shown.message).toMatch(/^The service answered: .*\(sandbox‑unauthorized\)$/);
		expect(shown.description).toContain('Give them the code sandbox-unauthorized');
		expect(shown.httpCode).toBeNull();
	});

	test('a lost connection is an explanation', async () => {
		sandbox.faults.add({ path: '/users', drop: 'midBody' });
		expect(await shownError(search(USERS))).toMatchObject({
			message: 'The connection to the service was lost before the answer was complete',
			httpCode: null,
		});
	});
});

describe('a list of 5,000 users', () => {
	const users = Array.from({ length: 5_000 }, (_, index) => ({
		user_id: index,
		full_name: `User ${index}`,
	}));

	test('comes in pages, each with one request, that hold every user once', async () => {
		await withAnswer(json({ status: 'success', data: { users } }), async (baseUrl, requests) => {
			const values: unknown[] = [];
			let paginationToken: string | undefined;
			do {
				const page = await searchList({
					...USERS,
					credential: credential(baseUrl),
					paginationToken,
				});
				expect(page.results).toHaveLength(100);
				values.push(...page.results.map(({ value }) => value));
				// n8n 1.x passes texts on, and nothing else (its ResourceLocatorRequestDto).
				expect(['string', 'undefined']).toContain(typeof page.paginationToken);
				paginationToken = page.paginationToken as string | undefined;
			} while (paginationToken !== undefined);
			expect(values).toEqual(users.map(({ user_id: id }) => String(id)));
			expect(requests).toHaveLength(50);
		});
	});

	test('is searched before it is cut into pages', async () => {
		const rest = { filter: 'user 4321' };
		expect(await pickFrom(json(users), USERS, rest)).toEqual({
			results: [{ name: 'User 4321', value: '4321' }],
		});
	});
});

test.each([
	[{ id: 7 }, { name: '7', value: '7' }],
	[
		{ id: 0, name: ' ' },
		{ name: '0', value: '0' },
	],
	[
		{ _id: 'a', name: 'Ann', email: 'ann@x.example' },
		{ name: 'Ann · ann@x.example', value: 'a' },
	],
	[
		{ userID: 'u', 'first-name': 'Ann', LastName: 'Lee' },
		{ name: 'Ann Lee', value: 'u' },
	],
	[
		{ id: 'u', name: { first: 'Ann' }, email: 'a@b' },
		{ name: 'a@b', value: 'u' },
	],
])('a user %j is offered by what it has', async (user, option) => {
	expect((await pickFrom(json([user]))).results).toEqual([option]);
});

test("a resume is never taken for its user's ID", async () => {
	const answer = json({ data: [{ userId: 'u', resumeId: 'r', title: 'CV' }] });
	expect((await pickFrom(answer, resumesOf(byId('u')))).results).toEqual([
		{ name: 'CV', value: 'r' },
	]);
});

const html = http(502, { 'Content-Type': 'text/html' }, '<html>Bad gateway</html>');
const unusable: Array<[string, string, object]> = [
	[
		'no users',
		json({ status: 'success', data: [] }),
		{
			message: 'The service returned no users',
			description: expect.stringContaining("credential's Private Key") as string,
			httpCode: null,
		},
	],
	[
		'records without an ID',
		json({ data: [{ email: 'a@b', age: 7 }] }),
		{
			message: 'The users that the service returned have no ID to pick them by',
			description: expect.stringContaining("The first one's properties: email, age.") as string,
			httpCode: null,
		},
	],
	[
		'elements that are no records',
		json({ data: ['a', null] }),
		{ description: expect.stringContaining('properties: none') as string },
	],
	[
		'no list',
		json({ status: 'success' }),
		{
			message: 'The answer holds no list',
			description:
				'Switch this field to By ID, and enter the ID. The answer has the properties: status.',
			httpCode: null,
		},
	],
	[
		'a web page',
		html,
		{
			message: 'The service is not available (HTTP 502, with a web page in place of JSON)',
			httpCode: '502',
		},
	],
	// The editor adds a link to the credential where the status is 401 or 403.
	['401', json({}, 401), { httpCode: '401' }],
	[
		'its key back',
		json({ status: 'error', errorMessage: `bad key ${PRIVATE_KEY}` }),
		{ message: 'The service answered: bad key [hidden]' },
	],
	['half an answer', `${http(200, { 'Content-Length': '100' }, '[{"id"')}`, { httpCode: null }],
];

test.each(unusable)('a service that answers %s is explained', async (_, answer, shown) => {
	expect(await shownError(pickFrom(answer))).toMatchObject(shown);
});

test('a service that does not listen is explained', async () => {
	const { port, close } = await startRawServer(() => {});
	await close();
	const result = searchList({ ...USERS, credential: credential(`http://127.0.0.1:${port}/v1`) });
	expect(await shownError(result)).toMatchObject({
		message: 'Could not connect to the service',
		description: expect.stringContaining('ECONNREFUSED') as string,
		httpCode: null,
	});
});

test('a credential that can not be used is explained, and nothing is sent', async () => {
	await withAnswer(json([]), async (baseUrl, requests) => {
		const unfit = credential(baseUrl.replace('/v1', ''));
		expect(await shownError(searchList({ ...USERS, credential: unfit }))).toEqual({
			message: "The credential's Base URL can't be used",
			description: expect.stringContaining('Nothing was sent') as string,
			httpCode: null,
		});
		expect(requests).toEqual([]);
	});
});
