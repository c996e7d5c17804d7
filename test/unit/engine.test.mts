import { requireStableJournal } from '../../nodes/ResumeManagement/once/journal.ts';
import { writeIdOf } from '../../nodes/ResumeManagement/once/writeId.ts';
import { withRow } from '../../nodes/ResumeManagement/once/withRow.ts';

/** Safeguards for an n8n that works in another way than the versions that the nodes were tested in. */

test('a run whose execution data is copied sends no write', () => {
	const context = { getExecuteData: () => ({}) };
	expect(() => requireStableJournal(context)).toThrow(
		'does not support writes in this version of n8n',
	);
});

const CALL = { json: { email: 'a@example.com' } };
test.each<[type: string, hasArguments: boolean, identity?: unknown]>([
	['x.resumeManagement', false, 3],
	['x.resumeManagementTool', true, CALL.json],
	['x.resumeManagementTool', false],
	['x.resumeManagementAiTool2', true],
])('%s with arguments: %j is identified or refused', (type, hasArguments, expected = undefined) => {
	const context = {
		getNode: () => ({ type }),
		getItemIndex: () => 3,
		getInputData: () => (hasArguments ? CALL : { json: {} }),
	};
	const identity = () => writeIdOf(context as never);
	if (expected) expect(identity()).toBe(expected);
	else expect(identity).toThrow('does not support writes in this version of n8n');
});

test('the node has the name of a row only while the row is asked for', async () => {
	const node = { id: 'n' };
	const context = { helpers: {}, getExecuteData: () => ({ node }) };
	expect(await withRow(context, 'row', async () => node.id)).toBe('row');
	expect(node.id).toBe('n');
	const fail = async () => await Promise.reject(new Error('n8n'));
	await expect(withRow(context, 'row', fail)).rejects.toThrow('n8n');
	expect(node.id).toBe('n');
	await expect(withRow(context, 'row', () => undefined)).rejects.toThrow('no such helper');
});
