import { callTool, loadNodeType } from '../support/engine.mts';
import { offered } from '../support/operations.mts';
import { byEmail } from '../support/parameters.mts';
import { useRawService } from '../support/service.mts';

/** Runs each operation, also one that is added later, through the pipeline: as a node and as an agent's tool. */

const REFUSAL = { status: 'error', errorCode: 'walk-1', errorMessage: 'walked' };
const REFUSED = 'The service reported: walked (walk-1)';
const { credential, requests, run } = useRawService(() => REFUSAL);

test.each(offered())('$resource $value runs as a node and as a tool', async ({ parameters }) => {
	const { error } = await run(parameters);
	expect(error?.message).toBe(REFUSED);
	const own = { ...parameters, toolDescription: 'A tool' };
	const [output] = await callTool({ parameters: own, credential: credential() });
	expect(output!.result).toContain(REFUSED);
	expect(requests).toHaveLength(2);
});

const byUser = offered().filter(({ pathField }) => pathField?.name === 'userId');
test.each(byUser)('$resource $value finds its user by email', async ({ parameters }) => {
	const { error } = await run({ ...parameters, userId: byEmail('ann@b.example') });
	expect(error?.message).toBe(`The list of users could not be read: ${REFUSED}`);
});

test('the notice, the description and the tool description of Send name its effects', async () => {
	const { description } = await loadNodeType('resumeManagement');
	const warnings = JSON.stringify(description).match(/may change or delete data, or bill/g);
	expect(warnings).toHaveLength(3);
});

test.each([
	['user', '__CUSTOM_API_CALL__'],
	['__CUSTOM_API_CALL__', '__CUSTOM_API_CALL__'],
])("%s's %s is refused, and points to custom requests", async (resource, operation) => {
	const { error } = await run({ resource, operation });
	expect(error?.message).toBe('This node has no such operation [item 0]');
	expect(error?.description).toContain('choose the resource Custom Request');
	expect(requests).toEqual([]);
});
