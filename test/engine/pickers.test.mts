import { inspect } from 'node:util';

import type { INodeListSearchResult, NodeApiError } from 'n8n-workflow';

import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { printed } from '../support/environment.mts';
import { type ListSearch, searchList } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import { json } from '../support/rawServer.mts';
import { useRawService, useSandbox } from '../support/service.mts';

/** The lists that the editor offers to pick a user or a resume from. */

const PRIVATE_KEY = SANDBOX_KEYS.live;

const resumesOf = (listUserId: unknown): Pick<ListSearch, 'method' | 'parameters'> => ({
	method: 'searchResumes',
	parameters: { resource: 'resume', operation: 'get', listUserId: listUserId as never },
});

/** A service whose every answer is this one. */
let answer: unknown;
const service = useRawService(() => answer, PRIVATE_KEY);
const { credential: sandboxCredential, sandbox, sent } = useSandbox();

/** @param rest in place of the search of all users */
const pick = ({ credential = service.credential(), ...rest }: Partial<ListSearch> = {}) =>
	searchList({
		method: 'searchUsers',
		parameters: { resource: 'user', operation: 'get' },
		credential: { ...credential, webhookSecret: 'whsec-of-the-tests' },
		...rest,
	});
const pickThere = (rest: Partial<ListSearch> = {}) =>
	pick({ credential: sandboxCredential(), ...rest });
const valuesOf = ({ results }: INodeListSearchResult) => results.map(({ value }) => value);

/**
 * What n8n hands to its editor of an error, which shows the status, the message and the description
 * (`sendErrorResponse` in n8n/src/response-helper.ts).
 */
async function shownError(result: Promise<INodeListSearchResult>) {
	const error = (await result.catch((thrown: unknown) => thrown)) as NodeApiError;
	expect(error.name).toBe('NodeApiError');
	const { message, description, httpCode } = error;
	const seen =
		JSON.stringify({ ...error, message }) + inspect(error, { depth: 10 }) + printed.join();
	for (const secret of [PRIVATE_KEY, 'whsec-of-the-tests']) expect(seen).not.toContain(secret);
	return { message, description: description ?? '', httpCode };
}

describe('with the sandbox', () => {
	test('users have their name and email address, and come with one request', async () => {
		const { results, paginationToken } = await pickThere();
		expect(results).toHaveLength(60);
		const name = 'Emma Larsen · emma.larsen@example.com';
		expect(results[0]).toEqual({ name, value: 'user-001' });
		expect(paginationToken).toBeUndefined();
		expect(sent()).toEqual(['GET /v1/users']);
	});

	test('what was typed is looked for in names, email addresses and IDs', async () => {
		for (const filter of [' emma LARSEN', 'emma.larsen@', 'user-001']) {
			expect(valuesOf(await pickThere({ filter }))).toEqual(['user-001']);
		}
		expect(await pickThere({ filter: 'nobody' })).toEqual({ results: [] });
	});

	test('resumes of a user have their title', async () => {
		const { results } = await pickThere(resumesOf({ __rl: true, mode: 'list', value: 'user-003' }));
		const sql = 'SELECT title AS name, id AS value FROM resumes WHERE user_id = ?';
		const resumes = sandbox().database.prepare(sql).all('user-003');
		expect(resumes.length).toBeGreaterThan(0);
		expect(results).toEqual(resumes.map((one) => ({ ...one })));
		expect(sent()).toEqual(['GET /v1/user/user-003/resumes']);
	});

	test.each([
		[undefined, 'No user is picked', "Pick a user in 'Resumes of User' first"],
		[byId(''), 'No user is picked', "or enter the resume's ID."],
		[byId('..'), "'Resumes of User' is not an ID", 'Nothing was sent'],
	])('resumes need a user to be picked first: %j', async (user, message, description) => {
		expect(await shownError(pickThere(resumesOf(user)))).toEqual({
			message,
			description: expect.stringContaining(description),
			httpCode: null,
		});
		expect(sent()).toEqual([]);
	});
});

test('a long list comes in pages, each with one request, and is searched whole', async () => {
	const users = Array.from({ length: 2_000 }, (_, id) => ({
		user_id: id,
		full_name: `User ${id}`,
	}));
	answer = { status: 'success', data: { users } };
	const { results, paginationToken } = await pick();
	// n8n 1.x passes texts on, and nothing else (its ResourceLocatorRequestDto).
	expect(paginationToken).toBe('1000');
	const rest = await pick({ paginationToken: '1000' });
	expect(rest.paginationToken).toBeUndefined();
	const values = [...results, ...rest.results].map(({ value }) => value);
	expect(values).toEqual(users.map(({ user_id: id }) => String(id)));
	expect(service.sent()).toHaveLength(2);
	expect(valuesOf(await pick({ filter: 'user 1321' }))).toEqual(['1321']);
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

const KEY_BACK = { status: 'error', errorCode: 'E-1', errorMessage: `bad key ${PRIVATE_KEY}` };
const WITHOUT_IDS = 'The users that the service returned have no ID to pick them by';
const BY_ID =
	'Switch this field to By ID, and enter the ID. The answer has the properties: status.';
test.each<[string, unknown, message: string, description?: string, httpCode?: string]>([
	['no users', { data: [] }, 'The service returned no users', "credential's Private Key"],
	['records without an ID', { data: [{ email: 'a@b', age: 7 }] }, WITHOUT_IDS, ': email, age.'],
	['no list', { status: 'success' }, 'The answer has no list', BY_ID],
	['long names', [{ ['x'.repeat(999)]: 1 }], WITHOUT_IDS, `properties: ${'x'.repeat(64)}. Switch`],
	// The editor adds a link to the credential where the status is 401 or 403.
	['HTTP 401', json({}, 401), 'The service did not accept the private key', '', '401'],
	// The editor would show "1" for a code with plain hyphens.
	['its key back', KEY_BACK, 'The service answered: bad key [hidden] (E‑1)'],
])('a service that answers %s is explained', async (_, given, message, ...[words = '', code]) => {
	answer = given;
	const shown = await shownError(pick());
	expect(shown.message).toContain(message);
	expect(shown.description).toContain(words);
	expect(shown.httpCode).toBe(code ?? null);
});

test('a credential that must not be sent is explained', async () => {
	const credential = { baseUrl: 'http://127.0.0.1:1', privateKey: PRIVATE_KEY };
	const { message, httpCode } = await shownError(pick({ credential }));
	expect([message, httpCode]).toEqual(["The credential's Base URL can't be used", null]);
});
