/** The tables of the pages that are made from what the built action node offers and can fail with. */
import { join } from 'node:path';
import type { INodeProperties, INodePropertyOptions, INodeType } from 'n8n-workflow';
import { table } from './blocks.mts';
import { loadClass, readManifest, requireBuilt } from './builtPackage.mts';

/** An operation as the editor offers it. */
export interface OfferedOperation {
	resource: string;
	name: string;
	/** Method and path, as the partner API specification writes them (§4). */
	request: string;
	description: string;
}

/** Every operation, in the editor's order. */
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

type Failures = Record<string, [message: string, description: string]>;

/** All failures, by their IDs. */
export function readFailures(packageFolder: string): Failures {
	const file = join(packageFolder, 'dist', 'nodes', 'shared', 'failures.js');
	return (requireBuilt(file) as { FAILURES: Failures }).FAILURES;
}

/** A text as people read it, with `…` for what is put in. */
export const shown = (text: string) => text.replace(/(\{\w+\})+/g, '…');

/** The README's table of operations, and in docs/errors.md one for each first part of the failures' IDs. */
export function generatedTables(packageFolder: string) {
	const operations = readOperations(packageFolder).map(
		({ resource, name, request, description }) => [resource, name, `\`${request}\``, description],
	);
	const groups = Object.groupBy(
		Object.entries(readFailures(packageFolder)),
		([id]) => id.split('.')[0]!,
	);
	const failures = Object.entries(groups).map(([group, found]) => {
		const rows = found!.map(([id, texts]) => {
			const [message, description] = texts.map(shown);
			return [`\`${message}\``, description!, `\`${id}\``];
		});
		const content = table([['Message', 'What to do', 'ID'], ...rows]);
		return { page: 'docs/errors.md', block: `failures-${group}`, content };
	});
	const head = ['Resource', 'Operation', 'Request', 'What it does'];
	return [
		{ page: 'README.md', block: 'operations', content: table([head, ...operations]) },
		...failures,
	];
}
