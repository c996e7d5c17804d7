import { createRequire } from 'node:module';
import { join } from 'node:path';

import type { INodeParameters, INodeProperties } from 'n8n-workflow';

import { PACKAGE_ROOT } from './engine.mts';

interface Operation {
	value: string;
	description: string;
	method: string;
	path: string;
	/** Whether the service changes something. */
	write?: boolean;
	answer: 'record' | 'list' | 'file';
	fields: INodeProperties[];
}

/** The list that the node's description is made of. */
interface Registry {
	resources: Array<{ option: { value: string }; operations: Operation[] }>;
}

/**
 * Every operation of the built node, so that one that is added later is tested like the others: with its
 * fields, without the notices among them, and with a value for each field that is required.
 */
export function offered() {
	const file = join(PACKAGE_ROOT, 'dist/nodes/ResumeManagement/operations/index.js');
	const { resources } = createRequire(import.meta.filename)(file) as Registry;
	return resources.flatMap(({ option: { value: resource }, operations }) =>
		operations.map((one) => {
			const notices = one.fields.filter(({ type }) => type === 'notice');
			const fields = one.fields.filter(({ type }) => type !== 'notice');
			const required = fields.filter((field) => field.required);
			const values = required.map((field) => [field.name, valueOf(field)]);
			const parameters: INodeParameters = {
				...{ resource, operation: one.value },
				...Object.fromEntries(values),
			};
			return { ...one, resource, fields, notices, parameters };
		}),
	);
}

function valueOf({ type, name, default: initial }: INodeProperties) {
	if (type === 'resourceLocator') return { __rl: true, mode: 'id', value: '1' };
	return name === 'email' ? 'nathan@example.com' : initial || 'value';
}
