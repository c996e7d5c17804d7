import type { INodeProperties } from 'n8n-workflow';

const whenSigned = { show: { verification: ['hmac'] } };

export const properties: INodeProperties[] = [
	{
		displayName:
			'Open Webhook URLs above, choose Production URL, and hand it to your account manager, who registers it with the service: it has no API for that. It receives events once this workflow is published (active). The Test URL receives only while you wait for a test event here, so never register it.',
		name: 'registrationNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Trigger On',
		name: 'events',
		type: 'multiOptions',
		required: true,
		default: ['resumeSectionSaved'],
		options: [
			{
				name: '[All]',
				value: '*',
				action: 'On any event',
				description: 'Any event, also one that this node does not know by name',
			},
			{
				name: 'Resume Section Saved',
				value: 'resumeSectionSaved',
				action: 'On resume section saved',
				description: 'A section of a resume was saved, or an event came without a name',
			},
		],
	},
	{
		displayName: 'Verification',
		name: 'verification',
		type: 'options',
		default: 'header',
		options: [
			{
				name: 'None',
				value: 'none',
				description: 'Take every request: whoever knows the URL can start the workflow',
			},
			{
				name: 'Secret in a Header',
				value: 'header',
				description: "The credential's Webhook Secret is sent along as it is",
			},
			{
				name: 'Signature (HMAC-SHA256)',
				value: 'hmac',
				description: "The body is signed with the credential's Webhook Secret",
			},
		],
		description: 'How a request shows that it comes from the service. Ask your account manager.',
	},
	{
		displayName: 'Header Name',
		name: 'headerName',
		type: 'string',
		required: true,
		default: 'X-Webhook-Secret',
		placeholder: 'e.g. X-Webhook-Secret',
		displayOptions: { show: { verification: ['header'] } },
		description: 'The header that carries the secret',
	},
	{
		displayName: 'Header Name',
		name: 'headerName',
		type: 'string',
		required: true,
		default: 'X-Webhook-Signature',
		placeholder: 'e.g. X-Webhook-Signature',
		displayOptions: whenSigned,
		description: 'The header that carries the signature',
	},
	{
		displayName: 'Signature Encoding',
		name: 'signatureEncoding',
		type: 'options',
		default: 'hex',
		options: [
			{ name: 'Base64', value: 'base64' },
			{ name: 'Hex', value: 'hex' },
		],
		displayOptions: whenSigned,
	},
	{
		displayName: 'Signature Prefix',
		name: 'signaturePrefix',
		type: 'string',
		default: '',
		placeholder: 'e.g. sha256=',
		displayOptions: whenSigned,
		description: 'What stands before the signature in its header',
	},
	{
		displayName: 'Timestamp Header',
		name: 'timestampHeader',
		type: 'string',
		default: '',
		placeholder: 'e.g. X-Webhook-Timestamp',
		displayOptions: whenSigned,
		description:
			'The header with the Unix time in seconds that is signed together with the body, as time, full stop, body. Leave it empty when only the body is signed.',
	},
	{
		displayName: 'Timestamp Tolerance',
		name: 'timestampTolerance',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 300,
		displayOptions: { show: { verification: ['hmac'] }, hide: { timestampHeader: [''] } },
		description: 'Seconds by which the timestamp may differ from the clock of n8n',
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		// With `binaryData`, n8n leaves the body of a node's first version unread (parseRequestBody in
		// n8n/src/webhooks/webhook-helpers.ts). So a request is verified before anything parses it,
		// and what can't be read gets our answer.
		default: { binaryData: true },
		options: [
			{
				displayName: 'Event ID Path',
				name: 'eventIdPath',
				type: 'string',
				default: '',
				placeholder: 'e.g. meta.uuid',
				description:
					'Where the payload holds the ID of the event, with dots between the names. By default eventId, deliveryId or, beside the event name, ID.',
			},
			{
				displayName: 'Event Name Path',
				name: 'eventNamePath',
				type: 'string',
				default: '',
				placeholder: 'e.g. meta.event',
				description:
					'Where the payload holds the name of the event, with dots between the names. By default event, type, eventName or event_type.',
			},
			{
				displayName: 'Include Headers and Query',
				name: 'includeHeaders',
				type: 'boolean',
				default: false,
				description: 'Whether to add the headers and query parameters of the request to the output',
			},
			{ displayName: 'Raw Body', name: 'binaryData', type: 'hidden', default: true },
		],
	},
];
