import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';
import { projectRoot } from '../../host/paths.mts';

interface Operation {
	value: string;
	method: string;
	path: string;
	write?: boolean;
	description: string;
	returns: 'record' | 'list' | 'file';
	fields: INodeProperties[];
}

interface Registry {
	resources: Array<{ option: { value: string }; operations: Operation[] }>;
}

/**
 * Returns the operations of the built node, with their fields but for notices, and with a value for each required
 * field. An operation that is added later is tested like the others.
 */
export function offered() {
	const file = join(projectRoot, 'dist/nodes/ResumeManagement/operations/index.js');
	const { resources } = createRequire(import.meta.filename)(file) as Registry;
	return resources.flatMap(({ option: { value: resource }, operations }) =>
		operations.map((operation) => {
			const fields = operation.fields.filter(({ type }) => type !== 'notice');
			const required = fields.filter((field) => field.required);
			const parameters: INodeParameters = {
				...{ resource, operation: operation.value },
				...Object.fromEntries(required.map((field) => [field.name, valueOf(field)])),
			};
			return { ...operation, resource, fields, parameters };
		}),
	);
}

function valueOf({ type, name, default: initial }: INodeProperties) {
	if (type === 'resourceLocator') return { __rl: true, mode: 'id', value: '1' };
	return name === 'email' ? 'nathan@example.com' : initial || 'value';
}
