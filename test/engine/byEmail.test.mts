import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { callTool, type EngineRun, runNode } from '../support/engine.mts';
import { http, type RawRequest, type RawServer, startRawServer } from '../support/rawServer.mts';

/** Users that are named by their e-mail addresses, which the list of users tells the IDs of. */

type Answer = unknown;

let server: RawServer;
/** What the service answers to a list of users; a whole HTTP answer where it is a text. */
let list: (request: RawRequest) => Answer;
beforeAll(async () => {
	server = await startRawServer((socket, request) => {
		const { method, path } = request;
		const answer = path.startsWith('/v1/users')
			? list(request)
			: { status: 'success', data: { path, method, resumes: [{ id: 'r', path }] } };
		socket.end(typeof answer === 'string' ? answer : http(200, {}, JSON.stringify(answer)));
	});
});
beforeEach(() => {
	server.requests.length = 0;
	list = () => ({ status: 'success', data: { users: USERS } });
});
afterAll(() => server.close());

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

const byEmail = (value: string) => ({ __rl: true, mode: 'email', value });
const item = byEmail('={{ $json.email }}');
const OPERATIONS: Record<string, INodeParameters> = {
	get: { resource: 'user', operation: 'get', userId: item },
	resumes: { resource: 'resume', operation: 'getAll', userId: item, returnAll: true },
	create: { resource: 'resume', operation: 'create', userId: item },
};

const credential = () => ({ baseUrl: `http://127.0.0.1:${server.port}/v1`, privateKey: 'the-key' });
const run = (operation: string, emails: string[], rest: Partial<EngineRun> = {}) =>
	runNode({
		parameters: { ...OPERATIONS[operation]!, options: { retries: 0 } },
		credential: credential(),
		items: emails.map((email) => ({ email })),
		...rest,
	});
const sent = () => server.requests.map(({ method, path }) => `${method} ${path}`);
const LIST = 'GET /v1/users';
const errorOf = ({ json }: INodeExecutionData) => json.error as Record<string, string>;

test.each([
	['get', 'GET', ''],
	['resumes', 'GET', '/resumes'],
	['create', 'POST', '/resume'],
])('%s finds the IDs of all items in one list', async (operation, method, rest) => {
	const emails = ['emma@example.COM', 'NOAH@example.com', 'slash@example.com', 'again@example.com'];
	const { outputs, error } = await run(operation, emails);
	expect(error).toBeUndefined();
	expect(outputs[0]!.map(({ pairedItem }) => pairedItem)).toEqual(
		emails.map((_, index) => ({ item: index })),
	);
	expect(sent()[0]).toBe(LIST);
	expect(sent().slice(1).sort()).toEqual(
		['2', 'a%2Fb', 'user-1', 'user-6'].map((id) => `${method} /v1/user/${id}${rest}`),
	);
});

test.each([
	['nobody@example.com', 'No user has this e-mail address', '12 users and 8 e-mail addresses'],
	['twice@example.com', 'Several users have this e-mail address', 'with the IDs user-4, user-5.'],
	['no-id@example.com', 'The user with this e-mail address has no ID in the list', 'id, _id,'],
	['dots@example.com', 'The user with this e-mail address has no ID in the list', ''],
	// JSON.parse makes another number of it, which may be another user's.
	['long@example.com', 'The user with this e-mail address has no ID in the list', ''],
	['not an address', "'User' is not an e-mail address [item 1]", 'Nothing was sent'],
	['', "'User' is not an e-mail address [item 1]", 'Nothing was sent'],
])('%j is an error of its item alone', async (email, message, description) => {
	for (const operation of ['get', 'create']) {
		server.requests.length = 0;
		const { outputs } = await run(operation, ['emma@example.com', email, 'noah@example.com'], {
			node: { onError: 'continueErrorOutput' },
		});
		expect(outputs[0]!.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 2 }]);
		expect(outputs[1]!.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }]);
		expect(errorOf(outputs[1]![0]!)).toMatchObject({
			message,
			description: expect.stringContaining(description) as string,
		});
		expect(sent()).toHaveLength(3);
	}
});

