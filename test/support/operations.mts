import { createRequire } from 'node:module';
import { join } from 'node:path';

import type { INodeParameters, INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { loadNodeType, PACKAGE_ROOT } from './engine.mts';

/** An operation as the built node offers it. */
export interface OfferedOperation {
	resource: string;
	operation: string;
	description: string;
	method: string;
	path: string;
	/** Whether the service changes something. */
	write: boolean;
	answer: 'record' | 'list' | 'file';
	notices: string[];
	/** Without what only says something. */
	fields: INodeProperties[];
	/** With a value for each field that is required. */
	parameters: INodeParameters;
}

/** Of the built node's own list, what its description does not show. */
interface Registry {
	resources: Array<{
		option: { value: string };
		operations: Array<Pick<OfferedOperation, 'answer'> & { value: string; write?: boolean }>;
	}>;
}

/** Every operation of the built node: one that is added later is tested like the others. */
export async function offered(): Promise<OfferedOperation[]> {
	const { properties } = (await loadNodeType('resumeManagement')).description;
	const file = join(PACKAGE_ROOT, 'dist/nodes/ResumeManagement/operations/index.js');
	const { resources } = createRequire(import.meta.filename)(file) as Registry;
	return resources.flatMap(({ option, operations }) =>
		operations.map(({ value: operation, write = false, answer }) => {
			const resource = option.value;
			const shown = properties.filter(({ displayOptions: { show } = {} }) => {
				return show?.resource?.includes(resource) && show.operation?.includes(operation);
			});
			const choices = properties.find(({ name, displayOptions }) => {
				return name === 'operation' && displayOptions?.show?.resource?.includes(resource);
			})!.options as INodePropertyOptions[];
			const { description, routing } = choices.find(({ value }) => value === operation)!;
			const fields = shown.filter(
				({ type, name }) => type !== 'notice' && name !== 'toolDescription',
			);
			const required = fields.filter((field) => field.required);
			return {
				resource,
				operation,
				description: description!,
				method: String(routing!.request!.method),
				path: String(routing!.request!.url),
				write,
				answer,
				notices: shown.filter(({ type }) => type === 'notice').map((field) => field.displayName),
				fields,
				parameters: {
					resource,
					operation,
					...Object.fromEntries(required.map((field) => [field.name, valueOf(field)])),
				},
			};
		}),
	);
}

function valueOf({ type, name, default: initial }: INodeProperties) {
	if (type === 'resourceLocator') return { __rl: true, mode: 'id', value: '1' };
	return name === 'email' ? 'nathan@example.com' : initial || 'value';
}
