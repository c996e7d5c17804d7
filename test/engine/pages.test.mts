import type { INodeParameters } from 'n8n-workflow';

import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startSandbox } from '../../sandbox/server.mts';
import { callTool, type EngineResult, runNode } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import { http, type RawServer, startRawServer } from '../support/rawServer.mts';

/** Lists that are read page by page, as the option Pagination says. */

const PRIVATE_KEY = 'private-key-of-the-pages';

type Service = (query: URLSearchParams, request: number) => unknown;

let server: RawServer | undefined;
afterEach(async () => {
	await server?.close();
	server = undefined;
});

/** A service that answers what the function gives: JSON, or a whole HTTP answer where it is a text. */
async function serve(service: Service) {
	server = await startRawServer((socket, { path, index }) => {
		const answer = service(new URL(path, 'http://service').searchParams, index);
		socket.end(
			typeof answer === 'string'
				? answer
				: http(200, { 'Content-Type': 'application/json' }, JSON.stringify(answer)),
		);
	});
	return { baseUrl: `http://127.0.0.1:${server.port}/v1`, privateKey: PRIVATE_KEY };
}
/** What each request asked for, without its path. */
const queries = () => server!.requests.map(({ path }) => path.split('?')[1] ?? '');

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

const idsOf = ({ outputs }: EngineResult) => outputs[0]!.map(({ json }) => json.id);
const ids = (count: number) => records(0, count).map(({ id }) => id);
const hintsOf = ({ run }: EngineResult) =>
	(run.data.resultData.runData['Resume Management']!.at(-1)!.hints ?? []).map(
		({ message }) => message,
	);

describe('a page number', () => {
	test('is counted up until a page is empty', async () => {
		const result = await runNode({
			parameters: getAll(page),
			credential: await serve(numbered(20)),
		});
		expect(idsOf(result)).toEqual(ids(20));
		expect(queries()).toEqual(['page=1', 'page=2', 'page=3']);
		expect(hintsOf(result)).toEqual([]);
	});

	test('is counted up until a page is short, where a size is asked for', async () => {
		const result = await runNode({
			parameters: getAll(sized),
			credential: await serve(numbered(25)),
		});
		expect(idsOf(result)).toEqual(ids(25));
		expect(queries()).toEqual(['size=10&page=1', 'size=10&page=2', 'size=10&page=3']);
	});

	test('starts where the service starts to count', async () => {
		const fromZero: Service = (query) => {
			const start = Number(query.get('p')) * 10;
			return records(start, Math.min(start + 10, 15));
		};
		const parameters = getAll({ parameterName: 'p', firstPage: 0 });
		const result = await runNode({ parameters, credential: await serve(fromZero) });
		expect(idsOf(result)).toEqual(ids(15));
		expect(queries()).toEqual(['p=0', 'p=1', 'p=2']);
	});

	test('loses nothing where the service sends smaller pages than it is asked for', async () => {
		const capped: Service = (query) => {
			const start = (Number(query.get('page')) - 1) * 4;
			return records(start, Math.min(start + 4, 10));
		};
		const result = await runNode({ parameters: getAll(sized), credential: await serve(capped) });
		expect(idsOf(result)).toEqual(ids(10));
	});
});

describe('an offset', () => {
	test('goes on by what came, in the sandbox too', async () => {
		const sandbox = await startSandbox({ port: 0, record: true });
		try {
			const parameters = getAll({
				mode: 'offset',
				parameterName: 'offset',
				sizeParameterName: 'limit',
				pageSize: 25,
			});
			const credential = { baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live };
			const result = await runNode({ parameters, credential });
			const all = sandbox.database.prepare('SELECT id FROM users ORDER BY id').all();
			expect(idsOf(result)).toEqual(all.map(({ id }) => id));
			expect(sandbox.requests.map(({ url }) => url)).toEqual([
				'/v1/users?limit=25&offset=0',
				'/v1/users?limit=25&offset=25',
				'/v1/users?limit=25&offset=50',
			]);
		} finally {
			await sandbox.close();
		}
	});

	test('skips nothing where the service sends fewer than it is asked for', async () => {
		const capped: Service = (query) => {
			const start = Number(query.get('skip'));
			return records(start, Math.min(start + 4, 10));
		};
		const parameters = getAll({
			mode: 'offset',
			parameterName: 'skip',
			sizeParameterName: 'take',
			pageSize: 100,
		});
		const result = await runNode({ parameters, credential: await serve(capped) });
		expect(idsOf(result)).toEqual(ids(10));
		expect(queries().map((query) => query.replace('take=100&', ''))).toEqual([
			'skip=0',
			'skip=4',
			'skip=8',
		]);
	});
});

