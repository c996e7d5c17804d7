import {
	type IDataObject,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
	NodeConnectionTypes,
} from 'n8n-workflow';

import { Failure, toNodeError } from '../shared/failure';
import { HIDDEN, hideSecrets } from '../shared/secrets';
import { type EventItem, isSelected, readEvents, type Unreadable } from './event';
import { properties, triggerPanel } from './properties';
import { readSettings, type Settings } from './settings';
import { type Delivery, whyRejected } from './verify';

/**
 * Its output before a first event, for n8n's editor, is in `__schema__/`, in a file for each
 * version of the node.
 */
export class ResumeManagementTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Resume Management Trigger',
		name: 'resumeManagementTrigger',
		icon: {
			light: 'file:../../icons/resumeManagement.svg',
			dark: 'file:../../icons/resumeManagement.dark.svg',
		},
		group: ['trigger'],
		// Not 1: for that version alone, n8n evaluates the expression `options.binaryData` at each
		// request, which takes an isolate of V8 (`parseRequestBody` in
		// n8n/src/webhooks/webhook-helpers.ts).
		version: 1.1,
		subtitle: '={{ $parameter["events"].includes("*") ? "All events" : "Resume Section Saved" }}',
		// n8n's editor lists the two nodes as one, with this text (`generateMergedNodesAndActions` of
		// n8n 2.41).
		description:
			'Starts the workflow when the resume-management service sends an event. The actions read users and resumes, create and download resumes, and upgrade plans.',
		defaults: { name: 'Resume Management Trigger' },
		eventTriggerDescription: 'Waiting for a request to the Test URL',
		activationMessage:
			'The Production URL now receives events. Ask your account manager how to register it with the service.',
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
				// Otherwise, n8n responds with the text `firstEntryJson`
				// (n8n/src/webhooks/webhook-helpers.ts).
				responseData: '',
			},
		],
		triggerPanel,
		properties,
	};

	/**
	 * The specification shows no API to register a webhook (§6), so there is nothing to look up,
	 * create or delete.
	 */
	webhookMethods = {
		default: {
			checkExists: async () => false,
			/** Refuses the activation if the trigger would refuse all events. */
			async create(this: IHookFunctions): Promise<boolean> {
				await readSettings(this).catch((error: unknown) => {
					throw toNodeError(this.getNode(), error);
				});
				return true;
			},
			delete: async () => true,
		},
	};

	/**
	 * Responds to one request. It throws nothing: after an error, n8n stores a failed execution
	 * (n8n/src/webhooks/webhook-helpers.ts), which a stranger must not cause.
	 */
	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		try {
			return await receive(this);
		} catch (error) {
			if (error instanceof Failure) return refuse(this, 500, 'misconfigured', `${error.message}.`);
			// Any other error may hold a secret.
			const sentence = 'n8n could not read the request or the credential.';
			return refuse(this, 500, 'internal-error', sentence);
		}
	}
}

/** Starts the workflow with the selected events of a request, once it is verified. */
async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const settings = await readSettings(context);
	const received = await readRawBody(context);
	if ('problem' in received) return refuse(context, 400, 'unreadable-body', received.problem);
	const { body } = received;
	const headers = context.getHeaderData() as Delivery['headers'];
	const delivery = { body, headers, receivedAt: new Date() };
	const reason = whyRejected(settings, delivery);
	if (reason !== undefined) {
		// The reason names the header, which may be the secret by mistake.
		return refuse(context, 401, 'unauthorized', hideSecrets(reason, settings.secrets));
	}
	const read = readEvents(settings, delivery);
	if ('problem' in read) return refuse(context, 400, 'unreadable-body', read.problem);
	const selected: EventItem[] = [];
	const others: EventItem[] = [];
	for (const item of read.items) {
		(isSelected(item.event, settings.events) ? selected : others).push(item);
	}
	if (read.items.length === 0) warn(context, 'started nothing: the array has no event');
	if (others.length > 0) warnOfOthers(context, others);
	const webhookResponse = { status: 'success' };
	if (selected.length === 0) return { webhookResponse };
	const request = settings.includeHeaders ? shownRequest(context, settings) : {};
	const items = selected.map((item) => ({ json: { ...item, ...request } }));
	return { webhookResponse, workflowData: [items] };
}

/** Responds in the envelope of the service's own API (partner API specification, §2). */
function refuse(
	context: IWebhookFunctions,
	httpStatus: number,
	errorCode: string,
	errorMessage: string,
): IWebhookResponseData {
	warn(context, `responded with ${httpStatus}: ${errorMessage}`);
	context.getResponseObject().status(httpStatus).json({ status: 'error', errorCode, errorMessage });
	return { noWebhookResponse: true };
}

/** Logs events that are not selected, with a bounded part of the first one's name. */
function warnOfOthers(context: IWebhookFunctions, others: EventItem[]): void {
	const name = JSON.stringify(others[0]!.event.slice(0, 100));
	const events =
		others.length === 1 ? `the event ${name}` : `${others.length} events such as ${name}`;
	warn(context, `started nothing for ${events}: 'Trigger On' does not select it`);
}

function warn(context: IWebhookFunctions, sentence: string): void {
	const { name } = context.getNode();
	const { id: workflowId } = context.getWorkflow();
	context.logger.warn(`Resume Management Trigger ${sentence}`, { node: name, workflowId });
}

/**
 * Returns the bytes of the body after unpacking. n8n may have parsed them already, but a signature
 * is of the bytes.
 */
async function readRawBody(context: IWebhookFunctions): Promise<{ body: Buffer } | Unreadable> {
	const request = context.getRequestObject();
	// n8n has read the parts itself (parseRequestBody in n8n/src/webhooks/webhook-helpers.ts), and
	// the bytes are gone.
	if (request.contentType === 'multipart/form-data') {
		return { problem: 'The body is a form, and not JSON.' };
	}
	try {
		await request.readRawBody();
	} catch {
		return { problem: 'The body is incomplete, or larger than n8n accepts.' };
	}
	return { body: request.rawBody ?? Buffer.alloc(0) };
}

/** Returns the headers and the query of a request without the secrets in them. */
function shownRequest(context: IWebhookFunctions, settings: Settings): IDataObject {
	const { verification, headerName, secrets } = settings;
	const headers = hideSecrets(context.getHeaderData() as IDataObject, secrets);
	const query = hideSecrets(context.getQueryData() as IDataObject, secrets);
	if (verification !== 'header') return { headers, query };
	// `hideSecrets` leaves secrets of less than 8 characters.
	return { headers: { ...headers, [headerName.toLowerCase()]: HIDDEN }, query };
}
