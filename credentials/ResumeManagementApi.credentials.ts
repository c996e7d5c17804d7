import type { ICredentialTestRequest, ICredentialType, Icon, INodeProperties } from 'n8n-workflow';

/**
 * Base URLs that may receive the private key: https anywhere, or http on a loopback host, ending in
 * the version segment that the service puts into its base address (partner API specification, §4).
 */
export const BASE_URL =
	/^(https:\/\/[^/?#@\s]+|http:\/\/(localhost|127(\.[0-9]+){3}|\[::1\])(:[0-9]+)?)(\/[^?#\s]*)?\/v[0-9]+\/*$/;

/**
 * Address of the credential's test. n8n runs none of our code for it, but evaluates an expression. For a Base URL that may
 * not receive the key, the address is no URL, so that n8n's HTTP client fails and sends nothing.
 */
const TEST_URL = `={{ ${BASE_URL.toString()}.test($credentials.baseUrl) ? $credentials.baseUrl.replace(/\\/+$/, '') + '/users' : 'Invalid Base URL' }}`;

/**
 * Values of `status` at which the test fails: n8n's rules compare with one value each. The service writes "success"
 * or "error" (§2); the others are those of health checks, of JSend and of RFC 9457. A path such as `status.toFixed.name`
 * matches any number.
 */
const WRONG_STATUSES: Array<[key: string, value: unknown]> = [
	...['Error', 'ERROR', 'fail', 'FAIL', 'failed', 'failure', 'ok', 'OK', 'up', 'UP', 'DOWN'].map(
		(value): [string, string] => ['status', value],
	),
	['status', undefined],
	['status', null],
	['status', true],
	['status', false],
	['status.toFixed.name', 'toFixed'],
];

const rule = (key: string, value: unknown, message: string) => {
	return { type: 'responseSuccessBody' as const, properties: { key, value, message } };
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
				'Address of the service up to and including its version segment. It must start with https://; http:// is accepted for localhost only.',
			hint: 'Starts with https:// and ends in the version of the service, such as /v1. The test says ERR_INVALID_URL otherwise.',
		},
		{
			displayName: 'Private Key',
			name: 'privateKey',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			description: 'The private API key of your account',
		},
		{
			displayName: 'Webhook Secret',
			name: 'webhookSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description:
				'The secret that a webhook carries or is signed with. Only the Resume Management Trigger uses it.',
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
	 * Succeeds only for what the nodes accept. n8n takes each HTTP status from 400 on for a failure by itself; as errors
	 * come with HTTP 200 too (§7.1), the rules check the body.
	 */
	test: ICredentialTestRequest = {
		request: { url: TEST_URL, disableFollowRedirect: true },
		rules: [
			rule('status', 'error', REFUSED),
			// Any text but an empty one.
			rule('errorCode[0].constructor.name', 'String', REFUSED),
			...WRONG_STATUSES.map(([key, value]) => rule(key, value, NOT_THE_SERVICE)),
		],
	};
}
