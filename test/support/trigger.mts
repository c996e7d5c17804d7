/**
 * Hands requests to the built trigger in the contexts of n8n-core that n8n itself uses. The request and
 * the response are plain objects; the tests in a real n8n send real ones.
 */
import { loaded, loadNodeType, nodeTypes, PACKAGE_NAME, TestCredentials } from './engine.mts';
import { printed } from './environment.mts';

import { HookContext, WebhookContext } from 'n8n-core';
import {
	type ICredentialDataDecryptedObject,
	type IDataObject,
	type INode,
	type INodeParameters,
	type IWebhookData,
	type IWorkflowExecuteAdditionalData,
	Workflow,
} from 'n8n-workflow';

export interface Delivery {
	body: Buffer;
	/** By lower-case name. */
	headers: Record<string, string>;
	/** Without parameters, as n8n has read it; `application/json` without it. */
	contentType?: string;
	query?: IDataObject;
}

/**
 * @param credential without it, the node has none
 * @throws n8n can't load a node with such parameters
 */
export async function createTrigger(
	parameters: INodeParameters,
	credential?: ICredentialDataDecryptedObject,
) {
	await loaded;
	const nodeType = await loadNodeType('resumeManagementTrigger');
	const node: INode = {
		id: 'trigger',
		name: 'Trigger',
		type: `${PACKAGE_NAME}.resumeManagementTrigger`,
		typeVersion: 1.1,
		position: [0, 0],
		parameters,
		...(credential && { credentials: { resumeManagementApi: { id: '1', name: 'Test' } } }),
	};
	const nodes = [node];
	const workflow = new Workflow({ id: 'test', nodes, connections: {}, active: true, nodeTypes });
	const loadedNode = workflow.getNode(node.name)!;
	const additionalData = {
		credentialsHelper: new TestCredentials(credential ?? {}),
		variables: {},
	} as unknown as IWorkflowExecuteAdditionalData;
	const webhookDescription = nodeType.description.webhooks![0]!;
	const webhookData = { webhookDescription, workflowExecuteAdditionalData: additionalData };

	return {
		/** Does what n8n does at activation. */
		async activate() {
			const context = new HookContext(workflow, loadedNode, additionalData, 'trigger', 'activate');
			await nodeType.webhookMethods!.default!.checkExists!.call(context);
		},

		/** @param methods in place of those of n8n's context */
		async receive(
			{ body, headers, contentType = 'application/json', query = {} }: Delivery,
			methods = {},
		) {
			printed.length = 0;
			let status = 200;
			let answer: IDataObject | undefined;
			const httpResponse = {
				status(code: number) {
					status = code;
					return httpResponse;
				},
				json: (data: IDataObject) => void (answer = data),
			};
			const readRawBody = async () => {};
			const httpRequest = { headers, params: {}, query, contentType, rawBody: body, readRawBody };
			const context = new WebhookContext(
				workflow,
				loadedNode,
				{ ...additionalData, httpRequest, httpResponse } as never,
				'webhook',
				webhookData as unknown as IWebhookData,
				[],
				null,
			);
			Object.assign(context, methods);
			const { webhookResponse, workflowData, noWebhookResponse } =
				await nodeType.webhook!.call(context);
			if (noWebhookResponse !== true) answer = webhookResponse as IDataObject;
			return {
				status,
				body: answer!,
				/** Undefined where the workflow does not start. */
				items: workflowData?.[0]?.map(({ json }) => json),
				/** Everything that n8n logged. */
				log: printed.join('\n'),
			};
		},
	};
}
