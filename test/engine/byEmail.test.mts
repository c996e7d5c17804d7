import type { INodeParameters } from 'n8n-workflow';
import type { EngineRun } from '../support/engine.mts';
import { offered } from '../support/operations.mts';
import { byEmail, byId } from '../support/parameters.mts';
import { http, type RawRequest } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** Users named by email address. Their IDs come from the list of users. */

const USERS = [
	{ id: 'user-1', email: 'Emma@Example.com', name: 'Emma' },
	{ user_id: 2, 'E-Mail': ' noah@example.com ' },
	{ id: 'a/b', email: 'slash@example.com' },
	{ id: 'user-6', email: 'again@example.com' },
	{ id: 'user-6', email: 'again@example.com' },
	'neither',
];

let list: (request: RawRequest) => unknown;
beforeEach(() => void (list = () => ({ status: 'success', data: { users: USERS } })));
const service = useRawService((request) => {
	const { path } = request;
	if (path.startsWith('/v1/users')) return list(request);
	return { status: 'success', data: { path, resumes: [{ id: 'r', path }] } };
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
const CONTINUES = { node: { onError: 'continueErrorOutput' } } as const;
const EMMA = 'emma@example.COM';

test('each operation whose path names a user finds the IDs of all items in one list', async () => {
	const operations = offered().filter(({ path }) => path.includes(':userID'));
	expect(operations).toHaveLength(3);
	for (const { method, path, parameters } of operations) {
		requests.length = 0;
		const emails = [EMMA, 'NOAH@example.com', 'slash@example.com', 'again@example.com'];
		const { pairs, error } = await run({ ...parameters, userId, options: {} }, emails);
		expect([pairs, error]).toEqual([[[0, 1, 2, 3]], undefined]);
		expect(sent()[0]).toBe(LIST);
		const ids = ['2', 'a%2Fb', 'user-1', 'user-6'];
		const expected = ids.map((id) => `${method} /v1${path.replace(':userID', id)}`);
		expect(sent().slice(1).sort()).toEqual(expected);
	}
});

const email = 'kate@x';
const NOBODY = ['No user has this email address', '2 users and 2 email addresses'];
const NO_ID = ['The user with this email address has no ID in the list', 'id, userid,'];
const several = (ids: string) => ['Several users have this email address', `the IDs ${ids}.`];

test.each<[what: string, users: object[], expected: string[]]>([
	['of nobody', [{ id: 1, email: 'z@x' }], NOBODY],
	['with a long s in place of its s', [{ id: 1, email: 'kate@\u017f' }], NOBODY],
	['without an ID', [{ name: 'Nobody', email }], NO_ID],
	['with an ID that leads elsewhere', [{ id: '..', email }], NO_ID],
	['with two IDs', [{ id: 'right', user_id: 42, email }], NO_ID],
	['with an ID in an object', [{ id: { oid: 'right' }, userId: 7, email }], NO_ID],
	['with an ID that holds a secret', [{ id: 'the-secret-key-1', email }], NO_ID],
	['of two users, one without an ID', [{ id: 1, email }, { email }], several('1, (none)')],
	['of two users', ['a', 1].map((id) => ({ id, email })), several('a, 1')],
])('an address %s is an error of its item alone', async (_, users, [message, advice]) => {
	list = () => ({ data: [...users, { id: 'n', email: EMMA }] });
	const description = expect.stringContaining(advice!) as string;
	const own = { ...credential(), privateKey: 'the-secret-key' };
	const rest = { ...CONTINUES, credential: own };
	const { failures, pairs } = await run(create, [EMMA, email, EMMA], rest);
	expect(failures).toMatchObject([{ message, description }]);
	expect(pairs).toEqual([[0, 2], [1]]);
	expect(sent()).toHaveLength(3);
});

test.each<[what: string, body: object, option: string]>([
	['shows that there is more', { users: USERS, next: '/users?page=2' }, 'Users Pagination'],
	['has another name', { status: 'success', data: { people: USERS } }, 'Users Path'],
])('no user is looked for in a list that %s', async (_, body, option) => {
	list = () => body;
	const { error } = await run(create, [EMMA]);
	expect(error?.message).toMatch(/^The list of users could not be read: The .*list/);
	expect(error?.description).toContain(option);
	expect(sent()).toEqual([LIST]);
});

const pagination = { parameterName: 'p' };
const options = { usersPath: 'data.people', usersPagination: { pagination } };

test('the list is read page by page with Users Pagination, if an item names a user by email', async () => {
	const users = Array.from({ length: 25 }, (_, id) => ({ id, email: `user-${id}@example.com` }));
	list = ({ path }) => {
		const page = Number(path.split('?p=')[1]);
		const people = users.slice((page - 1) * 10, page * 10);
		return { status: 'success', data: { people, odd: [{}] } };
	};
	await run({ ...get, options }, ['user-3@example.com', 'user-24@example.com']);
	await run({ ...get, userId: byId('user-1'), options }, ['x']);
	const pages = [1, 2, 3, 4].map((page) => `${LIST}?p=${page}`);
	expect(sent()).toEqual([...pages, ...['3', '24', 'user-1'].map((id) => `GET /v1/user/${id}`)]);
});

test('each account has a list of its own, if the credential depends on the item', async () => {
	list = ({ headers }) => [{ id: headers.authentication!.split('-')[1], email }];
	const keys = ['one', 'two', 'one'];
	const { items } = await service.run(create, {
		credential: { ...credential(), privateKey: '={{ $json.key }}' },
		items: keys.map((key) => ({ email, key: `keyof-${key}` })),
	});
	expect(items.map(({ path }) => path)).toEqual(keys.map((id) => `/v1/user/${id}/resume`));
	expect(sent().filter((request) => request === LIST)).toHaveLength(2);
});

test('a list that can not be read is an error of each item, after the attempts for one', async () => {
	list = () => http(503, {});
	const reason = 'The service is not available (HTTP 503)';
	const failure = { message: `The list of users could not be read: ${reason}`, httpStatus: 503 };
	for (const [parameters, attempts] of [[get, 1] as const, [create, 3] as const]) {
		requests.length = 0;
		const { failures } = await run(parameters, Array<string>(50).fill(EMMA), CONTINUES);
		expect(failures).toMatchObject(Array(50).fill(failure));
		expect(sent()).toEqual(Array(attempts).fill(LIST));
	}
});
