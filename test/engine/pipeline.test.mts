import type { INodeParameters, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { callTool, loadNodeType, runNode } from '../support/engine.mts';
import { offeredOperations } from '../support/openapi.mts';
import { http, type RawServer, startRawServer } from '../support/rawServer.mts';

/**
 * Walks the node's description, so that an operation that is added later is held to the same: it
 * runs through the pipeline, as a node and as an agent's tool, and asks for what the OpenAPI document has.
 */

const PRIVATE_KEY = 'private-key-of-the-walk';

interface Walked {
	resource: string;
	operation: string;
	method: string;
	path: string;
	/** With a value for each field that is required. */
	parameters: INodeParameters;
}

let operations: Walked[];
let server: RawServer;

beforeAll(async () => {
	server = await startRawServer((socket) => {
		const body = JSON.stringify({ status: 'error', errorCode: 'walk-1', errorMessage: 'walked' });
		socket.end(http(200, { 'Content-Type': 'application/json' }, body));
	});
	const { properties } = (await loadNodeType('resumeManagement')).description;
	const options = (name: string, resource?: string) =>
		properties
			.filter(
				(property) =>
					property.name === name &&
					(!resource || property.displayOptions!.show!.resource!.includes(resource)),
			)
			.flatMap((property) => property.options as INodePropertyOptions[]);
	operations = options('resource').flatMap(({ value: resource }) =>
		options('operation', String(resource)).map(({ value: operation, routing }) => ({
			resource: String(resource),
			operation: String(operation),
			method: String(routing!.request!.method),
			path: String(routing!.request!.url),
			parameters: {
				resource,
				operation,
				...Object.fromEntries(
					properties
						.filter(({ required, displayOptions }) => {
							const { resource: resources, operation: shown } = displayOptions?.show ?? {};
							return required && resources?.includes(resource) && shown?.includes(operation);
						})
						.map((property) => [property.name, valueOf(property)]),
				),
			},
		})),
	);
});
beforeEach(() => {
	server.requests.length = 0;
});
afterAll(() => server.close());

function valueOf({ type, name, default: initial }: INodeProperties) {
	if (type === 'resourceLocator') return { __rl: true, mode: 'id', value: '1' };
	return name === 'email' ? 'nathan@example.com' : initial || 'value';
}

const credential = () => ({
	baseUrl: `http://127.0.0.1:${server.port}/v1`,
	privateKey: PRIVATE_KEY,
});

test('the node offers the operations of the OpenAPI document, with their methods and paths, and custom requests', () => {
	const own = operations.filter(({ resource }) => resource !== 'customRequest');
	const offered = own.map(({ resource, operation, method, path }) => [
		`${resource}.${operation}`,
		method.toLowerCase(),
		path.replace(/:(\w+)/g, '{$1}'),
	]);
	const documented = offeredOperations().map(({ operationId, method, path }) => [
		operationId,
		method,
		path,
	]);
	expect(offered.sort()).toEqual(documented.sort());
	expect(operations.length - own.length).toBe(2);
});

test('each operation runs through the pipeline', async () => {
	for (const [index, { parameters }] of operations.entries()) {
		const { error } = await runNode({ parameters, credential: credential() });
		expect(error?.message).toBe('The service answered: walked (walk-1)');
		expect(server.requests).toHaveLength(index + 1);
		expect(server.requests[index]!.headers).toMatchObject({
			authentication: `Bearer ${PRIVATE_KEY}`,
			'content-type': 'application/json',
		});
	}
});

test("each operation runs through the pipeline as an agent's tool", async () => {
	for (const [index, { parameters }] of operations.entries()) {
		const [answer] = await callTool({
			parameters: { toolDescription: 'A tool', ...parameters },
			credential: credential(),
		});
		expect(answer!.answer).toContain('The service answered: walked (walk-1)');
		expect(server.requests).toHaveLength(index + 1);
	}
});

test('each operation refuses a credential whose key must not be sent', async () => {
	const unfit = { ...credential(), baseUrl: `http://127.0.0.1:${server.port}` };
	for (const { parameters } of operations) {
		const { error } = await runNode({ parameters, credential: unfit });
		expect(error?.message).toBe("The credential's Base URL can't be used");
	}
	expect(server.requests).toEqual([]);
});
