/** The README's table of operations, made from the description of the built node. */
import type { INodeProperties, INodePropertyOptions, INodeType } from 'n8n-workflow';
import { withBlock } from './blocks.mts';
import { loadClass, readManifest } from './builtPackage.mts';

/** An operation as the editor offers it. */
export interface OfferedOperation {
	resource: string;
	name: string;
	/** Method and path, as the partner API specification writes them (§4). */
	request: string;
	description: string;
}

/** Every operation of the built action node, in the editor's order. */
export function readOperations(packageFolder: string): OfferedOperation[] {
	const file = readManifest(packageFolder).n8n.nodes.find((path) => !path.includes('Trigger'));
	const { properties } = loadClass<INodeType>(packageFolder, file!).description;
	const choices = (name: string, resource?: string) =>
		properties
			.filter((one) => one.name === name && (!resource || shows(one, resource)))
			.flatMap(({ options }) => options as INodePropertyOptions[]);
	return choices('resource').flatMap((resource) =>
		choices('operation', String(resource.value)).map(({ name, description = '', routing }) => ({
			resource: resource.name,
			name,
			request: `${routing?.request?.method} ${routing?.request?.url}`,
			description,
		})),
	);
}

function shows({ displayOptions }: INodeProperties, resource: string): boolean {
	return displayOptions?.show?.resource?.includes(resource) === true;
}

/**
 * The README with its table of operations as the built node has them.
 *
 * @throws {Trouble} where the README has no place for the table
 */
export function withOperations(readme: string, packageFolder: string): string {
	const rows = readOperations(packageFolder).map(({ resource, name, request, description }) => [
		resource,
		name,
		`\`${request}\``,
		description,
	]);
	const lines = table([['Resource', 'Operation', 'Request', 'What it does'], ...rows]);
	return withBlock(readme, 'operations', lines);
}

/** In the form that prettier leaves alone. */
function table([head = [], ...rows]: string[][]): string {
	const widths = head.map((_, column) =>
		Math.max(...[head, ...rows].map((row) => row[column]!.length)),
	);
	const rule = widths.map((width) => '-'.repeat(width));
	return [head, rule, ...rows]
		.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`)
		.join('\n');
}
