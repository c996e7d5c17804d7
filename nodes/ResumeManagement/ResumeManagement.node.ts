import { type INodeType, type INodeTypeDescription, NodeConnectionTypes } from 'n8n-workflow';

import * as listSearch from './listSearch';
import { customOperations, properties } from './resources';
import { hints } from './resources/hints';

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
				'Plan → Upgrade bills. A run sends writes one after the other, and reports an upgrade whose outcome is unknown as an error that must not be repeated by itself.',
		},
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'resumeManagementApi', required: true }],
		hints,
		requestDefaults: { baseURL: '={{ $credentials.baseUrl }}' },
		properties,
	};

	methods = { listSearch };

	customOperations = customOperations;
}
