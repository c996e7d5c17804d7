import type { INodeProperties, TriggerPanelDefinition } from 'n8n-workflow';

/**
 * Shown beside the fields. n8n's own text tells the user to make an event happen in the service.
 */
export const triggerPanel: TriggerPanelDefinition = {
	executionsHelp:
		"<b>While you build the workflow</b>, click 'Execute step' and send a request to the Test URL, for example with curl.<br /> <br /> <b>Once the workflow is published</b>, each event at the Production URL starts an execution. To build with a real event, open its execution in the <a data-key='executions'>executions list</a> and click 'Copy to editor'.",
	activationHint: 'Publish the workflow to receive events at the Production URL.',
};

const whenHmac = { show: { verification: ['hmac'] } };

export const properties: INodeProperties[] = [
	{
		displayName:
			'Ask your account manager how to register the Production URL (see Webhook URLs above) with the service. It receives events once this workflow is published (active). Do not register the Test URL: it only works while this node waits for a test event.',
		name: 'registrationNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Trigger On',
		name: 'events',
		type: 'multiOptions',
		required: true,
		default: ['*'],
		options: [
			{ name: '[All]', value: '*', action: 'On any event', description: 'Events of any name' },
			{
				name: 'Resume Section Saved',
				value: 'resumeSectionSaved',
				action: 'On resume section saved',
				description:
					'Events with this name, and events without a name, unless several come in one array. Case, spaces, dots, hyphens and underscores do not matter.',
			},
		],
	},
	{
		displayName: 'Verification',
		name: 'verification',
		type: 'options',
		default: 'header',
		options: [
			{ name: 'None', value: 'none', description: 'Anyone with the URL can start the workflow' },
			{
				name: 'Secret in a Header',
				value: 'header',
				description: "A header has the credential's Webhook Secret",
			},
			{
				name: 'Signature (HMAC-SHA256)',
				value: 'hmac',
				description: 'A header has a signature of the body, made with the Webhook Secret',
			},
			{
				name: 'Signature (Standard Webhooks)',
				value: 'standardWebhooks',
				description:
					'Three headers that begin with "webhook-". The Webhook Secret is Base64, often after whsec_.',
			},
		],
		description: 'How to check that the service has sent a request. Ask your account manager.',
	},
	{
		displayName: 'Header Name',
		name: 'headerName',
		type: 'string',
		default: '',
		placeholder: 'e.g. X-Webhook-Secret',
		displayOptions: { show: { verification: ['header', 'hmac'] } },
		description:
			'The header that carries the secret or the signature. By default X-Webhook-Secret or X-Webhook-Signature.',
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
		displayOptions: whenHmac,
	},
	{
		displayName: 'Signature Prefix',
		name: 'signaturePrefix',
		type: 'string',
		default: '',
		placeholder: 'e.g. sha256=',
		displayOptions: whenHmac,
		description: 'The text before each signature in the header',
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [
			{
				displayName: 'Event ID Path',
				name: 'eventIdPath',
				type: 'string',
				default: '',
				placeholder: 'e.g. meta.uuid',
				description:
					'Path of the event ID in the payload, with dots between the names. By default event_id or, next to the event name and data, ID.',
			},
			{
				displayName: 'Event Name Path',
				name: 'eventNamePath',
				type: 'string',
				default: '',
				placeholder: 'e.g. meta.event',
				description:
					'Path of the event name in the payload, with dots between the names. By default event, event_type, eventName or type.',
			},
			{
				displayName: 'Include Headers and Query',
				name: 'includeHeaders',
				type: 'boolean',
				default: false,
				description: 'Whether to add the headers and query parameters of the request to the output',
			},
		],
	},
];
