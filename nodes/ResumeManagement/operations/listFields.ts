import type { INodeProperties } from 'n8n-workflow';

/** Fields of operations that read a list. */

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

export const itemsPath: INodeProperties = {
	displayName: 'Items Path',
	name: 'itemsPath',
	type: 'string',
	default: '',
	placeholder: 'e.g. data.users',
	description:
		'Path of the list in the response. Leave it empty if the list is the response itself, data, called users or resumes, or the only list.',
};

/** Settings for reading a list page by page, which the specification does not show: see docs/lists-and-files.md. */
export const pagination: INodeProperties = {
	displayName: 'Pagination',
	name: 'pagination',
	type: 'fixedCollection',
	placeholder: 'Add Pagination',
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
						'Path of the next cursor in each response. The list ends if there is none, or if it is empty.',
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
					description: 'The query parameter for the page size. Leave it empty to send none.',
				},
			],
		},
	],
};

/**
 * Settings for reading the list of users, for the mode By Email. They are always shown: if an expression gives the whole
 * User, n8n knows no mode, would strip what is shown for one, and a user on a later page could be missed.
 */
export const usersList: INodeProperties[] = [
	{
		...pagination,
		displayName: 'Users Pagination',
		name: 'usersPagination',
		description:
			'Read the list of users for By Email page by page, as your account manager described it. Without this option, the node sends one request.',
	},
	{
		...itemsPath,
		displayName: 'Users Path',
		name: 'usersPath',
		description:
			'Path of the list of users for By Email in the response. Leave it empty if the list is the response itself, data, or called users.',
	},
];
