import type { ICredentialTestRequest, ICredentialType, Icon, INodeProperties } from 'n8n-workflow';

/**
 * Base URLs that may receive the private key: https anywhere, or http on a loopback host, ending in
 * the version segment that the service puts into its base address (partner API specification, §4).
 */
export const BASE_URL =
	/^(https:\/\/[^/?#@\s]+|http:\/\/(localhost|127(\.[0-9]+){3}|\[::1\])(:[0-9]+)?)(\/[^?#\s]*)?\/v[0-9]+\/*$/;

/**
 * Where n8n sends the credential's test. It runs no code of ours then, but evaluates an expression,
 * so a base URL that must not get the key becomes a data URL: n8n's HTTP client (axios) answers it
 * with its bytes, here a single zero, and sends nothing.
 */
const TEST_URL = `={{ ${BASE_URL.toString()}.test($credentials.baseUrl) ? $credentials.baseUrl.replace(/\\/+$/, '') + '/users' : 'data:,%00' }}`;

export class ResumeManagementApi implements ICredentialType {
	name = 'resumeManagementApi';

	displayName = 'Resume Management API';

	icon: Icon = {
		light: 'file:../icons/resumeManagement.svg',
		dark: 'file:../icons/resumeManagement.dark.svg',
	};

	documentationUrl =
		'https://github.com/n8n-nodes-resume-management/n8n-nodes-resume-management#credentials';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. https://api.example.com/v1',
			description:
				'Address of the service up to and including its version segment. It must start with https://; http:// is accepted for a service on this machine only.',
		},
		{
			displayName: 'Private Key',
			name: 'privateKey',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			description: 'The private API key that your account manager issued',
		},
		{
			displayName: 'Webhook Secret',
			name: 'webhookSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description:
				'The secret that the service sends, or signs its webhooks with. Used by the Resume Management Trigger alone; leave it empty when you do not verify webhooks.',
		},
		{
			displayName: 'Older Webhook Secret',
			name: 'olderWebhookSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description:
				'The previous secret, which is also accepted while the service changes over. Clear it when that is done.',
		},
	];

	/**
	 * The service spells its header `Authentication` (partner API specification, §4 and §5). As a function,
	 * since n8n would evaluate an expression for each request.
	 */
	authenticate: ICredentialType['authenticate'] = async ({ privateKey }, request) => ({
		...request,
		headers: {
			...request.headers,
			Authentication: `Bearer ${String(privateKey)}`,
			// Asked for on each request, those without a body included (§4).
			'Content-type': 'application/json',
		},
	});

	/**
	 * Errors come with HTTP 200 and a `status` of "error", and each answer of the service carries a
	 * `status` (§2 and §7.1), so the body alone decides. HTTP errors are let through to the rules:
	 * n8n would otherwise send a 401 twice, and n8n 1.x shows a general sentence in place of ours.
	 */
	test: ICredentialTestRequest = {
		request: {
			url: TEST_URL,
			disableFollowRedirect: true,
			ignoreHttpStatusErrors: true,
		},
		rules: [
			{
				type: 'responseSuccessBody',
				properties: {
					key: '0',
					value: 0,
					message:
						'Base URL must start with https:// (http:// for a service on this machine only) and end in its version, such as https://api.example.com/v1. Nothing was sent.',
				},
			},
			{
				type: 'responseSuccessBody',
				properties: {
					key: 'status',
					value: 'error',
					message:
						'The service refused the request. Check that Private Key is complete and the one that your account manager issued, and that Base URL is the address that belongs to it.',
				},
			},
			{
				type: 'responseSuccessBody',
				properties: {
					key: 'status',
					value: undefined,
					message:
						'Something answered at this address, but not the resume-management service. Check that Base URL is complete and ends in its version, such as https://api.example.com/v1.',
				},
			},
		],
	};
}
