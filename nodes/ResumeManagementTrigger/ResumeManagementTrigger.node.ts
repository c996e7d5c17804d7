import {
	type IDataObject,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
	NodeConnectionTypes,
} from 'n8n-workflow';

import { HIDDEN, hideSecrets } from '../shared/secrets';
import { type EventItem, isSelected, readEvents } from './event';
import { properties, triggerPanel } from './properties';
import { readSettings, SettingError, type Settings } from './settings';
import { type Delivery, rejection } from './verify';

export class ResumeManagementTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Resume Management Trigger',
		name: 'resumeManagementTrigger',
		icon: {
			light: 'file:../../icons/resumeManagement.svg',
			dark: 'file:../../icons/resumeManagement.dark.svg',
		},
		group: ['trigger'],
		// For each request to a node of version 1, n8n evaluates an expression, `options.binaryData`, and
		// makes an isolate of V8 for it (parseRequestBody in n8n/src/webhooks/webhook-helpers.ts).
		version: 1.1,
		subtitle: '={{ $parameter["events"].includes("*") ? "All events" : "Resume Section Saved" }}',
		description: 'Starts the workflow on events of the resume-management service',
		defaults: { name: 'Resume Management Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{
				name: 'resumeManagementApi',
				required: true,
				displayOptions: { hide: { verification: ['none'] } },
			},
		],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				path: 'webhook',
				responseMode: 'onReceived',
				// Without it n8n answers the text `firstEntryJson` in place of what the node says.
				responseData: '',
			},
		],
		triggerPanel,
		properties,
	};

	/**
	 * The service offers no API to register a webhook (partner API specification, §6): the user hands
	 * the URL over. So there is nothing to look up, make or remove, and n8n is told that all is well.
	 */
	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				// Says at activation what would have every event refused later.
				await readSettings(this);
				return true;
			},
			create: async () => true,
			delete: async () => true,
		},
	};

	/**
	 * Answers one request. What is not for the workflow is answered here and starts no execution: after an
	 * error, n8n would store a failed one (n8n/src/webhooks/webhook-helpers.ts).
	 */
	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		let settings: Settings;
		try {
			settings = await readSettings(this);
		} catch (error) {
			return error instanceof SettingError
				? refuse(this, 500, 'misconfigured', `${error.message}.`)
				: refuse(this, 500, 'not-verified', "n8n could not read the trigger's credential.");
		}
		const body = await readBody(this);
		if (!Buffer.isBuffer(body)) return refuse(this, ...body);
		const headers = this.getHeaderData() as Delivery['headers'];
		const delivery = { body, headers, receivedAt: new Date() };
		const reason = rejection(settings, delivery);
		// The name of a header is the user's, and might be the secret by mistake.
		if (reason) return refuse(this, 401, 'unauthorized', hideSecrets(reason, settings.secrets));
		const events = readEvents(settings, delivery);
		if (typeof events === 'string') return refuse(this, 400, 'unreadable-body', events);
		return start(this, settings, events);
	}
}

type Refusal = [httpStatus: number, errorCode: string, errorMessage: string];

/** Answers in the envelope of the service's own API (partner API specification, §2). */
function refuse(context: IWebhookFunctions, ...refusal: Refusal): IWebhookResponseData {
	const [httpStatus, errorCode, errorMessage] = refusal;
	warn(context, `answered ${httpStatus}: ${errorMessage}`);
	context.getResponseObject().status(httpStatus).json({ status: 'error', errorCode, errorMessage });
	return { noWebhookResponse: true };
}

function warn(context: IWebhookFunctions, sentence: string): void {
	const { name } = context.getNode();
	const { id: workflowId } = context.getWorkflow();
	context.logger.warn(`Resume Management Trigger ${sentence}`, { node: name, workflowId });
}

/**
 * The bytes as they came. n8n has parsed a body of a type that it knows before (parseRequestBody in
 * webhook-helpers.ts), but what it made of the bytes is neither verified nor handed on.
 */
async function readBody(context: IWebhookFunctions): Promise<Buffer | Refusal> {
	const request = context.getRequestObject();
	// n8n has put the parts into files, so that there are no bytes any more.
	if (request.contentType === 'multipart/form-data') {
		return [415, 'unsupported-body', 'The body is a form, and not JSON.'];
	}
	try {
		await request.readRawBody();
		return request.rawBody ?? Buffer.alloc(0);
	} catch (error) {
		return (error as { type?: unknown }).type === 'entity.too.large'
			? [413, 'body-too-large', 'The body is larger than n8n accepts.']
			: [400, 'unreadable-body', 'The body did not arrive whole.'];
	}
}

/** Starts the workflow with the events that the user has selected, and says which were left out. */
function start(
	context: IWebhookFunctions,
	settings: Settings,
	events: EventItem[],
): IWebhookResponseData {
	const isWanted = ({ event }: EventItem) => isSelected(event, settings.events);
	const wanted = events.filter(isWanted);
	const others = events.filter((event) => !isWanted(event));
	const notTaken = others.length > 0 && { notTaken: leaveOut(context, others) };
	const webhookResponse = { status: 'success', ...notTaken };
	if (wanted.length === 0) return { webhookResponse };
	const request = settings.options.includeHeaders && requestOf(context, settings);
	const items = wanted.map((event) => ({ json: { ...event, ...request } }));
	return { webhookResponse, workflowData: [items] };
}

/** How much of what comes from outside is repeated in an answer and in n8n's log. */
const MOST_NAMES = 10;
const MOST_CHARACTERS = 100;

/** Names the events that start nothing in n8n's log, and returns what the sender is told. */
function leaveOut(context: IWebhookFunctions, others: EventItem[]): IDataObject {
	const names = new Set(others.map(({ event }) => event.slice(0, MOST_CHARACTERS)));
	const events = [...names].slice(0, MOST_NAMES);
	const reason = "Not selected in 'Trigger On' of the trigger.";
	const text = `left out ${others.length} of the events that came, ${JSON.stringify(events)}: ${reason}`;
	warn(context, text);
	return { count: others.length, events, reason };
}

function requestOf(context: IWebhookFunctions, settings: Settings): IDataObject {
	const { verification, headerName, secrets } = settings;
	const headers = hideSecrets(context.getHeaderData() as IDataObject, secrets);
	// Even a secret that is too short to look for.
	if (verification === 'header') headers[headerName.toLowerCase()] = HIDDEN;
	return { headers, query: hideSecrets(context.getQueryData() as IDataObject, secrets) };
}
