import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';

/** Fields that several operations share. Each operation's own stand in its file. */

export const userId: INodeProperties = {
	displayName: 'User',
	name: 'userId',
	type: 'resourceLocator',
	default: { mode: 'list', value: '' },
	required: true,
	description: 'The user to work with',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Select a user…',
			typeOptions: { searchListMethod: 'searchUsers', searchable: true },
		},
		{ displayName: 'By ID', name: 'id', type: 'string', placeholder: 'e.g. 42' },
	],
};

/** Only the picker of resumes reads it: the service lists resumes by user (specification, §4.2). */
const listUserId: INodeProperties = {
	...userId,
	displayName: 'Resumes of User',
	name: 'listUserId',
	required: undefined,
	description: 'The user whose resumes the list below offers. It is not sent with the request.',
};

const resumeLocator: INodeProperties = {
	displayName: 'Resume',
	name: 'resumeId',
	type: 'resourceLocator',
	typeOptions: { loadOptionsDependsOn: ['listUserId.value'] },
	default: { mode: 'list', value: '' },
	required: true,
	description: 'The resume to work with',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Select a resume…',
			typeOptions: { searchListMethod: 'searchResumes', searchable: true },
		},
		{ displayName: 'By ID', name: 'id', type: 'string', placeholder: 'e.g. 1337' },
	],
};

export const resumeId: INodeProperties[] = [
	{ ...listUserId, displayOptions: { show: { '/resumeId.mode': ['list'] } } },
	resumeLocator,
];

export const simplify: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

export const returnAllOrLimit: INodeProperties[] = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
	},
	{
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 50,
		displayOptions: { show: { returnAll: [false] } },
		description: 'Max number of results to return',
	},
];

/** The body of a request whose fields the specification does not show (§4.2). */
export const bodyFields: INodeProperties[] = [
	{
		displayName: 'Specify Body',
		name: 'specifyBody',
		type: 'options',
		options: [
			{ name: 'Using Fields Below', value: 'fields' },
			{ name: 'Using JSON', value: 'json' },
		],
		default: 'fields',
		description:
			'How to enter what is sent. Your account manager knows which fields the service expects.',
	},
	{
		displayName: 'Body Fields',
		name: 'bodyFields',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add Field',
		default: {},
		displayOptions: { show: { specifyBody: ['fields'] } },
		options: [
			{
				displayName: 'Field',
				name: 'field',
				values: [
					{
						displayName: 'Name',
						name: 'name',
						type: 'string',
						default: '',
						placeholder: 'e.g. title',
					},
					{ displayName: 'Value', name: 'value', type: 'string', default: '' },
				],
			},
		],
	},
	{
		displayName: 'JSON Body',
		name: 'jsonBody',
		type: 'json',
		default: '{}',
		displayOptions: { show: { specifyBody: ['json'] } },
		description: 'The object to send, as JSON or from an expression',
	},
];

const maxParallelRequests: INodeProperties = {
	displayName: 'Max Parallel Requests',
	name: 'maxParallelRequests',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 32,
	description: 'How many items to request side by side',
};

const queryParameters: INodeProperties = {
	displayName: 'Query Parameters',
	name: 'queryParameters',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Parameter',
	default: {},
	description: 'Parameters to add to the URL, as your account manager named them',
	options: [
		{
			displayName: 'Parameter',
			name: 'parameter',
			values: [
				{
					displayName: 'Name',
					name: 'name',
					type: 'string',
					default: '',
					placeholder: 'e.g. search',
				},
				{ displayName: 'Value', name: 'value', type: 'string', default: '' },
			],
		},
	],
};

const retries: INodeProperties = {
	displayName: 'Retries',
	name: 'retries',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 10 },
	default: 2,
	description:
		'How often to repeat a request that the service did not answer, or answered with HTTP 429, 500, 502, 503 or 504',
};

export const itemsPath: INodeProperties = {
	displayName: 'Items Path',
	name: 'itemsPath',
	type: 'string',
	default: '',
	placeholder: 'e.g. data.users',
	description:
		'Where the answer holds its list. Leave it empty to find it in data, or in the only list that the answer has.',
};

/** How to read a list page by page, which the specification does not show: see docs/lists.md. */
export const pagination: INodeProperties = {
	displayName: 'Pagination',
	name: 'pagination',
	type: 'fixedCollection',
	placeholder: 'Add Pagination',
	default: { pagination: {} },
	description:
		'Read the list page by page, as your account manager described it. Without this option, one request is sent.',
	options: [
		{
			displayName: 'Pagination',
			name: 'pagination',
			values: [
				{
					displayName: 'Advance By',
					name: 'mode',
					type: 'options',
					options: [
						{
							name: 'Cursor',
							value: 'cursor',
							description: 'Each answer names the cursor of the next page',
						},
						{
							name: 'Offset',
							value: 'offset',
							description: 'Each page is asked for by the number of records before it',
						},
						{
							name: 'Page Number',
							value: 'pageNumber',
							description: 'Each page is asked for by its number',
						},
					],
					default: 'pageNumber',
					description: 'How the service tells pages apart',
				},
				{
					displayName: 'Cursor Path',
					name: 'cursorPath',
					type: 'string',
					default: '',
					placeholder: 'e.g. data.nextCursor',
					displayOptions: { show: { mode: ['cursor'] } },
					description:
						'Where each answer holds the cursor of the next page. The list ends where it is missing or empty.',
				},
				{
					displayName: 'First Offset',
					name: 'firstOffset',
					type: 'number',
					typeOptions: { minValue: 0 },
					default: 0,
					displayOptions: { show: { mode: ['offset'] } },
					description: 'The offset of the first page',
				},
				{
					displayName: 'First Page',
					name: 'firstPage',
					type: 'number',
					typeOptions: { minValue: 0 },
					default: 1,
					displayOptions: { show: { mode: ['pageNumber'] } },
					description: 'The number of the first page',
				},
				{
					displayName: 'Max Pages',
					name: 'maxPages',
					type: 'number',
					typeOptions: { minValue: 1 },
					default: 100,
					description: 'A list that has not ended after this many pages is an error',
				},
				{
					displayName: 'Page Size',
					name: 'pageSize',
					type: 'number',
					typeOptions: { minValue: 1 },
					default: 100,
					displayOptions: { hide: { sizeParameterName: [''] } },
					description: 'How many records to ask for with each page',
				},
				{
					displayName: 'Parameter Name',
					name: 'parameterName',
					type: 'string',
					default: '',
					placeholder: 'e.g. page',
					description: 'The query parameter that carries the page number, offset or cursor',
				},
				{
					displayName: 'Size Parameter',
					name: 'sizeParameterName',
					type: 'string',
					default: '',
					placeholder: 'e.g. limit',
					description: 'The query parameter that carries the page size. Left out when empty.',
				},
			],
		},
	],
};

/** The Options collection: what every read offers, and what the operation adds. */
export function readOptions(...own: INodeProperties[]): INodeProperties {
	return options(maxParallelRequests, queryParameters, retries, ...own);
}

/** An Options collection, in the alphabetical order that n8n asks for. */
export function options(...entries: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: entries.sort((a, b) => a.displayName.localeCompare(b.displayName)) as
			INodeProperties[] | INodePropertyCollection[],
	};
}
