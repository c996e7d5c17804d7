import { type INodeProperties, type INodePropertyCollection, NodeHelpers } from 'n8n-workflow';
import { loadNodeType } from '../support/engine.mts';

/** n8n strips the value of a hidden field, by the raw parameters. So a field is hidden only where it has no meaning. */

type Entry = INodeProperties | INodePropertyCollection;

/** Chosen in the editor alone, and the operation's own part of n8n's display: an expression of these is refused. */
const CHOSEN = ['resource', 'operation'];

/** Fill the list to pick from and the model's description. Neither is sent. */
const NEVER_SENT = ['listUserId', 'toolDescription'];

const isEntry = (option: object): option is Entry => 'values' in option || 'type' in option;

function allFields(entries: Entry[]): INodeProperties[] {
	return entries.flatMap((entry) =>
		'values' in entry
			? allFields(entry.values)
			: [entry, ...allFields((entry.options ?? []).filter(isEntry))],
	);
}

const nodes = ['resumeManagement', 'resumeManagementTrigger'];
test.each(nodes)('%s: a field that depends on an expression counts', async (name) => {
	const { description } = await loadNodeType(name);
	const dependent = allFields(description.properties).flatMap((field) => {
		const { show = {}, hide = {} } = field.displayOptions ?? {};
		const { resource: [resource] = [], operation: [operation] = [] } = show;
		return Object.keys({ ...show, ...hide })
			.filter((selector) => !CHOSEN.includes(selector) && !NEVER_SENT.includes(field.name))
			.map((selector) => ({ field, values: { resource, operation, [selector]: '={{ 1 }}' } }));
	});
	expect(dependent.length).toBeGreaterThan(2);
	for (const { field, values } of dependent) {
		for (const type of [name, `${name}Tool`]) {
			const nodeType = { ...description, name: type };
			const isShown = NodeHelpers.displayParameter(values as never, field, null, nodeType);
			expect([type, field.name, values, isShown]).toEqual([type, field.name, values, true]);
		}
	}
});
