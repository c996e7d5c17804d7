import type { INodeParameters, INodeProperties } from 'n8n-workflow';
import type * as registry from '../../nodes/ResumeManagement/operations/index.ts';
import { requireBuilt } from '../../scripts/built.mts';

/**
 * Returns the operations of the built node, with their fields but for notices, and with a value for each required
 * field. An operation that is added later is tested like the others.
 */
export function offered() {
	const file = 'ResumeManagement/operations/index';
	const { resources } = requireBuilt(file) as typeof registry;
	return resources.flatMap(({ option: { value: resource }, operations }) =>
		operations.map((operation) => {
			const fields = operation.fields.filter(({ type }) => type !== 'notice');
			// Get Token and Connect need an email or a body, so that neither is required by itself.
			const required = fields.filter(({ required, name }) => required || name === 'email');
			const parameters: INodeParameters = {
				resource,
				operation: operation.value,
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
