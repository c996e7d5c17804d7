import { offeredOperations } from '../support/openapi.mts';
import { offered } from '../support/operations.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/**
 * Walks the node's operations, so that an operation that is added later is held to the same: it
 * runs through the pipeline, as a node and as an agent's tool, and asks for what the OpenAPI document has.
 */

const refusal = { status: 'error', errorCode: 'walk-1', errorMessage: 'walked' };
const walked = 'The service answered: walked (walk-1)';
let answer: unknown;
beforeEach(() => (answer = refusal));
const { credential, requests, run, tool } = useRawService(() => answer);

const operations = offered();

test('the node offers the operations of the OpenAPI document, with their methods and paths, and custom requests', () => {
	const own = operations.filter(({ resource }) => resource !== 'customRequest');
	const found = own.map(({ resource, value, method, path }) => [
		`${resource}.${value}`,
		method.toLowerCase(),
		path.replace(/:(\w+)/g, '{$1}'),
	]);
	const documented = offeredOperations().map(({ operationId, method, path }) => [
		operationId,
		method,
		path,
	]);
	expect(found.sort()).toEqual(documented.sort());
	expect(operations.length - own.length).toBe(2);
});

test("each operation runs through the pipeline, also as an agent's tool", async () => {
	for (const { parameters } of operations) {
		requests.length = 0;
		const { error } = await run(parameters);
		expect(error?.message).toBe(walked);
		const [told] = await tool(parameters);
		expect(told!.answer).toContain(walked);
		expect(requests).toHaveLength(2);
		for (const { headers } of requests) {
			expect(headers).toMatchObject({
				authentication: 'Bearer the-key',
				'content-type': 'application/json',
			});
		}
	}
});

test('a custom request that writes is called dangerous, in the panel and to an agent', () => {
	const { description, notices } = operations.find(
		({ path, write }) => path === '/:path' && write,
	)!;
	expect([description, ...notices]).toHaveLength(2);
	for (const text of [description, ...notices.map(({ displayName }) => displayName)]) {
		expect(text).toMatch(/may change or delete data, or bill/);
	}
});

test.each([
	['user', '__CUSTOM_API_CALL__'],
	['__CUSTOM_API_CALL__', '__CUSTOM_API_CALL__'],
	['constructor', 'toString'],
])("%s's %s is refused, and points to custom requests", async (resource, operation) => {
	const { error } = await run({ resource, operation });
	expect(error?.message).toBe('This node has no such operation');
	expect(error?.description).toContain('choose the resource Custom Request');
	expect(requests).toEqual([]);
});

test('each operation refuses a credential whose key must not be sent', async () => {
	const unfit = { ...credential(), baseUrl: credential().baseUrl.replace('/v1', '') };
	for (const { parameters } of operations) {
		const { error } = await run(parameters, { credential: unfit });
		expect(error?.message).toBe("The credential's Base URL can't be used [item 0]");
	}
	expect(requests).toEqual([]);
});

test('each operation that reads is repeated after a failure that may pass, and no write is', async () => {
	answer = http(503, { 'Retry-After': '0.001' });
	for (const { write, parameters } of operations) {
		requests.length = 0;
		const { error } = await run(parameters);
		const unknown = write ? 'Outcome unknown: ' : '';
		expect(error?.message).toBe(`${unknown}The service is not available (HTTP 503)`);
		if (write) expect(error?.description).not.toMatch(/try again/i);
		expect(requests).toHaveLength(write ? 1 : 3);
	}
});
