import {
	type INodeParameters,
	type INodeProperties,
	type INodePropertyCollection,
	NodeHelpers,
} from 'n8n-workflow';
import { loadNodeType } from '../support/engine.mts';

/** n8n strips the value of a hidden field, by the raw parameters. So a field is hidden only where it has no meaning. */

type Entry = INodeProperties | INodePropertyCollection;

interface Hidden {
	path: string[];
	field: INodeProperties;
	selector: string;
	chosen: INodeParameters;
}

/** Chosen in the editor alone, and the operation's own part of n8n's display: an expression of these is refused. */
const CHOSEN = ['resource', 'operation'];

/** Fill the list to pick from and the model's description. Neither is sent. */
const NEVER_SENT = ['listUserId', 'toolDescription'];

function hiddenFields(
	fields: Entry[],
	path: string[] = [],
	chosen: INodeParameters = {},
): Hidden[] {
	return fields.flatMap((entry) => {
		const inner = [...path, entry.name];
		if ('values' in entry) return hiddenFields(entry.values, inner, chosen);
		const { show = {}, hide = {} } = entry.displayOptions ?? {};
		const { resource: [resource] = [], operation: [operation] = [] } = show;
		const own = (resource ? { resource, operation } : chosen) as INodeParameters;
		const selectors = [...Object.keys(show), ...Object.keys(hide)].filter(
			(selector) => !CHOSEN.includes(selector) && !NEVER_SENT.includes(entry.name),
		);
		return [
			...selectors.map((selector) => ({ path: inner, field: entry, selector, chosen: own })),
			...hiddenFields((entry.options ?? []).filter(isEntry), inner, own),
		];
	});
}

function isEntry(option: object): option is Entry {
	return 'values' in option || 'type' in option;
}

test.each(['resumeManagement', 'resumeManagementTrigger'])(
	'%s: each field that depends on another one counts if that one is an expression',
	async (name) => {
		const { description } = await loadNodeType(name);
		const hidden = hiddenFields(description.properties);
		expect(hidden.length).toBeGreaterThan(3);
		for (const { path, field, selector, chosen } of hidden) {
			const value = sampleOf(field);
			const around = [...path];
			const beside = { [around.pop()!]: value, [selector]: '={{ $json.chosen }}' };
			const nested = around.reduceRight<object>((inner, one) => ({ [one]: inner }), beside);
			const given = { ...chosen, ...nested } as INodeParameters;
			for (const type of [name, `${name}Tool`]) {
				const nodeType = { ...description, name: type };
				const { properties } = description;
				const kept = NodeHelpers.getNodeParameters(properties, given, true, false, null, nodeType);
				const text = expect.stringContaining(JSON.stringify(value)) as unknown;
				expect([type, path, JSON.stringify(kept)]).toEqual([type, path, text]);
			}
		}
	},
);

function sampleOf({ type, options }: INodeProperties): unknown {
	if (type === 'number') return 77;
	const group = options?.[0]?.name ?? '';
	return type === 'fixedCollection' ? { [group]: [{ name: 'sample', value: 'x' }] } : 'sample';
}
