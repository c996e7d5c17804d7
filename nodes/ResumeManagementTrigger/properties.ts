import type { IDisplayOptions, INodeProperties, TriggerPanelDefinition } from 'n8n-workflow';

const whileBuilding =
	"<b>While you build the workflow</b>, click 'Execute step' and send a request to the Test URL, as a tool such as curl or the sandbox of this package can: the service itself calls the Production URL alone.<br /> <br /> ";

/** What n8n shows beside the fields; its own text says to make an event happen in the service. */
export const triggerPanel: TriggerPanelDefinition = {
	header: '',
	executionsHelp: {
		inactive: `${whileBuilding}<b>When it is ready</b>, publish the workflow, and hand the Production URL to your account manager. Each event then starts an execution, which shows up in the executions list.`,
		active: `${whileBuilding}<b>The workflow is published</b>: each event that the service sends to the Production URL starts an execution, which shows up in the <a data-key='executions'>executions list</a>.`,
	},
	activationHint:
		'Publish the workflow to have each event start it. Those executions show up in the executions list.',
};

/** Seconds: a replay of yesterday is no slow delivery. */
export const MOST_TOLERANCE = 86_400;

const whenSigned = { show: { verification: ['hmac'] } };

const headerName = (value: string, carries: string, verification: string[]): INodeProperties => ({
	displayName: 'Header Name',
	name: 'headerName',
	type: 'string',
	required: true,
	default: value,
	placeholder: `e.g. ${value}`,
	displayOptions: { show: { verification } },
	description: `The header that carries the ${carries}`,
});

const timestampTolerance = (displayOptions: IDisplayOptions): INodeProperties => ({
	displayName: 'Timestamp Tolerance',
	name: 'timestampTolerance',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: MOST_TOLERANCE },
	default: 300,
	displayOptions,
	description:
		'Seconds by which the timestamp may differ from the clock of n8n. What was sent earlier is refused, so that nobody can send it again.',
});

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
		default: ['*'],
		options: [
			{
				name: '[All]',
				value: '*',
				action: 'On any event',
				description: 'Any event, whatever its name',
			},
			{
				name: 'Resume Section Saved',
				value: 'resumeSectionSaved',
				action: 'On resume section saved',
				description:
					"An event whose name says 'section saved' in any spelling, or that has no name. Others are answered, noted in n8n's log, and start nothing.",
			},
		],
	},
	{
		displayName: 'Verification',
		name: 'verification',
		type: 'options',
		default: 'header',
		options: [
			{ name: 'None', value: 'none', description: 'Whoever knows the URL can start the workflow' },
			{
				name: 'Secret in a Header',
				value: 'header',
				description: "The credential's Webhook Secret is sent along as it is",
			},
			{
				name: 'Signature (HMAC-SHA256)',
				value: 'hmac',
				description: "A header has the body's signature, made with the credential's Webhook Secret",
			},
			{
				name: 'Signature (Standard Webhooks)',
				value: 'standardWebhooks',
				description:
					"Three headers that begin with 'webhook-', and a secret that often begins with whsec_",
			},
			{
				name: 'Signature with Timestamp',
				value: 'timestampedSignature',
				description:
					'One header has both, as in t=1795262400,v1=5257a869…: the signature is of time, full stop, body',
			},
		],
		description: 'How a request shows that it comes from the service. Ask your account manager.',
	},
	headerName('X-Webhook-Secret', 'secret', ['header']),
	headerName('X-Webhook-Signature', 'signature', ['hmac', 'timestampedSignature']),
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
		description: 'The text before the signature in its header',
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
	timestampTolerance({ ...whenSigned, hide: { timestampHeader: [''] } }),
	timestampTolerance({ show: { verification: ['standardWebhooks', 'timestampedSignature'] } }),
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
					'Where the payload holds the ID of the event, with dots between the names. By default eventId, deliveryId or, next to the event name, ID.',
			},
			{
				displayName: 'Event Name Path',
				name: 'eventNamePath',
				type: 'string',
				default: '',
				placeholder: 'e.g. meta.event',
				description:
					'Where the payload holds the name of the event, with dots between the names. By default event, eventName, event_type, topic, action, type, or name or type in event.',
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
