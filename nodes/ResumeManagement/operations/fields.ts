import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';

/* Fields that several operations share. Each operation's own fields stand in its file. */

/** Goes with `usersList`, for its mode By Email. */
export const userId: INodeProperties = {
	displayName: 'User',
	name: 'userId',
	type: 'resourceLocator',
	default: { mode: 'list', value: '' },
	required: true,
	description:
		'The user to work with. By Email finds the ID in the list of users, which is read whole once a run: with a long list, that takes time.',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Select a user…',
			typeOptions: { searchListMethod: 'searchUsers', searchable: true },
		},
		{ displayName: 'By ID', name: 'id', type: 'string', placeholder: 'e.g. 42' },
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
	required: undefined,
	description: 'The user whose resumes the list below offers. It is not sent with the request.',
	hint: 'Only fills the list below',
	modes: userId.modes!.filter(({ name }) => name !== 'email'),
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

export const customPath: INodeProperties = {
	displayName: 'Path',
	name: 'path',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. /connect',
	description:
		"What follows the credential's Base URL. What would follow a question mark goes into Query Parameters.",
};

export const simplify: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

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

/** See `claims.ts`. It is also shown in tools: n8n strips the value of a field that it hides, and the key would be lost. */
export const sendOnceKey: INodeProperties = {
	displayName: 'Send Once Key',
	name: 'sendOnceKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.paymentId }}',
	description:
		'ID of what this item is for, such as a payment, never the email. The node sends the request at most once for each key, in all executions of this workflow. The same request with this key then returns alreadySent: true. Any other request with it is an error.',
};

const maxParallelRequests: INodeProperties = {
	displayName: 'Max Parallel Requests',
	name: 'maxParallelRequests',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 64,
	description: 'How many items to request at the same time',
};

export const queryParameters: INodeProperties = {
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
		'How often to repeat a request that got no response, or one with HTTP 429, 500, 502, 503 or 504',
};

/** For operations that return records: see `toItem`. */
export const fieldsToReturn: INodeProperties = {
	displayName: 'Fields to Return',
	name: 'fieldsToReturn',
	type: 'string',
	default: '',
	placeholder: 'e.g. name, email, address.city',
	description:
		'The paths of the properties to return of each record, separated by commas. All are returned when it is empty. What a record does not have is left out.',
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
