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

import * as listSearch from './lookup/pickLists';
import { resources } from './operations';
import type { Operation } from './operations/operation';
import { runItems, runSingleItem } from './run/entry';

/*
 * The node is declarative, as n8n asks of a node for an HTTP API: its description declares each request. n8n's own routing does
 * not send them, because it starts all items at once, sends a request again after a 401, and takes each HTTP 200 for a success. So
 * n8n is given two functions of the node in place of it.
 */

/**
 * n8n's first way in, for whole runs (getCustomOperation in n8n-core's workflow-execute.ts): a function for each operation, by
 * the values of resource and operation.
 */
const customOperations: INodeType['customOperations'] = Object.fromEntries(
	resources.map(({ option, operations }) => [
		option.value,
		Object.fromEntries(
			operations.map((operation) => [
				operation.value,
				async function (this: IExecuteFunctions) {
					return await runItems.call(this, operation);
				},
			]),
		),
	]),
);

/**
 * n8n's second way in, for one item, where it does not call `customOperations`: for tools of AI Agent 2 and in its step executor.
 * There, n8n's own routing asks the property that is shown for every operation how to page, and calls `pagination`. Without it, that
 * routing would send the requests itself, take each HTTP 200 for a success, and follow redirects with the private key.
 */
const singleItems: INodeProperties['routing'] = {
	send: { paginate: true },
	operations: { pagination: runFromRouting },
};

/** Runs the saved operation. No expression and no model can choose another: n8n keeps only the fields of the saved one. */
async function runFromRouting(this: IExecutePaginationFunctions): Promise<INodeExecutionData[]> {
	const { resource, operation } = this.getNode().parameters;
	const known = resources
		.find(({ option }) => option.value === resource)
		?.operations.find(({ value }) => value === operation);
	return await runSingleItem.call(this, known);
}

const properties: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: resources.map(({ option }) => option),
		default: 'user',
		routing: singleItems,
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
		...{ name, value, action, description },
		...(builderHint && { builderHint: { propertyHint: builderHint } }),
		// For those who read the description, such as the README's table of operations. The run reads the operation.
		routing: { request: { method, url: path } },
	};
}

/**
 * Replaces the field of this name that n8n adds to tools. n8n's text is the action alone, which does not say that it bills
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
		// Makes the node declarative: n8n calls `customOperations` and `pagination` of no other nodes.
		requestDefaults: { baseURL: '={{ $credentials.baseUrl }}' },
		properties,
	};

	methods = { listSearch };

	customOperations = customOperations;
}
