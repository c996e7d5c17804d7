import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type {
	ICredentialType,
	IDisplayOptions,
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeType,
} from 'n8n-workflow';
import { loadClass, readManifest } from './builtPackage.mts';

/**
 * What a workflow that is saved today relies on tomorrow, a line each: the names, types, defaults and
 * choices in the descriptions of a built package's nodes and credentials. What is shown in certain
 * cases only has its lines for each of them. Texts that people read are not part of it.
 */
export function readPublicNames(packageFolder: string): string[] {
	const { name, n8n } = readManifest(packageFolder);
	const nodes = n8n.nodes.flatMap((file) => {
		const node = loadClass<INodeType>(packageFolder, file);
		const schemas = join(packageFolder, dirname(file), '__schema__');
		return under(`${name}.${node.description.name}`, nodeLines(node, schemas));
	});
	const credentials = n8n.credentials.flatMap((file) => {
		const credential = loadClass<ICredentialType>(packageFolder, file);
		return under(credential.name, parameterLines(credential.properties));
	});
	return [...new Set([...nodes, ...credentials])].sort();
}

/** The end of a line that demands something of saved workflows; every other line promises something. */
export const demand = 'must be filled in';

function under(title: string, lines: string[]): string[] {
	return lines.map((line) => `${title}: ${line}`);
}

function nodeLines({ description }: INodeType, schemas: string): string[] {
	const { version, inputs, outputs, usableAsTool, credentials, webhooks, properties } = description;
	const versions = [version].flat();
	return [
		...versions.map((number) => `version ${number}`),
		...connectionLines('input', inputs),
		...connectionLines('output', outputs),
		...(usableAsTool ? ['is a tool'] : []),
		...(webhooks ?? []).map(({ httpMethod, path }) => `webhook ${httpMethod} ${path}`),
		...(credentials ?? []).flatMap(({ name, required, displayOptions }) =>
			cases(displayOptions, versions).flatMap((one) =>
				under(`credential ${name}${one}`, ['is taken', ...requirement(required)]),
			),
		),
		...parameterLines(properties, versions),
		...globSync('**/*.json', { cwd: schemas }).flatMap((file) => {
			const schema = JSON.parse(readFileSync(join(schemas, file), 'utf8')) as Schema;
			return under(`output of ${file.replace(/\.json$/, '')}`, fieldsOf(schema, ''));
		}),
	];
}

function connectionLines(
	kind: string,
	ends: INodeType['description']['inputs'] | INodeType['description']['outputs'],
): string[] {
	return [ends].flat().map((end, index) => {
		return `${kind} ${index + 1} ${typeof end === 'string' ? end : end.type}`;
	});
}

/** They hold nothing that a workflow keeps. */
const displayTypes = ['notice', 'callout', 'button'];

/** @param versions of the node, for what stands in no other parameter */
function parameterLines(properties: INodeProperties[], versions?: number[]): string[] {
	return properties
		.filter(({ type }) => !displayTypes.includes(type))
		.flatMap((property) =>
			cases(property.displayOptions, versions).flatMap((one) =>
				under(property.name + one, linesOf(property)),
			),
		);
}

function linesOf(property: INodeProperties): string[] {
	const { type, required, noDataExpression, modes = [] } = property;
	const { multipleValues, minValue = 'none', maxValue = 'none' } = property.typeOptions ?? {};
	return [
		`type ${type}${multipleValues ? ', a list' : ''}`,
		`default ${JSON.stringify(property.default)}`,
		...requirement(required, property.default),
		...(noDataExpression ? [] : ['takes an expression']),
		...(type === 'number' ? [`minimum ${minValue}`, `maximum ${maxValue}`] : []),
		...modes.map(({ name }) => `mode ${name}`),
		...heldLines(property),
	];
}

/** What was saved with a default that is a value is filled in already. */
function requirement(required: boolean | undefined, initial?: unknown): string[] {
	if (!required) return ['may be empty'];
	return isEmpty(initial) ? [demand] : [];
}

function isEmpty(value: unknown): boolean {
	if (typeof value !== 'object' || value === null) return (value ?? '') === '';
	return 'value' in value ? isEmpty(value.value) : Object.keys(value).length === 0;
}

/** What can be chosen, or what a collection holds. */
function heldLines({ type, options = [] }: INodeProperties): string[] {
	if (type === 'collection') return parameterLines(options as INodeProperties[]);
	if (type === 'fixedCollection') {
		const groups = options as INodePropertyCollection[];
		return groups.flatMap(({ name, values }) => under(name, parameterLines(values)));
	}
	return (options as INodePropertyOptions[]).map(({ value }) => `value ${JSON.stringify(value)}`);
}

/** A text for each combination of values that shows something; one without conditions where all do. */
function cases({ show = {}, hide }: IDisplayOptions = {}, versions?: number[]): string[] {
	const conditions = { ...(versions && { '@version': versions }), ...show };
	const combinations = Object.entries(conditions)
		.sort(([one], [other]) => (one < other ? -1 : 1))
		.reduce<string[][]>(
			(sofar, [name, values]) =>
				sofar.flatMap((facts) =>
					(values ?? []).map((value) => [...facts, `${name} ${JSON.stringify(value)}`]),
				),
			[[]],
		);
	const hidden = hide ? [`not ${JSON.stringify(hide)}`] : [];
	return combinations.map((facts) => {
		const all = [...facts, ...hidden];
		return all.length > 0 ? ` (${all.join(', ')})` : '';
	});
}

/** The parts of a JSON Schema that name fields. */
interface Schema {
	properties?: Record<string, Schema>;
	items?: Schema;
}

function fieldsOf({ properties = {}, items }: Schema, path: string): string[] {
	if (items !== undefined) return fieldsOf(items, `${path}[]`);
	return Object.entries(properties).flatMap(([name, schema]) => {
		const inner = path === '' ? name : `${path}.${name}`;
		return [inner, ...fieldsOf(schema, inner)];
	});
}
