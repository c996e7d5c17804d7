import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { type EventItem, isSelected, readEvents } from './event';
import { readSecrets, readSettings, SettingError, type Settings } from './settings';
import { type Headers, rejection, signedId } from './verify';

/**
 * Answers one request. What is not for the workflow is answered here and starts no execution: an
 * error that left this function would make n8n store a failed one (n8n's webhook-helpers.ts).
 *
 * n8n has parsed a body of a type that it knows before it comes here (parseRequestBody, there). What
 * is verified and handed on are the bytes, never what n8n made of them.
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	let settings: Settings;
	let secrets: string[];
	try {
		settings = readSettings(context);
		secrets = await readSecrets(context, settings.verification);
	} catch (error) {
		return error instanceof SettingError
			? refuse(context, 500, 'misconfigured', `${error.message}.`)
			: refuse(context, 500, 'not-verified', "n8n could not read the trigger's credential.");
	}
	// n8n has put the parts into files, so that there are no bytes any more to verify.
	if (context.getRequestObject().contentType === 'multipart/form-data') {
		return refuse(context, 415, 'unsupported-body', 'The body is a form, and not JSON.');
	}
	let body: Buffer;
	try {
		body = await readBody(context);
	} catch (error) {
		const { type } = error as { type?: unknown };
		return type === 'entity.too.large'
			? refuse(context, 413, 'body-too-large', 'The body is larger than n8n accepts.')
			: refuse(context, 400, 'unreadable-body', 'The body did not arrive whole.');
	}
	const headers = context.getHeaderData() as Headers;
	const reason = rejection(settings.verification, secrets, headers, body, Date.now());
	if (reason !== undefined) return refuse(context, 401, 'unauthorized', reason);

	const id = signedId(settings.verification, headers);
	const events = readEvents(body, settings.paths, new Date(), id);
	if (!events) {
		return refuse(context, 400, 'unreadable-body', 'The body is not a JSON object or array.');
	}
	const isWanted = ({ event }: EventItem) => isSelected(event, settings.events);
	const wanted = events.filter(isWanted);
	const others = events.filter((event) => !isWanted(event));
	const webhookResponse = { status: 'success', ...(others.length > 0 && leave(context, others)) };
	if (wanted.length === 0) return { webhookResponse };
	const request = settings.includeHeaders
		? {
				headers: hide(headers as IDataObject, secrets),
				query: hide(context.getQueryData() as IDataObject, secrets),
			}
		: {};
	return {
		webhookResponse,
		workflowData: [wanted.map((event) => ({ json: { ...event, ...request } }))],
	};
}

/** Answers in the envelope of the service's own API (partner API specification, §2). */
function refuse(
	context: IWebhookFunctions,
	httpStatus: number,
	errorCode: string,
	errorMessage: string,
): IWebhookResponseData {
	warn(context, `answered ${httpStatus}: ${errorMessage}`);
	context.getResponseObject().status(httpStatus).json({ status: 'error', errorCode, errorMessage });
	return { noWebhookResponse: true };
}

/** How much of what comes from outside is repeated in an answer and in n8n's log. */
const MOST_NAMES = 10;
const MOST_CHARACTERS = 100;

/** Leaves a trace of events that start nothing, in n8n's log and in what the sender is answered. */
function leave(context: IWebhookFunctions, others: EventItem[]): IDataObject {
	const names = [...new Set(others.map(({ event }) => event.slice(0, MOST_CHARACTERS)))];
	const events = names.slice(0, MOST_NAMES);
	const reason = "Not selected in 'Trigger On' of the trigger.";
	warn(
		context,
		`left out ${others.length} of the events that came, ${JSON.stringify(events)}: ${reason}`,
	);
	return { notTaken: { count: others.length, events, reason } };
}

function warn(context: IWebhookFunctions, sentence: string): void {
	const { name } = context.getNode();
	const { id: workflowId } = context.getWorkflow();
	context.logger.warn(`Resume Management Trigger ${sentence}`, { node: name, workflowId });
}

async function readBody(context: IWebhookFunctions): Promise<Buffer> {
	const request = context.getRequestObject();
	await request.readRawBody();
	return request.rawBody ?? Buffer.alloc(0);
}

/** A secret comes in a header where it is not used to sign, and executions are stored. */
function hide(values: IDataObject, secrets: string[]): IDataObject {
	return Object.fromEntries(
		Object.entries(values).map(([name, value]) => [
			name,
			secrets.some((secret) => String(value).includes(secret)) ? '[hidden]' : value,
		]),
	);
}
