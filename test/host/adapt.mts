import type { INode } from 'n8n-workflow';
import type { EditorApi } from '../../host/rest.mts';

/**
 * Does to an example's nodes what its note asks of a person who has n8n 1, where the Data Table node
 * knows no table by name.
 */
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
