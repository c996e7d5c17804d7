import { inspect } from 'node:util';

import type { INodeListSearchResult, NodeApiError } from 'n8n-workflow';

import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { printed } from '../support/environment.mts';
import { type ListSearch, searchList } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import { http, json } from '../support/rawServer.mts';
import { useRawService, useSandbox } from '../support/service.mts';

/** The lists that the editor offers to pick a user or a resume from. */

const PRIVATE_KEY = SANDBOX_KEYS.live;
const WEBHOOK_SECRET = 'whsec-of-the-tests';

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
let answer: unknown;
const service = useRawService(() => answer, PRIVATE_KEY);
const there = useSandbox();

/** @param rest in place of the search of all users */
const pick = (rest: Partial<ListSearch> = {}) =>
	searchList({ ...USERS, credential: own(service.credential()), ...rest });
const pickThere = (rest: Partial<ListSearch> = {}) =>
	pick({ credential: own(there.credential()), ...rest });
const own = (credential: { baseUrl: string; privateKey: string }) => ({
	...credential,
	webhookSecret: WEBHOOK_SECRET,
});
const valuesOf = ({ results }: INodeListSearchResult) => results.map(({ value }) => value);

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
	const { message, description, httpCode } = error!;
	const seen =
		JSON.stringify({ ...error, message }) + inspect(error, { depth: 10 }) + printed.join();
	for (const secret of [PRIVATE_KEY, WEBHOOK_SECRET]) expect(seen).not.toContain(secret);
	return { message, description, httpCode };
}
const containing = (text: string) => expect.stringContaining(text) as string;

describe('with the sandbox', () => {
	const { sandbox, sent } = there;

	test('users have their name and e-mail address, and come with one request', async () => {
		const { results, paginationToken } = await pickThere();
		expect(results).toHaveLength(60);
		const name = 'Emma Larsen · emma.larsen@example.com';
		expect(results[0]).toEqual({ name, value: 'user-001' });
		expect(paginationToken).toBeUndefined();
		expect(sent()).toEqual(['GET /v1/users']);
	});

	test('what was typed is looked for in names, e-mail addresses and IDs', async () => {
		for (const filter of [' emma LARSEN', 'emma.larsen@', 'user-001']) {
			expect(valuesOf(await pickThere({ filter }))).toEqual(['user-001']);
		}
		expect(await pickThere({ filter: 'nobody' })).toEqual({ results: [] });
	});

	test.each([
		['picked from the list', { __rl: true, mode: 'list', value: 'user-003' }],
		['given by ID', byId('user-003')],
	])('resumes of a user %s have their title', async (_, user) => {
		const { results } = await pickThere(resumesOf(user));
		expect(results.length).toBeGreaterThan(0);
		const titles = sandbox()
			.database.prepare('SELECT id, title FROM resumes WHERE user_id = ?')
			.all('user-003');
		expect(results).toEqual(titles.map(({ id, title }) => ({ name: title, value: id })));
		expect(sent()).toEqual(['GET /v1/user/user-003/resumes']);
	});

	test('resumes need a user to be picked first', async () => {
		for (const user of [undefined, byId('')]) {
			expect(await shownError(pickThere(resumesOf(user)))).toEqual({
				message: 'No user is picked',
				description: "Pick a user in 'Resumes of User' first, or enter the resume's ID.",
				httpCode: null,
			});
		}
		const { message } = await shownError(pickThere(resumesOf(byId('..'))));
		expect(message).toBe("'Resumes of User' is not an ID");
		expect(sent()).toEqual([]);
	});

	test('a user without resumes is an explanation', async () => {
		expect(await shownError(pickThere({ ...resumesOf(byId('user-006')), filter: 'x' }))).toEqual({
			message: 'The service returned no resumes',
			description: containing('create a resume for this one'),
			httpCode: null,
		});
	});

	test('an error of the service is shown in its words, with a code that can be read', async () => {
		const credential = own({ ...there.credential(), privateKey: 'unknown-key' });
		// The editor would show "sandbox unauthorized" for a code with plain hyphens.
		expect(await shownError(pickThere({ credential }))).toEqual({
			message: expect.stringMatching(
				/^The service answered: .*\(sandbox‑unauthorized\)$/,
			) as string,
			description: containing('Give them the code sandbox-unauthorized'),
			httpCode: null,
		});
	});
});

