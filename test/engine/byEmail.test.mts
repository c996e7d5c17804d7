import type { INodeParameters } from 'n8n-workflow';

import type { EngineRun } from '../support/engine.mts';
import { offered } from '../support/operations.mts';
import { byEmail, byId } from '../support/parameters.mts';
import { http, type RawRequest } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** Users that are named by their e-mail addresses, which the list of users tells the IDs of. */

/** What the service answers to a list of users. */
let list: (request: RawRequest) => unknown;
const service = useRawService((request) => {
	const { method, path } = request;
	if (path.startsWith('/v1/users')) return list(request);
	return { status: 'success', data: { path, method, resumes: [{ id: 'r', path }] } };
});
const { credential, requests, sent, tool } = service;
beforeEach(() => {
	list = () => ({ status: 'success', data: { users: USERS } });
});

const USERS = [
	{ id: 'user-1', email: 'Emma@Example.com', name: 'Emma' },
	{ user_id: 2, 'Email-Address': ' noah@example.com ' },
	{ id: 'a/b', email: 'slash@example.com' },
	{ id: 'user-4', email: 'twice@example.com' },
	{ id: 'user-5', email: 'TWICE@example.com' },
	{ id: 'user-6', email: 'again@example.com' },
	{ id: 'user-6', email: 'again@example.com' },
	{ name: 'Nobody', email: 'no-id@example.com' },
	{ id: '..', email: 'dots@example.com' },
	{ id: 9_007_199_254_740_993, email: 'long@example.com' },
	{ id: 'user-11' },
	'neither',
];

const userId = byEmail('={{ $json.email }}');
const get: INodeParameters = { resource: 'user', operation: 'get', userId };
const create: INodeParameters = { resource: 'resume', operation: 'create', userId };
const onlyOnce = { retries: 0 };

const run = (parameters: INodeParameters, emails: string[], rest: Partial<EngineRun> = {}) =>
	service.run(
		{ options: onlyOnce, ...parameters },
		{ items: emails.map((email) => ({ email })), ...rest },
	);
const LIST = 'GET /v1/users';
const GOES_ON = { onError: 'continueErrorOutput' } as const;

test('each operation whose path names a user finds the IDs of all items in one list', async () => {
	const operations = (await offered()).filter(({ path }) => path.includes(':userID'));
	expect(operations).toHaveLength(3);
	for (const { method, path, parameters } of operations) {
		requests.length = 0;
		const emails = [
			'emma@example.COM',
			'NOAH@example.com',
			'slash@example.com',
			'again@example.com',
		];
		const { pairs, error } = await run({ ...parameters, userId, options: {} }, emails);
		expect(error).toBeUndefined();
		expect(pairs).toEqual([[0, 1, 2, 3]]);
		expect(sent()[0]).toBe(LIST);
		expect(sent().slice(1).sort()).toEqual(
			['2', 'a%2Fb', 'user-1', 'user-6'].map((id) => `${method} /v1${path.replace(':userID', id)}`),
		);
	}
});

test.each([
	['nobody@example.com', 'No user has this e-mail address', '12 users and 8 e-mail addresses'],
	['twice@example.com', 'Several users have this e-mail address', 'with the IDs user-4, user-5.'],
	['no-id@example.com', 'The user with this e-mail address has no ID in the list', 'id, _id,'],
	['dots@example.com', 'The user with this e-mail address has no ID in the list', ''],
	['', "'User' is not an e-mail address [item 1]", 'Nothing was sent'],
])('%j is an error of its item alone', async (email, message, description) => {
	for (const parameters of [get, create]) {
		requests.length = 0;
		const emails = ['emma@example.com', email, 'noah@example.com'];
		const { pairs, failures } = await run(parameters, emails, { node: GOES_ON });
		expect(pairs).toEqual([[0, 2], [1]]);
		expect(failures).toMatchObject([
			{ message, description: expect.stringContaining(description) as string },
		]);
		expect(sent()).toHaveLength(3);
	}
});

describe('whom an address belongs to', () => {
	const none = 'No user has this e-mail address';
	const unclear = 'The user with this e-mail address has no ID in the list';
	const several = 'Several users have this e-mail address';
	const email = 'kate@x';
	test.each<[what: string, users: unknown[], message: string]>([
		['another letter that has the same small one', [{ id: 1, email: '\u212Aate@x' }], none],
		['two IDs', [{ id: 'right', ID: 'other', email }], unclear],
		['IDs of two things', [{ id: 7, user_id: 42, email }], unclear],
		['an ID in an object', [{ id: { oid: 'right' }, userId: 7, email }], unclear],
		// JSON.parse makes another number of it, which may be another user's.
		['an ID that is not exact', [{ id: 2 ** 53 + 2, userId: 7, email }], unclear],
		[
			'a clear ID and one that is not',
			[
				{ id: 1, email },
				{ id: 7, user_id: 42, email },
			],
			several,
		],
		[
			'two places',
			[
				{ id: 1, email },
				{ id: 2, email: 'z@x', emailAddress: email },
			],
			several,
		],
	])('is not guessed from %s', async (_, users, message) => {
		list = () => ({ status: 'success', data: { users } });
		const { error } = await run(create, [email]);
		expect(error?.message).toBe(message);
		expect(sent()).toEqual([LIST]);
	});

	test.each([
		[{ id: 'right', _id: 'right', userId: 'right', uuid: 'other' }, 'right'],
		[{ id: null, uuid: 'right' }, 'right'],
		[{ id: 7, 'User-ID': '7' }, '7'],
	])('is clear from %j', async (user, id) => {
		list = () => [{ ...user, email }];
		await run(get, [email]);
		expect(sent()).toEqual([LIST, `GET /v1/user/${id}`]);
	});

	const usersPagination = { pagination: { parameterName: 'p' } };
	test.each<[what: string, answer: object, options?: INodeParameters]>([
		['says that there is more', { users: USERS, next: '/users?page=2' }],
		['has fewer users than it says', { data: USERS, meta: { total: 5_000 } }],
		['comes again for the next page', USERS, { usersPagination }],
		['comes twice, and differs', { users: USERS, data: { users: [] } }],
		['is one of errors', { status: 'success', errors: [{ id: 9, email }] }],
		['is one of invited in data', { status: 'success', data: { invited: [{ id: 9, email }] } }],
		['is called otherwise', { status: 'success', data: { people: USERS } }],
	])('is not taken from a list that %s', async (_, answer, ...[options = onlyOnce]) => {
		list = () => answer;
		const { error } = await run({ ...create, options }, ['emma@example.com']);
		expect(error?.message).toMatch(/^The list of users could not be read: The .*(list|page)/);
		expect(error?.description).toMatch(/Users (Pagination|Path)/);
		expect(sent().filter((request) => request.startsWith('POST'))).toEqual([]);
	});
});

