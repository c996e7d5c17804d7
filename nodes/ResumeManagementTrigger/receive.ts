import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { isSelected, readEvents } from './event';
import { type Headers, rejection, type Verification } from './verify';

/**
 * Answers one request. What is not for the workflow is answered here and starts no execution: an
 * error that left this function would make n8n store a failed one (n8n's webhook-helpers.ts).
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	let body: Buffer;
	let secret: string;
	try {
		body = await readBody(context);
	} catch (error) {
		const { type } = error as { type?: unknown };
		return type === 'entity.too.large'
			? refuse(context, 413, 'body-too-large', 'The body is larger than n8n accepts.')
			: refuse(context, 400, 'unreadable-body', 'The body did not arrive whole.');
	}
	const verification = readVerification(context);
	try {
		secret = verification.kind === 'none' ? '' : await readSecret(context);
	} catch {
		return refuse(context, 500, 'not-verified', "n8n could not read the trigger's credential.");
	}
	const headers = context.getHeaderData() as Headers;
	const reason = rejection(verification, secret, headers, body, Date.now());
	if (reason !== undefined) return refuse(context, 401, 'unauthorized', reason);

	const option = (name: string) => String(context.getNodeParameter(`options.${name}`, '')).trim();
	const paths = { namePath: option('eventNamePath'), idPath: option('eventIdPath') };
	const events = readEvents(body, paths, new Date());
	if (!events) {
		return refuse(context, 400, 'unreadable-body', 'The body is not a JSON object or array.');
	}
	const selected = context.getNodeParameter('events') as string[];
	const wanted = events.filter(({ event }) => isSelected(event, selected));
	const webhookResponse = { status: 'success' };
	if (wanted.length === 0) return { webhookResponse };
	const request = context.getNodeParameter('options.includeHeaders', false)
		? {
				headers: hide(headers as IDataObject, secret),
				query: hide(context.getQueryData() as IDataObject, secret),
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
	context.getResponseObject().status(httpStatus).json({ status: 'error', errorCode, errorMessage });
	return { noWebhookResponse: true };
}

async function readBody(context: IWebhookFunctions): Promise<Buffer> {
	const request = context.getRequestObject();
	await request.readRawBody();
	return request.rawBody ?? Buffer.alloc(0);
}

async function readSecret(context: IWebhookFunctions): Promise<string> {
	const { webhookSecret } = await context.getCredentials('resumeManagementApi');
	return String(webhookSecret ?? '');
}

function readVerification(context: IWebhookFunctions): Verification {
	const text = (name: string) => String(context.getNodeParameter(name, '')).trim();
	const kind = text('verification') as Verification['kind'];
	if (kind === 'none') return { kind };
	const headerName = text('headerName');
	if (kind === 'header') return { kind, headerName };
	const timestampHeader = text('timestampHeader');
	return {
		kind,
		headerName,
		encoding: text('signatureEncoding') as 'hex' | 'base64',
		prefix: text('signaturePrefix'),
		...(timestampHeader && {
			timestamp: {
				headerName: timestampHeader,
				tolerance: Number(context.getNodeParameter('timestampTolerance', 300)),
			},
		}),
	};
}

/** The secret comes in a header where it is not used to sign, and executions are stored. */
function hide(values: IDataObject, secret: string): IDataObject {
	if (secret === '') return values;
	return Object.fromEntries(
		Object.entries(values).map(([name, value]) => [
			name,
			String(value).includes(secret) ? '[hidden]' : value,
		]),
	);
}
