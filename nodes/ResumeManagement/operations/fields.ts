import type { INodeProperties } from 'n8n-workflow';

/* Fields that several operations share. The file of an operation has its own fields. */

/**
 * An operation with this field needs `lookupOptions`, too: test/engine/pipeline.test.mts looks
 * users up by email.
 */
export const userId: INodeProperties = {
	displayName: 'User',
	name: 'userId',
	type: 'resourceLocator',
	default: { mode: 'list', value: '' },
	required: true,
	description:
		'The user to work with. By Email looks up the ID in the list of users, which the node reads once a run.',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Select a user…',
			typeOptions: { searchListMethod: 'searchUsers', searchable: true },
		},
		{ displayName: 'By ID', name: 'id', type: 'string', placeholder: 'e.g. user-001' },
		{
			displayName: 'By Email',
			name: 'email',
			type: 'string',
			placeholder: 'e.g. nathan@example.com',
			hint: 'Reads the whole list of users once a run. With a long list, By ID is faster.',
		},
	],
};

/** Only the picker of resumes reads it: the service lists resumes by user (specification, §4.2). */
const listUserId: INodeProperties = {
	...userId,
	displayName: 'Resumes of User',
	name: 'listUserId',
	required: false,
	description: 'The user whose resumes the list of Resume offers. Not sent with the request.',
	hint: 'Only fills the list above',
	modes: userId.modes!.filter(({ name }) => name !== 'email'),
};

export const resumeId: INodeProperties = {
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
		{ displayName: 'By ID', name: 'id', type: 'string', placeholder: 'e.g. resume-001' },
	],
};

export const resumePicker: INodeProperties[] = [
	resumeId,
	{ ...listUserId, displayOptions: { show: { '/resumeId.mode': ['list'] } } },
];

export const customPath: INodeProperties = {
	displayName: 'Path',
	name: 'path',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. /users',
	description: "Path below the credential's Base URL. Put query parameters in Query Parameters.",
};

export const simplify: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

const nameAndValue = (placeholder: string): INodeProperties[] => [
	{ displayName: 'Name', name: 'name', type: 'string', default: '', placeholder },
	{ displayName: 'Value', name: 'value', type: 'string', default: '' },
];

/** Body of a request whose fields the specification does not show (§4.2). */
export const bodyInputs: INodeProperties[] = [
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
			'How to enter the body. Ask your account manager which fields the service expects.',
	},
	{
		displayName: 'Body Fields',
		name: 'bodyFields',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add Field',
		default: {},
		displayOptions: { show: { specifyBody: ['fields'] } },
		options: [{ displayName: 'Field', name: 'field', values: nameAndValue('e.g. title') }],
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

/**
 * once/claims.ts keeps its promise. It is always shown, in tools too: n8n drops the value of a
 * field that it hides.
 */
export const sendOnceKey: INodeProperties = {
	displayName: 'Send Once Key',
	name: 'sendOnceKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. pay_1001',
	description:
		'ID of what this item is for, such as a payment, never the email. The request is carried out at most once for each key, in all executions of this workflow. The same request with this key then returns alreadySent: true. Any other request with this key is an error.',
};

const maxParallelRequests: INodeProperties = {
	displayName: 'Max Parallel Requests',
	name: 'maxParallelRequests',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 64,
	description: 'How many requests may be open at the same time',
};

export const queryParameters: INodeProperties = {
	displayName: 'Query Parameters',
	name: 'queryParameters',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Parameter',
	default: {},
	description: 'Parameters to add to the URL, as your account manager named them',
	options: [{ displayName: 'Parameter', name: 'parameter', values: nameAndValue('e.g. search') }],
};

const retries: INodeProperties = {
	displayName: 'Retries',
	name: 'retries',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 10 },
	default: 2,
	description:
		'How often to repeat a request that got no response, or one with HTTP 429, 500, 502, 503 or 504',
};

export const fieldsToReturn: INodeProperties = {
	displayName: 'Fields to Return',
	name: 'fieldsToReturn',
	type: 'string',
	default: '',
	placeholder: 'e.g. name, email, address.city',
	description:
		'Paths of the properties to return of each record, separated by commas. If empty, all properties are returned. Properties that a record does not have are left out.',
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

const itemsPath: INodeProperties = {
	displayName: 'Items Path',
	name: 'itemsPath',
	type: 'string',
	default: '',
	placeholder: 'e.g. data.users',
	description:
		'Path of the list in the response. Leave empty if the list is the response itself, data, users, resumes, or the only list.',
};

/** The specification shows no pages: see docs/lists-and-files.md. */
const pagination: INodeProperties = {
	displayName: 'Pagination',
	name: 'pagination',
	type: 'fixedCollection',
	placeholder: 'Add Pagination',
	// Shows the fields at once when the option is added. An option that is not added has no value at
	// all.
	default: { pagination: {} },
	description:
		'Read the list page by page, as your account manager described it. Without this option, the node sends one request.',
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
							description: 'Each response has the cursor of the next page',
						},
						{
							name: 'Offset',
							value: 'offset',
							description: 'Each request has the number of records before the page',
						},
						{
							name: 'Page Number',
							value: 'pageNumber',
							description: 'Each request has the number of the page',
						},
					],
					default: 'pageNumber',
					description: 'What identifies a page',
				},
				{
					displayName: 'Cursor Path',
					name: 'cursorPath',
					type: 'string',
					default: '',
					placeholder: 'e.g. data.nextCursor',
					displayOptions: { show: { mode: ['cursor'] } },
					description:
						'Path of the next cursor in each response. A response without one, or with an empty one, ends the list.',
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
					description: 'Number of records to request with each page',
				},
				{
					displayName: 'Parameter Name',
					name: 'parameterName',
					type: 'string',
					default: '',
					placeholder: 'e.g. page',
					description: 'The query parameter for the page number, offset or cursor',
				},
				{
					displayName: 'Size Parameter',
					name: 'sizeParameterName',
					type: 'string',
					default: '',
					placeholder: 'e.g. limit',
					description: 'The query parameter for the page size. Leave empty to send none.',
				},
			],
		},
	],
};

/**
 * Settings of the list of users, for the mode By Email. They are always shown: if an expression
 * gives the whole User, n8n knows no mode and strips fields that are shown for one mode only. Then
 * a user on a later page could be missed.
 */
export const lookupOptions: INodeProperties[] = [
	{
		...pagination,
		displayName: 'Users Pagination',
		name: 'usersPagination',
		description:
			'Read the list of users page by page for By Email, as your account manager described it. Without this option, the node sends one request.',
	},
	{
		...itemsPath,
		displayName: 'Users Path',
		name: 'usersPath',
		description:
			'Path of the list of users in the response, for By Email. Leave empty if the list is the response itself, data or users.',
	},
];

export const listOptions = [fieldsToReturn, itemsPath, pagination];

/** The Options collection of a read: the options of all reads, and those of the operation. */
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
		options: [...entries].sort((a, b) => a.displayName.localeCompare(b.displayName)),
	};
}