describe('whom an address belongs to', () => {
	const none = 'No user has this e-mail address';
	const unclear = 'The user with this e-mail address has no ID in the list';
	test.each<[what: string, users: unknown, message: string]>([
		['another letter that has the same small one', [{ id: 1, email: '\u212Aate@x' }], none],
		['two IDs', [{ id: 'right', ID: 'other', email: 'kate@x' }], unclear],
		['an ID in an object', [{ id: { oid: 'right' }, userId: 7, email: 'kate@x' }], unclear],
		['an ID that is not exact', [{ id: 2 ** 53 + 2, userId: 7, email: 'kate@x' }], unclear],
		[
			'an address in two places',
			[
				{ id: 1, email: 'kate@x' },
				{ id: 2, email: 'z@x', emailAddress: 'kate@x' },
			],
			'Several users have this e-mail address',
		],
	])('is not guessed from %s', async (_, users, message) => {
		list = () => ({ status: 'success', data: { users } });
		const { error } = await run('create', ['kate@x']);
		expect(error?.message).toBe(message);
		expect(sent()).toEqual([LIST]);
	});

	test.each(['errors', 'invited'])('is not guessed from a list of %s', async (name) => {
		for (const data of [null, { [name]: [{ id: 9, email: 'kate@x' }] }]) {
			server.requests.length = 0;
			list = () => ({ status: 'success', data, [name]: [{ id: 9, email: 'kate@x' }] });
			const { error } = await run('create', ['kate@x']);
			expect(error?.message).toMatch(/^The list of users could not be read/);
			expect(sent()).toEqual([LIST]);
		}
	});
});

describe('the list', () => {
	const users = Array.from({ length: 25 }, (_, id) => ({ id, email: `user-${id}@example.com` }));
	const pages = ({ path }: RawRequest) => {
		const page = Number(new URL(path, 'http://service').searchParams.get('page'));
		return {
			status: 'success',
			data: { people: users.slice((page - 1) * 10, page * 10), odd: [{}] },
		};
	};
	const options = {
		usersPath: 'data.people',
		usersPagination: { pagination: { parameterName: 'page' } },
	};

	test.each(Object.keys(OPERATIONS))('is read page by page where that is set: %s', async (name) => {
		list = pages;
		const parameters = { ...OPERATIONS[name]!, options };
		const { outputs } = await run(name, ['user-3@example.com', 'user-24@example.com'], {
			parameters,
		});
		expect(outputs[0]).toHaveLength(2);
		expect(sent().filter((request) => request.startsWith(LIST))).toEqual(
			[1, 2, 3, 4].map((page) => `${LIST}?page=${page}`),
		);
		expect(sent().slice(4)).toEqual([
			expect.stringContaining('/v1/user/3'),
			expect.stringContaining('/v1/user/24'),
		]);
	});

	test('that is not where it is looked for says how to tell the place', async () => {
		list = () => ({ status: 'success', data: { people: USERS } });
		const { error } = await run('get', ['emma@example.com']);
		expect(error?.message).toBe('The list of users could not be read: The answer holds no list');
		expect(error?.description).toContain('Set Users Path in Options');
		expect(sent()).toEqual([LIST]);
	});

	test('that ends with a repeated page shows the hint', async () => {
		list = () => ({ status: 'success', data: USERS });
		const parameters = {
			...OPERATIONS.get!,
			options: { usersPagination: options.usersPagination },
		};
		const result = await run('get', ['emma@example.com'], { parameters });
		const { hints = [] } = result.run.data.resultData.runData['Resume Management']![0]!;
		expect(hints.map(({ message }) => message)).toEqual([
			expect.stringContaining('a page of the list a second time'),
		]);
	});

	test('is not read where users are named by ID, whatever its options say', async () => {
		const parameters = {
			...OPERATIONS.get!,
			userId: { __rl: true, mode: 'id', value: 'user-1' },
			options,
		};
		await run('get', ['x'], { parameters });
		expect(sent()).toEqual(['GET /v1/user/user-1']);
	});

	test('is that of each account, where the credential depends on the item', async () => {
		list = ({ headers }) => ({
			data: [{ id: headers.authentication!.replace('Bearer key-of-', ''), email: 'a@b' }],
		});
		const { outputs } = await runNode({
			parameters: OPERATIONS.create!,
			credential: { ...credential(), privateKey: '={{ $json.key }}' },
			items: ['one', 'two', 'one'].map((key) => ({ email: 'a@b', key: `key-of-${key}` })),
		});
		expect(outputs[0]!.map(({ json }) => json.path)).toEqual(
			['one', 'two', 'one'].map((id) => `/v1/user/${id}/resume`),
		);
		expect(sent().filter((request) => request === LIST)).toHaveLength(2);
	});
});