describe('a list of 5,000 users', () => {
	const users = Array.from({ length: 5_000 }, (_, index) => ({
		user_id: index,
		full_name: `User ${index}`,
	}));
	beforeEach(() => {
		answer = { status: 'success', data: { users } };
	});

	test('comes in pages, each with one request, that hold every user once', async () => {
		const values: unknown[] = [];
		let paginationToken: string | undefined;
		do {
			const page = await pick({ paginationToken });
			expect(page.results).toHaveLength(1_000);
			values.push(...valuesOf(page));
			// n8n 1.x passes texts on, and nothing else (its ResourceLocatorRequestDto).
			expect(['string', 'undefined']).toContain(typeof page.paginationToken);
			paginationToken = page.paginationToken as string | undefined;
		} while (paginationToken !== undefined);
		expect(values).toEqual(users.map(({ user_id: id }) => String(id)));
		expect(service.sent()).toHaveLength(5);
	});

	test('is searched before it is cut into pages', async () => {
		const results = [{ name: 'User 4321', value: '4321' }];
		expect(await pick({ filter: 'user 4321' })).toEqual({ results });
	});
});

test.each<[user: object, name: string, value: string]>([
	[{ id: 7 }, '7', '7'],
	[{ id: 0, name: ' ' }, '0', '0'],
	[{ _id: 'a', name: 'Ann', email: 'ann@x.example' }, 'Ann · ann@x.example', 'a'],
	[{ userID: 'u', 'first-name': 'Ann', LastName: 'Lee' }, 'Ann Lee', 'u'],
	[{ id: 'u', name: { first: 'Ann' }, email: 'a@b' }, 'a@b', 'u'],
])('a user %j is offered as %j', async (user, name, value) => {
	answer = [user];
	expect((await pick()).results).toEqual([{ name, value }]);
});

test("a resume is never taken for its user's ID", async () => {
	answer = { data: [{ userId: 'u', resumeId: 'r', title: 'CV' }] };
	expect((await pick(resumesOf(byId('u')))).results).toEqual([{ name: 'CV', value: 'r' }]);
});

test.each<[string, unknown, shown: object]>([
	[
		'no users',
		{ status: 'success', data: [] },
		{
			message: 'The service returned no users',
			description: containing("credential's Private Key"),
			httpCode: null,
		},
	],
	[
		'records without an ID',
		{ data: [{ email: 'a@b', age: 7 }] },
		{
			message: 'The users that the service returned have no ID to pick them by',
			description: containing("The first one's properties: email, age."),
			httpCode: null,
		},
	],
	[
		'no list',
		{ status: 'success' },
		{
			message: 'The answer holds no list',
			description:
				'Switch this field to By ID, and enter the ID. The answer has the properties: status.',
			httpCode: null,
		},
	],
	['HTTP 502', http(502, {}), { httpCode: '502' }],
	// The editor adds a link to the credential where the status is 401 or 403.
	['HTTP 401', json({}, 401), { httpCode: '401' }],
	[
		'its key back',
		{ status: 'error', errorMessage: `bad key ${PRIVATE_KEY}` },
		{ message: 'The service answered: bad key [hidden]' },
	],
	['half an answer', http(200, { 'Content-Length': '100' }, '[{"id"'), { httpCode: null }],
])('a service that answers %s is explained', async (_, given, shown) => {
	answer = given;
	expect(await shownError(pick())).toMatchObject(shown);
});

test.each([
	[
		'that does not lead to the service',
		'http://127.0.0.1:1/v1',
		'Could not connect to the service',
		'ECONNREFUSED',
	],
	[
		'that can not be used',
		'http://127.0.0.1:1',
		"The credential's Base URL can't be used",
		'Nothing was sent',
	],
])('a base URL %s is explained', async (_, baseUrl, message, description) => {
	expect(await shownError(pick({ credential: own({ baseUrl, privateKey: PRIVATE_KEY }) }))).toEqual(
		{
			message,
			description: containing(description),
			httpCode: null,
		},
	);
});
