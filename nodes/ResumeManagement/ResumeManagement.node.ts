import { type INodeType, type INodeTypeDescription, NodeConnectionTypes } from 'n8n-workflow';

import * as listSearch from './listSearch';
import { customOperations, properties } from './properties';

export class ResumeManagement implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Resume Management',
		name: 'resumeManagement',
		icon: {
			light: 'file:../../icons/resumeManagement.svg',
			dark: 'file:../../icons/resumeManagement.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
		description:
			'Read users, resumes and resume scores, create resumes and upgrade subscription plans of the resume-management service',
		defaults: { name: 'Resume Management' },
		usableAsTool: true,
		builderHint: {
			searchHint:
				'Plan → Upgrade bills. A run sends writes one after the other. An upgrade with an unknown outcome is an error that must never be retried automatically.',
		},
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'resumeManagementApi', required: true }],
		// n8n's editor evaluates them with the node's parameters and input alone (`getNodeHints` in its useNodeHelpers.ts).
		// A run adds hints about settings and responses.
		hints: [
			{
				message:
					'More than 1,000 items come in, and each is one request. Set On Error in Settings to Continue, so that a failed item does not lose the results of the others. Or process the items in batches with a Loop Over Items node.',
				displayCondition: '={{ $input.all().length > 1000 }}',
				whenToDisplay: 'beforeExecution',
				location: 'outputPane',
			},
		],
		requestDefaults: { baseURL: '={{ $credentials.baseUrl }}' },
		properties,
	};

	methods = { listSearch };

	customOperations = customOperations;
}
