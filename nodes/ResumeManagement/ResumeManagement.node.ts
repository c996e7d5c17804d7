import {
	type IExecuteFunctions,
	type IExecutePaginationFunctions,
	type INodeExecutionData,
	type INodeProperties,
	type INodePropertyOptions,
	type INodeType,
	type INodeTypeDescription,
	NodeConnectionTypes,
	updateDisplayOptions,
} from 'n8n-workflow';

import * as listSearch from './listSearch';
import { resources } from './operations';
import type { Operation } from './operations/operation';
import { runItems, runSingleItem } from './run/entry';

const properties: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: resources.map(({ option }) => option),
		default: 'user',
		routing: {
			// n8n calls `customOperations`, but for tools of AI Agent 2 and in its step executor `pagination`, if `paginate` is set.
			// Otherwise n8n itself would send a Custom API Call to any Base URL, and follow redirects with the key.
			send: { paginate: true },
			operations: { pagination: runFromRouting },
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
			updateDisplayOptions({ show: { resource: [option.value], operation: [operation.value] } }, [
				toolDescription(operation),
				...operation.fields,
			]),
		),
	),
];

/** Runs each operation through the pipeline, in place of n8n's loop over declarative nodes. */
const customOperations: INodeType['customOperations'] = dictionary(
	resources.map(({ option, operations }) => [
		option.value,
		dictionary(
			operations.map((operation) => [
				operation.value,
				async function (this: IExecuteFunctions) {
					return await runItems.call(this, operation);
				},
			]),
		),
	]),
);

/** Without a prototype: n8n looks up an operation by name (n8n-core's workflow-execute.ts), which may be `constructor`. */
function dictionary<T>(entries: Array<[string, T]>): Record<string, T> {
	return Object.assign(Object.create(null) as Record<string, T>, Object.fromEntries(entries));
}

function operationOption(operation: Operation): INodePropertyOptions {
	const { name, value, action, description, builderHint, method, path } = operation;
	return {
		...{ name, value, action, description },
		...(builderHint && { builderHint: { propertyHint: builderHint } }),
		// Declares the request, as in each declarative node. At run time, the pipeline reads the operation itself.
		routing: { request: { method, url: path } },
	};
}

/** Runs the saved operation. No expression and no model can choose another: n8n keeps only the fields of the saved one. */
async function runFromRouting(this: IExecutePaginationFunctions): Promise<INodeExecutionData[]> {
	const { resource, operation } = this.getNode().parameters;
	const known = resources
		.find(({ option }) => option.value === resource)
		?.operations.find(({ value }) => value === operation);
	return await runSingleItem.call(this, known);
}

/**
 * Describes the operation to an AI agent's model. n8n's own text is the action alone, which does not say that it bills
 * (`makeDescription` in n8n-workflow/src/node-helpers.ts).
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

export class ResumeManagement implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Resume Management',
		name: 'resumeManagement',
		icon: {
			light: 'file:../../icons/resumeManagement.svg',
			dark: 'file:../../icons/resumeManagement.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
		description:
			'Read users, resumes and resume scores, create resumes and upgrade subscription plans of the resume-management service',
		defaults: { name: 'Resume Management' },
		usableAsTool: true,
		builderHint: {
			searchHint:
				'Plan → Upgrade bills. A run sends writes one after the other. An upgrade with an unknown outcome is an error that must never be retried automatically.',
		},
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'resumeManagementApi', required: true }],
		// Makes the node declarative for n8n, which calls `customOperations` and `pagination` of no other nodes.
		requestDefaults: { baseURL: '={{ $credentials.baseUrl }}' },
		properties,
	};

	methods = { listSearch };

	customOperations = customOperations;
}
