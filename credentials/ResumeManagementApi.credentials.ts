import type { ICredentialTestRequest, ICredentialType, Icon, INodeProperties } from 'n8n-workflow';

/**
 * Base URLs that may receive the private key: https anywhere, or http on a loopback host. Each ends in the version segment
 * of the service's base address (partner API specification, §4). No segment is empty: with http://localhost//v1, n8n's client
 * would ask a proxy for the host v1.
 */
export const BASE_URL =
	/^(https:\/\/[^/\\?#@\s]+|http:\/\/(localhost|127(\.[0-9]+){3}|\[::1\])(:[0-9]+)?)(\/[^/\\?#\s]+)*\/v[0-9]+\/*$/;

/**
 * Removes from a pasted private key what no key has: `Bearer`, blanks, line breaks, and all characters that no header may
 * carry, such as curly quotes.
 */
export function privateKeyOf(pasted: unknown): string {
	return String(pasted ?? '')
		.replace(/\s+/g, ' ')
		.replace(/[^ -~]/g, '')
		.trim()
		.replace(/^Bearer( |$)/i, '')
		.replaceAll(' ', '');
}

/**
 * Address of the credential's test, as an expression: n8n runs no code of the package for the test. For a Base URL that may
 * not receive the key, the expression gives no URL, so that n8n's HTTP client fails and sends nothing.
 */
const TEST_URL = `={{ ${BASE_URL.toString()}.test($credentials.baseUrl) ? $credentials.baseUrl.replace(/\\/+$/, '') + '/users' : 'Invalid Base URL' }}`;

const rule = (key: string, value: unknown, message: string) => {
	return { type: 'responseSuccessBody' as const, properties: { key, value, message } };
};

const statusRule = (value: number, message: string) => {
	return { type: 'responseCode' as const, properties: { value, message } };
};

const REFUSED =
	'The service refused the request. Check that Private Key is complete, and that Base URL is the address that belongs to it.';

const NOT_THE_SERVICE =
	'The response at this address is not from the resume-management service. Check that Base URL is complete and ends in its version, such as https://api.example.com/v1.';

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
				'Address of the service up to and including its version segment. The private key is sent only to this address.',
			hint: 'Starts with https:// and ends in a version, such as /v1',
		},
		{
			displayName: 'Private Key',
			name: 'privateKey',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			description: 'The private API key of your account',
			hint: 'From your account manager, with or without "Bearer". A user token is not a private key.',
		},
		{
			displayName: 'Webhook Secret',
			name: 'webhookSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description:
				'The secret that a webhook carries or is signed with. Only the Resume Management Trigger uses it.',
			hint: 'As agreed with your account manager. Leave empty if no workflow starts on an event.',
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

	/** Adds the header `Authentication`, as the service spells it (§4 and §5). A function, as n8n evaluates an expression each time. */
	authenticate: ICredentialType['authenticate'] = async ({ privateKey }, request) => ({
		...request,
		headers: {
			...request.headers,
			Authentication: `Bearer ${privateKeyOf(privateKey)}`,
			// Required on each request, also without a body (§4).
			'Content-type': 'application/json',
		},
	});

	/**
	 * Fails for an error of the service, also with HTTP 200 (§7.1), and for a response without a status. n8n compares one
	 * value of the body for each rule, and fails by itself from HTTP 400 on (credentials-tester.service.ts). n8n 2 has rules
	 * for a status, too.
	 */
	test: ICredentialTestRequest = {
		request: { url: TEST_URL, disableFollowRedirect: true },
		rules: [
			rule('status', 'error', REFUSED),
			// n8n compares the value at a path. Only a string that is not empty has a first character.
			rule('errorCode[0].constructor.name', 'String', REFUSED),
			rule('status', undefined, NOT_THE_SERVICE),
			...[401, 403].map((value) => statusRule(value, REFUSED)),
			statusRule(404, NOT_THE_SERVICE),
		] as ICredentialTestRequest['rules'],
	};
}
