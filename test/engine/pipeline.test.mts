import { loadNodeType } from '../support/engine.mts';
import { offered } from '../support/operations.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/**
 * Walks the node's operations, so that an operation that is added later is tested as well: it runs through the pipeline, as
 * a node and as an agent's tool.
 */

const REFUSAL = { status: 'error', errorCode: 'walk-1', errorMessage: 'walked' };
const REFUSED = 'The service reported: walked (walk-1)';
let answer: unknown = REFUSAL;
beforeEach(() => (answer = REFUSAL));
const { credential, requests, run, tool } = useRawService(() => answer);

const operations = offered();

test.each(operations)(
	"$resource $value runs through the pipeline, also as an agent's tool",
	async ({ write, parameters }) => {
		const { error } = await run(parameters);
		expect(error?.message).toBe(REFUSED);
		const [output] = await tool(parameters);
		expect(output!.answer).toContain(REFUSED);
		expect(requests).toHaveLength(2);

		// Only reads are repeated after a failure that may pass.
		requests.length = 0;
		answer = http(503, { 'Retry-After': '0.001' });
		const { error: failure } = await run(parameters);
		const unknown = write ? 'Outcome unknown: ' : '';
		expect(failure?.message).toBe(`${unknown}The service is not available (HTTP 503)`);
		if (write) expect(failure?.description).not.toMatch(/try again/i);
		expect(requests).toHaveLength(write ? 1 : 3);

		// The key is not sent to a Base URL without a version.
		requests.length = 0;
		const unfit = { ...credential(), baseUrl: credential().baseUrl.replace('/v1', '') };
		const { error: refusal } = await run(parameters, { credential: unfit });
		expect(refusal?.message).toBe("The credential's Base URL can't be used [item 0]");
		expect(requests).toEqual([]);
	},
);

test('the notice, the description and the tool description of Send name its effects', async () => {
	const { description } = await loadNodeType('resumeManagement');
	const warnings = JSON.stringify(description).match(/may change or delete data, or bill/g);
	expect(warnings).toHaveLength(3);
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
