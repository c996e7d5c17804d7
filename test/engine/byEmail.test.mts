import type { INodeParameters } from 'n8n-workflow';

import type { EngineRun } from '../support/engine.mts';
import { offered } from '../support/operations.mts';
import { byEmail, byId } from '../support/parameters.mts';
import { http, type RawRequest } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** Users that are named by their email addresses, which the list of users tells the IDs of. */

const USERS = [
	{ id: 'user-1', email: 'Emma@Example.com', name: 'Emma' },
	{ user_id: 2, 'E-Mail': ' noah@example.com ' },
	{ id: 'a/b', email: 'slash@example.com' },
	{ id: 'user-6', email: 'again@example.com' },
	{ id: 'user-6', email: 'again@example.com' },
	'neither',
];

/** What the service answers to a list of users. */
let list: (request: RawRequest) => unknown;
beforeEach(() => void (list = () => ({ status: 'success', data: { users: USERS } })));
const service = useRawService((request) => {
	const { method, path } = request;
	if (path.startsWith('/v1/users')) return list(request);
	return { status: 'success', data: { path, method, resumes: [{ id: 'r', path }] } };
});
const { credential, requests, sent } = service;

const userId = byEmail('={{ $json.email }}');
const get: INodeParameters = { resource: 'user', operation: 'get', userId };
const create: INodeParameters = { resource: 'resume', operation: 'create', userId };

const run = (parameters: INodeParameters, emails: string[], rest: Partial<EngineRun> = {}) =>
	service.run(
		{ options: { retries: 0 }, ...parameters },
		{ items: emails.map((email) => ({ email })), ...rest },
	);
const LIST = 'GET /v1/users';
const GOES_ON = { onError: 'continueErrorOutput' } as const;
const [EMMA, NOAH] = ['emma@example.COM', 'NOAH@example.com'] as const;

test('each operation whose path names a user finds the IDs of all items in one list', async () => {
	const operations = offered().filter(({ path }) => path.includes(':userID'));
	expect(operations).toHaveLength(3);
	for (const { method, path, parameters } of operations) {
		requests.length = 0;
		const emails = [EMMA, NOAH, 'slash@example.com', 'again@example.com'];
		const { pairs, error } = await run({ ...parameters, userId, options: {} }, emails);
		expect([pairs, error]).toEqual([[[0, 1, 2, 3]], undefined]);
		expect(sent()[0]).toBe(LIST);
		const ids = ['2', 'a%2Fb', 'user-1', 'user-6'];
		const expected = ids.map((id) => `${method} /v1${path.replace(':userID', id)}`);
		expect(sent().slice(1).sort()).toEqual(expected);
	}
});

describe('an address', () => {
	const email = 'kate@x';
	const UNKNOWN = { ids: 2, email };
	const NOBODY = ['No user has this email address', '1 users and 1 email addresses'] as const;
	const UNCLEAR = [
		'The user with this email address has no ID in the list',
		'id, userid,',
	] as const;
	const several = (ids: string) =>
		['Several users have this email address', `with the IDs ${ids}.`] as const;

	test.each<[what: string, users: object[], expected: readonly [string, string], key?: string]>([
		['of nobody', [{ id: 1, email: 'z@x' }], NOBODY],
		['in another letter that has the same small one', [{ id: 1, email: '\u212Aate@x' }], NOBODY],
		['without an ID', [{ name: 'Nobody', email }], UNCLEAR],
		['with an ID that leads elsewhere', [{ id: '..', email }], UNCLEAR],
		['with two IDs', [{ id: 'right', ID: 'other', email }], UNCLEAR],
		['with IDs of two things', [{ id: 7, user_id: 42, email }], UNCLEAR],
		['with an ID in an object', [{ id: { oid: 'right' }, userId: 7, email }], UNCLEAR],
		['with an ID that holds a secret', [{ id: 'the-secret-key-1', email }], UNCLEAR],
		['of two users, one unclear', [{ id: 1, email }, UNKNOWN], several('1, (none)')],
		[
			'of two users',
			[
				{ id: 1, email },
				{ id: 'x'.repeat(99), email },
			],
			several(`1, ${'x'.repeat(64)}`),
		],
	])('%s is an error of its item alone', async (_, users, [message, words]) => {
		list = () => ({ data: [...users, ...(users.length > 1 ? [{ id: 'n', email: NOAH }] : [])] });
		const description = expect.stringContaining(words) as string;
		const own = { credential: { ...credential(), privateKey: 'the-secret-key' } };
		for (const parameters of [get, create]) {
			requests.length = 0;
			const emails = users.length > 1 ? [NOAH, email, NOAH] : [email];
			const { failures, items } = await run(parameters, emails, { node: GOES_ON, ...own });
			expect(failures).toMatchObject([{ message, description }]);
			expect(items).toHaveLength(emails.length - 1);
			expect(sent()).toHaveLength(emails.length);
		}
	});

	test.each([
		[{ id: 'right', _id: 'right', userId: 'right', uuid: 'other' }, 'right'],
		[{ id: null, user_id: 'right' }, 'right'],
		[{ id: 7, 'User-ID': '7' }, '7'],
	])('is clear from %j', async (user, id) => {
		list = () => [{ ...user, email }];
		await run(get, [email]);
		expect(sent()).toEqual([LIST, `GET /v1/user/${id}`]);
	});

	test.each<[what: string, answer: object]>([
		['says that there is more', { users: USERS, next: '/users?page=2' }],
		['is called otherwise', { status: 'success', data: { people: USERS } }],
	])('is not looked for in a list that %s', async (_, answer) => {
		list = () => answer;
		const { error } = await run(create, [EMMA]);
		expect(error?.message).toMatch(/^The list of users could not be read: The .*list/);
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
		const { hints } = await run(parameters, [EMMA]);
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

test('a list that can not be read is an error of each item, after the attempts for one', async () => {
	list = () => http(503, {});
	for (const parameters of [get, create]) {
		requests.length = 0;
		const emails = Array<string>(50).fill(EMMA);
		const { failures } = await run(parameters, emails, { node: GOES_ON });
		const away = 'The service is not available (HTTP 503)';
		const failure = { message: `The list of users could not be read: ${away}`, httpStatus: 503 };
		expect(failures).toMatchObject(emails.map(() => failure));
		expect(sent()).toEqual(Array(parameters === get ? 1 : 3).fill(LIST));
	}
});