describe('a list that can not be read', () => {
	const away = http(503, {});

	test('is an error of each item, after one attempt for all of them', async () => {
		list = () => away;
		for (const operation of ['get', 'create']) {
			server.requests.length = 0;
			const { outputs } = await run(operation, Array<string>(50).fill('emma@example.com'), {
				node: { onError: 'continueRegularOutput' },
			});
			expect(outputs[0]).toHaveLength(50);
			for (const one of outputs[0]!) {
				expect(errorOf(one)).toMatchObject({
					message: 'The list of users could not be read: The service is not available (HTTP 503)',
					httpStatus: 503,
				});
			}
			expect(new Set(sent())).toEqual(new Set([LIST]));
			expect(sent()).toHaveLength(operation === 'get' ? 1 : 3);
		}
	});

	test.each(Object.keys(OPERATIONS))('is read again like anything else: %s', async (operation) => {
		let times = 0;
		list = () => (times++ < 2 ? away : { data: USERS });
		const { error } = await run(operation, ['emma@example.com'], {
			parameters: OPERATIONS[operation]!,
		});
		expect(error).toBeUndefined();
		expect(sent()).toHaveLength(4);
	});

	test.each(['stopWorkflow', 'continueRegularOutput'] as const)(
		'leaves a write unsent, which Retry On Fail then sends once: %s',
		async (onError) => {
			let times = 0;
			list = () => (times++ < 3 ? away : { data: USERS });
			const { outputs, error } = await run('create', ['emma@example.com', 'noah@example.com'], {
				node: { onError, retryOnFail: true, maxTries: 3, waitBetweenTries: 1 },
			});
			expect(error).toBeUndefined();
			expect(outputs[0]!.map(({ json }) => json.method)).toEqual(['POST', 'POST']);
			expect(sent()).toEqual([
				...Array<string>(4).fill(LIST),
				'POST /v1/user/user-1/resume',
				'POST /v1/user/2/resume',
			]);
		},
	);
});

test('an unknown address among writes stops the node before the first is sent', async () => {
	const { error } = await run('create', ['emma@example.com', 'nobody@example.com']);
	expect(error?.message).toBe('No user has this e-mail address');
	expect(error?.description).toContain('No item was applied. Not sent: item 0.');
	expect(sent()).toEqual([LIST]);
});

test("a tool's call reads the list once", async () => {
	const fromAi = "={{ $fromAI('email', '', 'string') }}";
	const calls = ['emma@example.com', 'noah@example.com'].map((email) => ({ email }));
	for (const operation of ['get', 'create']) {
		server.requests.length = 0;
		const answers = await callTool({
			parameters: { ...OPERATIONS[operation]!, userId: byEmail(fromAi), toolDescription: 'x' },
			credential: credential(),
			items: calls,
		});
		expect(answers.map(({ answer }) => String(answer))).toEqual([
			expect.stringContaining('/v1/user/user-1'),
			expect.stringContaining('/v1/user/2'),
		]);
		expect(sent().filter((request) => request === LIST)).toHaveLength(2);
	}
});

test.each(Object.keys(OPERATIONS))(
	"n8n's own loop reads it once for all items, and again under Retry On Fail: %s",
	async (operation) => {
		list = () => (server.requests.length === 1 ? http(400, {}) : { data: USERS });
		const { outputs, error } = await run(operation, ['emma@example.com', 'noah@example.com'], {
			byExecute: true,
			node: { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 },
		});
		expect(error).toBeUndefined();
		expect(outputs[0]).toHaveLength(2);
		expect(sent().filter((request) => request === LIST)).toHaveLength(2);
		expect(sent()).toHaveLength(4);
	},
);
