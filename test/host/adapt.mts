import type { INode } from 'n8n-workflow';
import type { DataTableColumn, EditorApi } from '../../host/rest.mts';
import { readExamples } from '../../host/workspace.mts';

/**
 * Does to an example's nodes what its note asks of a person who has n8n 1, where the Data Table node
 * makes no tables, and knows none by name.
 */
export async function adaptToN8n1(api: EditorApi, nodes: INode[]): Promise<INode[]> {
	await makeTables(api);
	const tables = await api.listDataTables();
	return nodes.map((node) => {
		if (isMaker(node)) return { ...node, disabled: true };
		const locator = node.parameters.dataTableId;
		if (typeof locator !== 'object' || locator === null || !('value' in locator)) return node;
		const { id, name } = tables.find((table) => table.name === locator.value)!;
		const dataTableId = { __rl: true, mode: 'list', value: id, cachedResultName: name } as const;
		return { ...node, parameters: { ...node.parameters, dataTableId } };
	});
}

const isMaker = ({ type, parameters }: INode) =>
	type === 'n8n-nodes-base.dataTable' && parameters.resource === 'table';

/** The tables that an example makes itself in n8n 2. */
async function makeTables(api: EditorApi): Promise<void> {
	const known = new Set((await api.listDataTables()).map(({ name }) => name));
	for (const { definition } of await readExamples()) {
		for (const { parameters } of definition.nodes.filter(isMaker)) {
			const name = String(parameters.tableName);
			const { column } = parameters.columns as unknown as { column: DataTableColumn[] };
			if (!known.has(name)) await api.createDataTable(name, column);
			known.add(name);
		}
	}
}
