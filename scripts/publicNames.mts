/**
 * What a workflow that is saved today relies on tomorrow: the names, types, defaults and conditions
 * in the descriptions of the built nodes and credentials. Texts that people read are not part of it.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type {
	ICredentialType,
	IDisplayOptions,
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeType,
} from 'n8n-workflow';

/** A value as JSON holds it. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** Values of other parameters, by their names: see https://docs.n8n.io/integrations/creating-nodes/build/reference/node-base-files/standard-parameters/#displayoptions */
export type Conditions = Record<string, Json[]>;

/** When something is shown: where every entry of `show` and none of `hide` holds. */
export interface Visibility {
	show?: Conditions;
	hide?: Conditions;
}

export interface Parameter extends Visibility {
	name: string;
	type: string;
	default: Json;
	required?: true;
	/** An expression is not accepted. */
	noDataExpression?: true;
	multipleValues?: true;
	minValue?: number;
	maxValue?: number;
	/** What can be chosen. */
	values?: Json[];
	/** Modes of a resource locator. */
	modes?: string[];
	/** What a collection holds. */
	fields?: Parameter[];
	/** What a fixed collection holds, by the names of its groups. */
	groups?: Record<string, Parameter[]>;
}

export interface CredentialUse extends Visibility {
	name: string;
	required?: true;
}

export interface NodeNames {
	versions: number[];
	inputs: string[];
	outputs: string[];
	usableAsTool?: true;
	credentials: CredentialUse[];
	/** Methods and paths of webhooks, which outside services were told. */
	webhooks: string[];
	parameters: Parameter[];
	/** Paths of the output's fields, by the files of `__schema__` that show them. */
	output?: Record<string, string[]>;
}

export interface PublicNames {
	/** Major version of the package that promises them. */
	majorVersion: number;
	/** By node type. */
	nodes: Record<string, NodeNames>;
	/** By credential type. */
	credentials: Record<string, Parameter[]>;
}

/** The parts of a package's `package.json` that n8n and npm act on. */
export interface Manifest {
	name: string;
	version: string;
	n8n: { n8nNodesApiVersion: number; nodes: string[]; credentials: string[] };
}

export function readManifest(packageFolder: string): Manifest {
	return JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as Manifest;
}

/**
 * Loads the class that n8n expects in a file: the one that is named like it
 * (n8n-core/dist/nodes-loader/directory-loader.js).
 *
 * @throws {Error} where the file can't be loaded or has no such class
 */
export function loadClass<Instance>(packageFolder: string, file: string): Instance {
	const path = join(packageFolder, file);
	const name = basename(file).split('.')[0] ?? '';
	const exported = createRequire(path)(path) as Record<string, new () => Instance>;
	const found = exported[name];
	if (typeof found !== 'function') throw new Error(`${file} exports no class ${name}`);
	return new found();
}

/** Reads the public names of a built package. */
export function readPublicNames(packageFolder: string): PublicNames {
	const { name, version, n8n } = readManifest(packageFolder);
	const nodes = n8n.nodes.map((file): [string, NodeNames] => {
		const node = loadClass<INodeType>(packageFolder, file);
		const schemas = join(packageFolder, dirname(file), '__schema__');
		return [`${name}.${node.description.name}`, nodeNames(node, schemas)];
	});
	const credentials = n8n.credentials.map((file): [string, Parameter[]] => {
		const credential = loadClass<ICredentialType>(packageFolder, file);
		return [credential.name, parameters(credential.properties)];
	});
	return {
		majorVersion: Number(version.split('.')[0]),
		nodes: sortedByKey(nodes),
		credentials: sortedByKey(credentials),
	};
}

