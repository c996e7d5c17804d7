/** The README's table of operations, made from the description of the built node. */
import type { INodeProperties, INodePropertyOptions, INodeType } from 'n8n-workflow';
import { table, withBlock } from './blocks.mts';
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
	const choices = (name: string, shownFor: Record<string, unknown> = {}) =>
		properties
			.filter((one) => one.name === name && isShown(one, shownFor))
			.flatMap(({ options }) => options as INodePropertyOptions[]);
	return choices('resource').flatMap((resource) =>
		choices('operation', { resource: resource.value }).map((operation) => {
			const { name, value, description = '', routing } = operation;
			// Where the user chooses it, all that there are.
			const methods = choices('method', { resource: resource.value, operation: value });
			const method = methods.map((one) => one.name).join(', ') || routing?.request?.method;
			const request = `${method} ${routing?.request?.url}`;
			return { resource: resource.name, name, request, description };
		}),
	);
}

function isShown({ displayOptions }: INodeProperties, chosen: Record<string, unknown>): boolean {
	const { show } = displayOptions ?? {};
	return Object.entries(chosen).every(([name, value]) => show?.[name]?.includes(value as never));
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