describe('the list', () => {
	const users = Array.from({ length: 25 }, (_, id) => ({ id, email: `user-${id}@example.com` }));
	const options = {
		usersPath: 'data.people',
		usersPagination: { pagination: { parameterName: 'page' } },
	};

	test('is read page by page where that is set', async () => {
		list = ({ path }) => {
			const page = Number(new URL(path, 'http://service').searchParams.get('page'));
			const people = users.slice((page - 1) * 10, page * 10);
			return { status: 'success', data: { people, odd: [{}] } };
		};
		await run({ ...get, options }, ['user-3@example.com', 'user-24@example.com']);
		const pages = [1, 2, 3, 4].map((page) => `${LIST}?page=${page}`);
		expect(sent()).toEqual([...pages, 'GET /v1/user/3', 'GET /v1/user/24']);
	});

	test('that may not have been read to its end shows the hint', async () => {
		list = () => ({ status: 'success', data: USERS });
		const pagination = { mode: 'cursor', parameterName: 'after', cursorPath: 'next' };
		const parameters = { ...get, options: { usersPagination: { pagination } } };
		const { hints } = await run(parameters, ['emma@example.com']);
		expect(hints).toEqual([expect.stringContaining("nothing at 'next'")]);
	});

	test('is not read where users are named by ID, whatever its options say', async () => {
		await run({ ...get, userId: byId('user-1'), options }, ['x']);
		expect(sent()).toEqual(['GET /v1/user/user-1']);
	});

	test('is that of each account, where the credential depends on the item', async () => {
		list = ({ headers }) => ({
			data: [{ id: headers.authentication!.replace('Bearer key-of-', ''), email: 'a@b' }],
		});
		const keys = ['one', 'two', 'one'];
		const { items } = await service.run(create, {
			credential: { ...credential(), privateKey: '={{ $json.key }}' },
			items: keys.map((key) => ({ email: 'a@b', key: `key-of-${key}` })),
		});
		expect(items.map(({ path }) => path)).toEqual(keys.map((id) => `/v1/user/${id}/resume`));
		expect(sent().filter((request) => request === LIST)).toHaveLength(2);
	});
});

describe('a list that can not be read', () => {
	const away = http(503, {});

	test('is an error of each item, after one attempt for all of them', async () => {
		list = () => away;
		for (const parameters of [get, create]) {
			requests.length = 0;
			const emails = Array<string>(50).fill('emma@example.com');
			const { failures } = await run(parameters, emails, { node: GOES_ON });
			const message =
				'The list of users could not be read: The service is not available (HTTP 503)';
			expect(failures).toHaveLength(50);
			for (const one of failures) expect(one).toMatchObject({ message, httpStatus: 503 });
			expect(new Set(sent())).toEqual(new Set([LIST]));
			expect(sent()).toHaveLength(parameters === get ? 1 : 3);
		}
	});

	test('is read again like anything else', async () => {
		for (const parameters of [get, create]) {
			requests.length = 0;
			list = () => (requests.length <= 2 ? away : { data: USERS });
			const { error } = await run({ ...parameters, options: {} }, ['emma@example.com']);
			expect(error).toBeUndefined();
			expect(sent()).toHaveLength(4);
		}
	});
});

test('an unknown address among writes stops the node before the first is sent', async () => {
	const { error } = await run(create, ['emma@example.com', 'nobody@example.com']);
	expect(error?.message).toBe('No user has this e-mail address');
	expect(error?.description).toContain('No item was applied. Not sent: item 0.');
	expect(sent()).toEqual([LIST]);
});

test("a tool's call reads the list once", async () => {
	const calls = ['emma@example.com', 'noah@example.com'].map((email) => ({ email }));
	for (const parameters of [get, create]) {
		requests.length = 0;
		const fromAi = byEmail("={{ $fromAI('email', '', 'string') }}");
		const answers = await tool({ ...parameters, userId: fromAi }, calls);
		expect(answers.map(({ answer }) => String(answer))).toEqual([
			expect.stringContaining('/v1/user/user-1'),
			expect.stringContaining('/v1/user/2'),
		]);
		expect(sent().filter((request) => request === LIST)).toHaveLength(2);
	}
});
