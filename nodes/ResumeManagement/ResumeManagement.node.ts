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

import { searchResumes, searchUsers } from './lookup/pickLists';
import { resources } from './operations';
import type { Operation } from './operations/operation';
import { runAllItems, runOneItem } from './run/entry';

/*
 * The node is declarative, as n8n recommends for an HTTP API: its description declares each
 * request, in `requestDefaults` and in the `routing` of the operations, for everybody who reads or
 * generates from it. But n8n's own routing would start all items at once, send a request again
 * after a 401, and take each HTTP 200 for a success. So the two functions below send the requests.
 * n8n calls them instead of its routing, in declarative nodes only.
 *
 * In comments of this package, § is a section of the partner API specification;
 * openapi/partner-api.yaml has what it shows.
 */

/**
 * n8n's first entry point: a function for each operation, by the values of resource and operation. n8n
 * calls it with all items of a run (getCustomOperation in n8n-core's workflow-execute.ts).
 */
const customOperations: INodeType['customOperations'] = Object.fromEntries(
	resources.map(({ option, operations }) => [
		option.value,
		Object.fromEntries(
			operations.map((operation) => [
				operation.value,
				async function (this: IExecuteFunctions) {
					return await runAllItems(this, operation);
				},
			]),
		),
	]),
);

/**
 * n8n's second entry point, for one item: its routing calls this function where it does not call
 * `customOperations`, for tools of AI Agent 2 and in its step executor. It runs the operation as it
 * is saved. The JSON of a workflow may have an expression there, and n8n has removed the fields of
 * the operation that it gives.
 */
async function runSavedOperation(this: IExecutePaginationFunctions): Promise<INodeExecutionData[]> {
	const { resource, operation } = this.getNode().parameters;
	const known = resources
		.find(({ option }) => option.value === resource)
		?.operations.find(({ value }) => value === operation);
	return await runOneItem(this, known);
}

const properties: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: resources.map(({ option }) => option),
		default: 'user',
		// Has n8n's routing call `requestOperations.pagination` for every operation, and for n8n's
		// Custom API Call.
		routing: { send: { paginate: true } },
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

function operationOption(operation: Operation): INodePropertyOptions {
	const { name, value, action, description, builderHint, method, path } = operation;
	return {
		name,
		value,
		action,
		description,
		...(builderHint && { builderHint: { propertyHint: builderHint } }),
		routing: { request: { method, url: path } },
	};
}

/**
 * The text by which a model chooses a tool. n8n adds a field of this name to each tool, unless the
 * node has one. Its own text is the action alone, which does not say what an operation changes
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

/**
 * The folder `__schema__` has the operations' outputs that the specification shows: n8n's editor
 * offers their fields before a first run.
 */
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
		// Makes the node declarative: see the top of this file.
		requestDefaults: { baseURL: '={{ $credentials.baseUrl }}' },
		requestOperations: { pagination: runSavedOperation },
		properties,
	};

	methods = { listSearch: { searchUsers, searchResumes } };

	customOperations = customOperations;
}