function nodeNames({ description }: INodeType, schemas: string): NodeNames {
	const { version, inputs, outputs, usableAsTool, credentials, webhooks, properties } = description;
	return {
		versions: [version].flat().sort((a, b) => a - b),
		inputs: connections(inputs),
		outputs: connections(outputs),
		...(usableAsTool && { usableAsTool: true }),
		credentials: (credentials ?? []).map(({ name, required, displayOptions }) => ({
			name,
			...(required && { required }),
			...visibility(displayOptions),
		})),
		webhooks: (webhooks ?? []).map(({ httpMethod, path }) => `${httpMethod} ${path}`).sort(),
		parameters: parameters(properties),
		...(existsSync(schemas) && { output: outputFields(schemas) }),
	};
}

function connections(
	ends: INodeType['description']['inputs'] | INodeType['description']['outputs'],
): string[] {
	if (typeof ends === 'string') return [ends];
	return ends.map((end) => (typeof end === 'string' ? end : end.type));
}

/** They hold nothing that a workflow keeps. */
const displayTypes = ['notice', 'callout', 'button'];

function parameters(properties: INodeProperties[]): Parameter[] {
	return properties
		.filter(({ type }) => !displayTypes.includes(type))
		.map(parameter)
		.sort(by(({ name, show, hide }) => JSON.stringify([name, show ?? {}, hide ?? {}])));
}

function parameter(property: INodeProperties): Parameter {
	const { name, type, required, noDataExpression, typeOptions = {}, displayOptions } = property;
	const { multipleValues, minValue, maxValue } = typeOptions;
	return {
		name,
		type,
		default: json(property.default ?? null),
		...visibility(displayOptions),
		...(required && { required }),
		...(noDataExpression && { noDataExpression }),
		...(multipleValues && { multipleValues }),
		...(minValue !== undefined && { minValue }),
		...(maxValue !== undefined && { maxValue }),
		...(property.modes && { modes: property.modes.map((mode) => mode.name).sort() }),
		...held(property),
	};
}

function held({ type, options }: INodeProperties): Pick<Parameter, 'values' | 'fields' | 'groups'> {
	if (options === undefined) return {};
	if (type === 'collection') return { fields: parameters(options as INodeProperties[]) };
	if (type === 'fixedCollection') {
		const groups = options as INodePropertyCollection[];
		return { groups: sortedByKey(groups.map(({ name, values }) => [name, parameters(values)])) };
	}
	const values = (options as INodePropertyOptions[]).map(({ value }) => value);
	return { values: values.sort(by(JSON.stringify)) };
}

function visibility({ show, hide }: IDisplayOptions = {}): Visibility {
	return {
		...(show && { show: conditions(show) }),
		...(hide && { hide: conditions(hide) }),
	};
}

function conditions(one: Record<string, unknown[] | undefined>): Conditions {
	return sortedByKey(
		Object.entries(one).map(([name, values = []]) => [
			name,
			values.map(json).sort(by(JSON.stringify)),
		]),
	);
}

/** Reads the schemas of a node's output, `<version>/<resource>/<operation>.json`. */
function outputFields(folder: string): Record<string, string[]> {
	return sortedByKey(
		globSync('**/*.json', { cwd: folder }).map((file) => {
			const schema = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Schema;
			return [file.replace(/\.json$/, ''), schemaFields(schema, '').sort()];
		}),
	);
}

/** The parts of a JSON Schema that name fields. */
interface Schema {
	properties?: Record<string, Schema>;
	items?: Schema;
}

function schemaFields({ properties = {}, items }: Schema, path: string): string[] {
	if (items !== undefined) return schemaFields(items, `${path}[]`);
	return Object.entries(properties).flatMap(([name, schema]) => {
		const inner = path === '' ? name : `${path}.${name}`;
		return [inner, ...schemaFields(schema, inner)];
	});
}

function json(value: unknown): Json {
	return JSON.parse(JSON.stringify(value)) as Json;
}

/** The order of file systems and of declarations must not show up as a difference. */
function sortedByKey<Value>(entries: Array<[string, Value]>): Record<string, Value> {
	return Object.fromEntries(entries.sort(by(([key]) => key)));
}

/** Compares by a text, the same on every machine whatever its language. */
function by<Item>(text: (item: Item) => string): (a: Item, b: Item) => number {
	return (a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
}
