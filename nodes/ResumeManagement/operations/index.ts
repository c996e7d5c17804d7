import type {
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
	INodeType,
} from 'n8n-workflow';

import type { Operation } from '../run/call';
import { get as getCustom } from './customRequest/get';
import { send as sendCustom } from './customRequest/send';
import { upgrade } from './plan/upgrade';
import { create } from './resume/create';
import { download } from './resume/download';
import { get as getResume } from './resume/get';
import { getAll as getAllResumes } from './resume/getAll';
import { getScore } from './resume/getScore';
import { connect } from './user/connect';
import { get as getUser } from './user/get';
import { getAll as getAllUsers } from './user/getAll';
import { getToken } from './user/getToken';

interface Resource {
	option: { name: string; value: string; description: string };
	/** In alphabetical order of their names. */
	operations: Operation[];
	defaultOperation: string;
}

/** Everything that the node offers. A new operation is a file beside the others and a line here. */
export const resources: Resource[] = [
	{
		option: {
			name: 'Custom Request',
			value: 'customRequest',
			description: 'A request to a path of the service that the other resources do not have',
		},
		operations: [getCustom, sendCustom],
		defaultOperation: getCustom.value,
	},
	{
		option: { name: 'Plan', value: 'plan', description: "A user's subscription plan" },
		operations: [upgrade],
		defaultOperation: upgrade.value,
	},
	{
		option: { name: 'Resume', value: 'resume', description: 'A resume that belongs to a user' },
		operations: [create, download, getResume, getAllResumes, getScore],
		defaultOperation: getAllResumes.value,
	},
	{
		option: {
			name: 'User',
			value: 'user',
			description: 'A user of the service, with resumes and a plan',
		},
		operations: [connect, getUser, getAllUsers, getToken],
		defaultOperation: getAllUsers.value,
	},
];

/** The node's parameters, put together from the resources. */
export const properties: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: resources.map(({ option }) => option),
		default: 'user',
		routing: {
			// n8n calls `pagination` only for requests with `paginate`. So all requests come to `runAsSingle`. Otherwise
			// n8n would send a Custom API Call by itself, to any Base URL, and follow redirects with the key.
			send: { paginate: true },
			operations: { pagination: runAsSingle },
		},
	},
	...resources.map(({ option, operations, defaultOperation }): INodeProperties => ({
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [option.value] } },
		options: operations.map(operationOption),
		default: defaultOperation,
	})),
	...resources.flatMap(({ option, operations }) =>
		operations.flatMap((operation) =>
			[toolDescription(operation), ...operation.fields].map((field) =>
				shownFor(field, option.value, operation.value),
			),
		),
	),
];

/** Runs each operation through the pipeline, in place of n8n's loop over declarative nodes. */
export const customOperations: INodeType['customOperations'] = dictionary(
	resources.map(({ option, operations }) => [
		option.value,
		dictionary(
			operations.map((operation) => [
				operation.value,
				async function (this: IExecuteFunctions) {
					const { runItems } = await pipeline();
					return await runItems.call(this, operation);
				},
			]),
		),
	]),
);

/** Without a prototype: n8n looks an operation up by its name, which a workflow may have as `constructor`. */
function dictionary<T>(entries: Array<[string, T]>): Record<string, T> {
	return Object.assign(Object.create(null) as Record<string, T>, Object.fromEntries(entries));
}

function operationOption({
	name,
	value,
	action,
	description,
	builderHint,
	method,
	path,
}: Operation): INodePropertyOptions {
	return {
		name,
		value,
		action,
		description,
		...(builderHint && { builderHint: { propertyHint: builderHint } }),
		routing: { request: { method, url: path } },
	};
}

/** Loads the code that runs operations when the first one runs: n8n, which loads each node, starts sooner. */
async function pipeline() {
	return await import('../run/entry');
}

/** Runs the operation that the parameters name. */
async function runAsSingle(this: IExecutePaginationFunctions): Promise<INodeExecutionData[]> {
	const resource = this.getNodeParameter('resource', '');
	const operation = this.getNodeParameter('operation', '');
	const known = resources
		.find(({ option }) => option.value === resource)
		?.operations.find(({ value }) => value === operation);
	const { runItem } = await pipeline();
	return await runItem.call(this, known);
}

/**
 * Describes the operation to the model of an AI agent, unless the user changes the text. n8n's own text would
 * be the action alone, without its effects and whether it bills (n8n-workflow/src/node-helpers.ts,
 * makeDescription).
 */
function toolDescription({ description }: Operation): INodeProperties {
	return {
		displayName: 'Tool Description',
		name: 'toolDescription',
		type: 'string',
		typeOptions: { rows: 2 },
		default: description,
		displayOptions: { show: { '@tool': [true] } },
		description: 'What the model reads to decide when to call this tool, and what with',
	};
}

function shownFor(field: INodeProperties, resource: string, operation: string): INodeProperties {
	const show = { resource: [resource], operation: [operation], ...field.displayOptions?.show };
	return { ...field, displayOptions: { ...field.displayOptions, show } };
}
