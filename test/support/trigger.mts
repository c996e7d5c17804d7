/** Hands requests to the built trigger in n8n-core's contexts, as plain objects; the tests in a real n8n send real ones. */
import { loadNodeType, nodeTypes, TestCredentials } from './engine.mts';
import { printed } from './environment.mts';
import { HookContext, WebhookContext } from 'n8n-core';
import {
	type ICredentialDataDecryptedObject,
	type IDataObject,
	type INodeParameters,
	type IWorkflowExecuteAdditionalData,
	Workflow,
} from 'n8n-workflow';
import { packageName } from '../../host/paths.mts';
import { chain } from '../../host/workflow.mts';

export interface Delivery {
	body: Buffer;
	/** By lower-case name. */
	headers: Record<string, string>;
	query?: IDataObject;
}

/** @param credential undefined for a node without one */
export async function createTrigger(
	parameters: INodeParameters,
	credential?: ICredentialDataDecryptedObject,
) {
	const nodeType = await loadNodeType('resumeManagementTrigger');
	const type = `${packageName}.resumeManagementTrigger`;
	const access = credential && { credentials: { resumeManagementApi: { id: '1', name: 'Test' } } };
	const own = { name: 'Trigger', type, typeVersion: 1.1, parameters, ...access };
	const workflow = new Workflow({ id: 'test', ...chain([own]), active: true, nodeTypes });
	const node = workflow.getNode('Trigger')!;
	const credentialsHelper = new TestCredentials(credential ?? {});
	const data = { credentialsHelper, variables: {} } as unknown as IWorkflowExecuteAdditionalData;
	const [webhookDescription] = nodeType.description.webhooks!;
	const webhookData = { webhookDescription, workflowExecuteAdditionalData: data } as never;

	return {
		async activate() {
			const context = new HookContext(workflow, node, data, 'trigger', 'activate');
			await nodeType.webhookMethods!.default!.create!.call(context);
		},

		/** @param methods in place of those of n8n's context */
		async receive({ body, headers, query = {} }: Delivery, methods = {}) {
			printed.length = 0;
			let status = 200;
			let responseBody: IDataObject | undefined;
			const httpResponse = {
				status(code: number) {
					status = code;
					return httpResponse;
				},
				json: (content: IDataObject) => void (responseBody = content),
			};
			const readRawBody = async () => {};
			const httpRequest = { headers, params: {}, query, rawBody: body, readRawBody };
			const more = { ...data, httpRequest, httpResponse } as never;
			const context = new WebhookContext(workflow, node, more, 'webhook', webhookData, [], null);
			Object.assign(context, methods);
			const result = await nodeType.webhook!.call(context);
			return {
				status,
				body: responseBody ?? (result.webhookResponse as IDataObject),
				/** Undefined if the workflow does not start. */
				items: result.workflowData?.[0]?.map(({ json }) => json),
				log: printed.join('\n'),
			};
		},
	};
}
