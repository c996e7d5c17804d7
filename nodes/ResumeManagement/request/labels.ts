import type { INodeProperties } from 'n8n-workflow';

/** What a value is that should have been a text or a list. */
export function kindOf(value: unknown): string {
	if (Array.isArray(value)) return 'a list';
	if (typeof value === 'number') return 'a number that has no exact digits';
	return typeof value === 'boolean' ? 'true or false' : 'an object';
}

/** What a user reads beside the parameter: of one in a collection, such as `options.retries`, its own. */
export function labelOf(path: string, fields: INodeProperties['options'] = []): string {
	const [name, ...inner] = path.split('.');
	const field = fields.find((candidate) => candidate.name === name);
	if (!field) return path;
	if (inner.length === 0) return (field as INodeProperties).displayName;
	return labelOf(
		inner.join('.'),
		'values' in field ? field.values : (field as INodeProperties).options,
	);
}