describe('a cursor', () => {
	const cursor = { mode: 'cursor', parameterName: 'after', cursorPath: 'meta.next' };
	const chained =
		(end: object): Service =>
		(query) => {
			const start = query.has('after') ? Number(query.get('after')!.split('/')[1]) : 0;
			const next = start + 10;
			return { items: records(start, next), meta: next < 30 ? { next: `c/${next}` } : end };
		};

	test.each([
		['null', { next: null }],
		["''", { next: '' }],
		['missing', {}],
	])('is followed until it is %s', async (_, end) => {
		const credential = await serve(chained(end));
		const result = await runNode({ parameters: getAll(cursor), credential });
		expect(idsOf(result)).toEqual(ids(30));
		expect(queries()).toEqual(['', 'after=c%2F10', 'after=c%2F20']);
		expect(hintsOf(result)).toEqual([]);
	});

	test('that goes round in a circle ends the list, without a record twice', async () => {
		const circle: Service = (query) => {
			const start = Number(query.get('after') ?? 0);
			return { items: records(start, start + 10), meta: { next: (start + 10) % 20 } };
		};
		const result = await runNode({ parameters: getAll(cursor), credential: await serve(circle) });
		expect(idsOf(result)).toEqual(ids(20));
		expect(queries()).toHaveLength(3);
	});

	test('that the first answer does not hold is told of, as its path may be wrong', async () => {
		const credential = await serve(chained({}));
		const parameters = getAll({ ...cursor, cursorPath: 'meta.nxt' });
		const result = await runNode({ parameters, credential });
		expect(idsOf(result)).toEqual(ids(10));
		expect(hintsOf(result)).toEqual([expect.stringContaining("nothing at 'meta.nxt'")]);
	});
});

describe('a service that ignores the parameter', () => {
	const deaf: Service = (_, request) => ({ data: records(0, 10), time: request });

	test('gives each record once, and a hint', async () => {
		const result = await runNode({ parameters: getAll(page), credential: await serve(deaf) });
		expect(idsOf(result)).toEqual(ids(10));
		expect(queries()).toHaveLength(2);
		expect(hintsOf(result)).toEqual([expect.stringContaining("may not know the parameter 'page'")]);
	});

	test('gives one hint for all items', async () => {
		const parameters = { ...getAll(page), resource: 'resume', userId: byId('={{ $json.id }}') };
		const items = [{ id: 'a' }, { id: 'b' }];
		const result = await runNode({ parameters, items, credential: await serve(deaf) });
		expect(result.outputs[0]!.map(({ pairedItem }) => pairedItem)).toEqual([
			...records(0, 10).map(() => ({ item: 0 })),
			...records(0, 10).map(() => ({ item: 1 })),
		]);
		expect(hintsOf(result)).toHaveLength(1);
	});
});

test('a list that does not end is an error that names the limit, and returns nothing', async () => {
	const endless: Service = (query) => {
		const start = Number(query.get('page')) * 10;
		return records(start, start + 10);
	};
	const parameters = getAll({ ...page, maxPages: 3 });
	const result = await runNode({ parameters, credential: await serve(endless) });
	expect(result.error?.message).toBe('The list did not end after 3 pages');
	expect(result.error?.description).toContain('Max Pages in Pagination');
	expect(queries()).toHaveLength(3);
});

test('Limit ends a list early, in the middle of a page', async () => {
	const parameters = getAll(page, { returnAll: false, limit: 15 });
	const result = await runNode({ parameters, credential: await serve(numbered(100)) });
	expect(idsOf(result)).toEqual(ids(15));
	expect(queries()).toEqual(['page=1', 'page=2']);
});

