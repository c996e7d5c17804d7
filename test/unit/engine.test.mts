import {
	identityOfRun,
	identityOfWrite,
	withCancelSignal,
	withRow,
} from '../../nodes/shared/engine.ts';

/** What happens if n8n works in another way than the versions that the nodes were tested in. */

const node = { id: 'n', name: 'n', type: 'x.resumeManagement' };

test('a run whose execution data is copied is not identified', () => {
	const data = {};
	expect(identityOfRun({ getExecuteData: () => data })).toBe(data);
	expect(identityOfRun({ getExecuteData: () => ({}) })).toBeUndefined();
});

test.each<[type: string, hasArguments: boolean, refused: boolean]>([
	['x.resumeManagement', false, false],
	['x.resumeManagementTool', true, false],
	['x.resumeManagementTool', false, true],
	['x.resumeManagementAiTool2', true, true],
])('a call of %s, with arguments: %j, is refused: %j', (type, hasArguments, refused) => {
	const call = { json: { email: 'a@example.com' } };
	const context = {
		getNode: () => ({ ...node, type }),
		getItemIndex: () => 3,
		getInputData: () => (hasArguments ? call : { json: {} }),
	};
	const identity = () => identityOfWrite(context as never);
	if (refused) expect(identity).toThrow('gives no protection against sending twice');
	else expect(identity()).toBe(hasArguments ? call.json : 3);
});

test('a row is asked for by its name, which the node has only meanwhile', async () => {
	const asked: string[] = [];
	const own = { ...node };
	const context = { helpers: {}, getExecuteData: () => ({ node: own }) };
	const ask = async () => void asked.push(own.id);
	await withRow(context, 'row', ask);
	const fails = async () => {
		await withRow(context, 'row', () => {
			throw new Error('n8n');
		});
	};
	await expect(fails).rejects.toThrow('n8n');
	await expect(withRow(context, 'row', () => undefined)).rejects.toThrow('could not be claimed');
	expect([asked, own.id]).toEqual([['row'], 'n']);
});

test('a context has another cancel signal, and all else of its own', () => {
	const { signal } = new AbortController();
	const context = { helpers: {}, getExecutionCancelSignal: () => undefined };
	const other = withCancelSignal(context, signal);
	expect(other.getExecutionCancelSignal()).toBe(signal);
	expect(other.helpers).toBe(context.helpers);
});
