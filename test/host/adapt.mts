import type { INode } from 'n8n-workflow';
import type { EditorApi } from '../../host/rest.mts';

/** Chooses the Data Tables by ID, as the note of an example asks of users of n8n 1, whose node finds none by name. */
export async function adaptToN8n1(api: EditorApi, nodes: INode[]): Promise<INode[]> {
	const tables = await api.listDataTables();
	return nodes.map((node) => {
		const locator = node.parameters.dataTableId;
		if (typeof locator !== 'object' || locator === null || !('value' in locator)) return node;
		const { id, name } = tables.find((table) => table.name === locator.value)!;
		const dataTableId = { __rl: true, mode: 'list', value: id, cachedResultName: name } as const;
		return { ...node, parameters: { ...node.parameters, dataTableId } };
	});
}