test('an empty list is one request', async () => {
	const result = await runNode({ parameters: getAll(page), credential: await serve(numbered(0)) });
	expect(result.error).toBeUndefined();
	expect(idsOf(result)).toEqual([]);
	expect(queries()).toEqual(['page=1']);
});

test('without the option, one request is sent and its list is cut by Limit', async () => {
	const whole: Service = () => records(0, 80);
	const parameters = getAll(undefined, { returnAll: false });
	const result = await runNode({ parameters, credential: await serve(whole) });
	expect(idsOf(result)).toEqual(ids(50));
	expect(queries()).toEqual(['']);
});

test('without Simplify, each page is an item', async () => {
	const parameters = getAll(page, { simplify: false });
	const result = await runNode({ parameters, credential: await serve(numbered(15)) });
	expect(result.outputs[0]!.map(({ json }) => json)).toEqual([
		{ status: 'success', data: records(0, 10) },
		{ status: 'success', data: records(10, 15) },
	]);
});

test('Items Path and Query Parameters go for each page', async () => {
	const nested: Service = (query) => ({
		a: [],
		b: { users: (numbered(12)(query, 0) as { data: [] }).data },
	});
	const parameters = getAll(page, {
		options: {
			itemsPath: 'b.users',
			queryParameters: { parameter: [{ name: 'role', value: 'x' }] },
		},
	});
	const result = await runNode({ parameters, credential: await serve(nested) });
	expect(idsOf(result)).toEqual(ids(12));
	expect(queries()).toEqual(['role=x&page=1', 'role=x&page=2', 'role=x&page=3']);
});

describe('each page goes through the pipeline', () => {
	const failing =
		(answer: unknown, times: number): Service =>
		(query, request) =>
			query.get('page') === '2' && request <= times ? answer : numbered(25)(query, request);

	test('it is repeated after a failure that may pass', async () => {
		const credential = await serve(failing(http(503, { 'Retry-After': '0' }), 2));
		const result = await runNode({
			parameters: getAll(sized, { options: { retries: 2 } }),
			credential,
		});
		expect(idsOf(result)).toEqual(ids(25));
		expect(queries().map((query) => query.at(-1))).toEqual(['1', '2', '2', '2', '3']);
		expect(server!.requests.map(({ headers }) => headers.authentication)).toEqual(
			Array.from({ length: 5 }, () => `Bearer ${PRIVATE_KEY}`),
		);
	});

	test('its error is the error of the item, without the pages before and without the key', async () => {
		const answer = { status: 'error', errorCode: 'u-1', errorMessage: `locked ${PRIVATE_KEY}` };
		const credential = await serve(failing(answer, Infinity));
		const result = await runNode({
			parameters: getAll(sized),
			credential,
			node: { onError: 'continueErrorOutput' },
		});
		expect(result.outputs[0]).toEqual([]);
		expect(result.outputs[1]![0]!.json.error).toMatchObject({
			message: 'The service answered: locked [hidden] (u-1)',
			code: 'u-1',
		});
		expect(JSON.stringify(result.run)).not.toContain(PRIVATE_KEY);
	});

	test('none is sent after the execution is cancelled', async () => {
		const cancel = new AbortController();
		const credential = await serve((query, request) => {
			if (request === 1) cancel.abort();
			return numbered(1_000)(query, request);
		});
		const parameters = getAll(page, { options: { retries: 2 } });
		await runNode({ parameters, credential, signal: cancel.signal }).catch(() => {});
		expect(queries().length).toBeLessThanOrEqual(2);
	});

	test("as an agent's tool too", async () => {
		const [answer] = await callTool({
			parameters: { toolDescription: 'A tool', ...getAll(sized) },
			credential: await serve(numbered(25)),
		});
		const told = JSON.parse(answer!.answer as string) as object[];
		expect(told).toEqual(records(0, 25));
		expect(queries()).toHaveLength(3);
	});
});

test.each([
	['no parameter', {}, "'Parameter Name' is empty"],
	['a cursor without a path', { ...page, mode: 'cursor' }, "'Cursor Path' is empty"],
])('%s is an error that names the field', async (_, pagination, message) => {
	const credential = await serve(numbered(1));
	const { error } = await runNode({ parameters: getAll(pagination), credential });
	expect(error?.message).toBe(`${message} [item 0]`);
	expect(queries()).toEqual([]);
});
