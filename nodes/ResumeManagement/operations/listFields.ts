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
		'Where the answer holds its list. Leave it empty to find it in data, by its name such as users, or as the only list that the answer has.',
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

const byEmail = { show: { '/userId.mode': ['email'] } };

/** How to read the list of users that By Email looks in. */
export const usersList: INodeProperties[] = [
	{
		...pagination,
		displayName: 'Users Pagination',
		name: 'usersPagination',
		displayOptions: byEmail,
		description:
			'Read the list of users, which By Email looks in, page by page, as your account manager described it. Without this option, one request is sent for it.',
	},
	{
		...itemsPath,
		displayName: 'Users Path',
		name: 'usersPath',
		displayOptions: byEmail,
		description:
			'Where the answer holds the list of users, which By Email looks in. Leave it empty if it is the answer itself, data, or called users.',
	},
];
