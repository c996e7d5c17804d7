import {
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
	NodeConnectionTypes,
} from 'n8n-workflow';

import { triggerPanel } from './panel';
import { properties } from './properties';
import { receive } from './receive';
import { readSecrets, readSettings } from './settings';

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
				displayOptions: {
					show: {
						verification: ['header', 'hmac', 'standardWebhooks', 'timestampedSignature'],
					},
				},
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
				await readSecrets(this, readSettings(this).verification);
				return true;
			},
			async create(this: IHookFunctions): Promise<boolean> {
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receive(this);
	}
}
