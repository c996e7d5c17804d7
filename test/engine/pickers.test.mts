import { inspect } from 'node:util';
import type { INodeListSearchResult, NodeApiError } from 'n8n-workflow';
import { type ListSearch, searchList } from '../support/engine.mts';
import { printed } from '../support/environment.mts';
import { byId } from '../support/parameters.mts';
import { json } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** The lists in n8n's editor from which users pick a user or a resume. */

const PRIVATE_KEY = 'private-key-of-pickers';
const WEBHOOK_SECRET = 'whsec-of-the-tests';

const resumesOf = (listUserId: unknown): Partial<ListSearch> => ({
	method: 'searchResumes',
	parameters: { resource: 'resume', operation: 'get', listUserId: listUserId as never },
});

let response: unknown;
const { credential, sent } = useRawService(() => response, PRIVATE_KEY);

const pick = (rest: Partial<ListSearch> = {}) =>
	searchList({
		method: 'searchUsers',
		parameters: { resource: 'user', operation: 'get' },
		credential: { ...credential(), webhookSecret: WEBHOOK_SECRET },
		...rest,
	});
const valuesOf = ({ results }: INodeListSearchResult) => results.map(({ value }) => value);

/** Returns what n8n hands to its editor of an error (`sendErrorResponse` in n8n/src/response-helper.ts). */
async function shownError(result: Promise<INodeListSearchResult>) {
	const error = (await result.catch((thrown: unknown) => thrown)) as NodeApiError;
	expect(error.name).toBe('NodeApiError');
	const { message, description, httpCode } = error;
	const seen = JSON.stringify(error) + inspect(error, { depth: 10 }) + printed.join();
	for (const secret of [PRIVATE_KEY, WEBHOOK_SECRET]) expect(seen).not.toContain(secret);
	return { message, description: description ?? '', httpCode };
}

const USERS = [
	{ id: 'user-1', name: 'Emma Larsen', email: 'emma@example.com' },
	{ id: 'user-2', name: 'Noah', email: 'noah@example.com' },
];
test.each([
	['', ['user-1', 'user-2']],
	[' emma LARSEN', ['user-1']],
	['emma@', ['user-1']],
	['user-2', ['user-2']],
	['nobody', []],
])('the text %j is searched for in names, email addresses and IDs', async (filter, values) => {
	response = { status: 'success', data: { users: USERS } };
	const result = await pick({ filter });
	expect([valuesOf(result), result.paginationToken]).toEqual([values, undefined]);
	expect(sent()).toEqual(['GET /v1/users']);
});

test("a resume has its title, and its user's ID is not taken for its own", async () => {
	response = { data: [{ userId: 'u', resumeId: 'r', title: 'CV' }] };
	const { results } = await pick(resumesOf({ __rl: true, mode: 'list', value: 'a/b' }));
	expect(results).toEqual([{ name: 'CV', value: 'r' }]);
	expect(sent()).toEqual(['GET /v1/user/a%2Fb/resumes']);
});

test.each([
	[byId(''), 'No user is picked', "Pick a user in 'Resumes of User' first, or enter the resume's"],
	[byId('..'), "'Resumes of User' is not an ID", 'Nothing was sent'],
])('resumes need a user to be picked first: %j', async (user, message, text) => {
	const description = expect.stringContaining(text) as string;
	const shown = await shownError(pick(resumesOf(user)));
	expect(shown).toEqual({ message, description, httpCode: null });
	expect(sent()).toEqual([]);
});

test('a long list comes in pages, each with one request, and is searched whole', async () => {
	const users = Array.from({ length: 2_000 }, (_, id) => ({ id, full_name: `User ${id}` }));
	response = { data: users };
	const { results, paginationToken } = await pick();
	// n8n 1 passes on a token only if it is a text (its ResourceLocatorRequestDto).
	expect(paginationToken).toBe('1000');
	const rest = await pick({ paginationToken: '1000' });
	expect(rest.paginationToken).toBeUndefined();
	const values = [...results, ...rest.results].map(({ value }) => value);
	expect(values).toEqual(users.map(({ id }) => String(id)));
	expect(sent()).toHaveLength(2);
	expect(valuesOf(await pick({ filter: 'user 1321' }))).toEqual(['1321']);
});

test.each<[user: object, name: string, value: string]>([
	[{ id: 7 }, '7', '7'],
	[{ id: 0, name: ' ' }, '0', '0'],
	[{ _id: 'a', name: 'Ann', email: 'ann@x.example' }, 'Ann · ann@x.example', 'a'],
	[{ userID: 'u', 'first-name': 'Ann', LastName: 'Lee' }, 'Ann Lee', 'u'],
	[{ id: 'u', name: { first: 'Ann' }, email: 'a@b' }, 'a@b', 'u'],
])('a user %j is offered as %j', async (user, name, value) => {
	response = [user];
	expect((await pick()).results).toEqual([{ name, value }]);
});

const KEY_BACK = { status: 'error', errorCode: 'E-1', errorMessage: `bad key ${PRIVATE_KEY}` };
const WITHOUT_IDS = 'The users in the response have no ID';
const BY_ID =
	'The response has the properties: status. Switch this field to By ID, and enter the ID.';
test.each<[string, unknown, message: string, description: string, httpCode?: string | null]>([
	['no users', { data: [] }, 'The service returned no users', "credential's 'Private Key'"],
	['records without an ID', { data: [{ email: 'a@b', age: 7 }] }, WITHOUT_IDS, ': email, age.'],
	['no list', { status: 'success' }, 'The response has no list', BY_ID],
	// The editor adds a link to the credential for the status 401 or 403.
	['HTTP 401', json({}, 401), 'The service refused access', "'Private Key'", '401'],
	['its key back', KEY_BACK, 'The service reported: bad key [hidden] (E-1)', 'account manager'],
])('a service that sends %s is explained', async (_, given, message, description, code = null) => {
	response = given;
	const shown = await shownError(pick());
	expect(shown.message).toContain(message);
	expect(shown.description).toContain(description);
	expect(shown.httpCode).toBe(code);
});
