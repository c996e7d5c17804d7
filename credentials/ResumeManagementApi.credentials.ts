import type { ICredentialTestRequest, ICredentialType, Icon, INodeProperties } from 'n8n-workflow';

/** Hosts to which a request does not leave this machine, as `URL` writes them. */
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Checks whether the private key may be sent to an address: over https or, on this machine, over
 * http. It must end in the version segment of the service's base address (partner API
 * specification, §4).
 */
export function isBaseUrl(address: unknown): address is string {
	const text = String(address);
	// `URL` accepts these, and n8n's client may read them in another way: blanks, control characters,
	// backslashes, a user, a query.
	const hasOtherParts = /[\s\p{Cc}\p{Cs}\\?#@]/u.test(text);
	if (hasOtherParts || !/^https?:\/\/[^/]/i.test(text)) return false;
	const { protocol, hostname, pathname } = parseUrl(text) ?? {};
	const isSafe = protocol === 'https:' || LOOPBACK_HOST.test(hostname ?? '');
	// No segment is empty: with http://localhost//v1, n8n's client would ask a proxy for the host v1.
	return isSafe && /^(\/[^/]+)*\/v\d+\/*$/.test(pathname ?? '');
}

/** `URL.canParse` accepts some very long hosts that the constructor refuses. */
function parseUrl(text: string): URL | undefined {
	try {
		return new URL(text);
	} catch {
		return undefined;
	}
}

/**
 * Returns a pasted private key without what no key has: the header's name and `Bearer` before it,
 * blanks, line breaks, and characters that no header may carry, such as curly quotes. Word replaces
 * hyphens by dashes.
 */
export function privateKeyOf(pasted: unknown): string {
	const words = String(pasted ?? '')
		.replace(/[\u2010-\u2015\u2212]/g, '-')
		.replace(/[^\s!-~]/g, '')
		.replace(/^\s*auth(entication|orization)\s*:/i, '')
		.trim()
		.split(/\s+/);
	if (words[0]?.toLowerCase() === 'bearer') words.shift();
	return words.join('');
}

const INVALID_BASE_URL =
	'Base URL must start with https:// (http:// for localhost only), end in a version, such as https://api.example.com/v1, and contain no spaces.';

const REFUSED =
	'The service refused the request. Check that Private Key is complete, and that Base URL is the address that belongs to it.';

const NOT_THE_SERVICE =
	'The response at this address is not from the resume-management service. Check that Base URL is complete and ends in its version, such as https://api.example.com/v1.';

/**
 * The credential's test fails if a property of the body, or the HTTP status, has one of these
 * values (n8n/src/services/credentials-tester.service.ts). n8n 1 fails for each status from 400 on
 * with a message of its own.
 */
const RULES = [
	// A refusal: errors come with HTTP 200, too (§7.1).
	{ type: 'responseSuccessBody', properties: { key: 'status', value: 'error', message: REFUSED } },
	// A body without a status: the service always sends one (§2). Reads accept a list without it, but
	// another site may send that.
	{
		type: 'responseSuccessBody',
		properties: { key: 'status', value: undefined, message: NOT_THE_SERVICE },
	},
	{ type: 'responseCode', properties: { value: 401, message: REFUSED } },
	{ type: 'responseCode', properties: { value: 403, message: REFUSED } },
	{ type: 'responseCode', properties: { value: 404, message: NOT_THE_SERVICE } },
	// n8n's type allows a list of one kind only, but n8n looks at the type of each rule.
] as ICredentialTestRequest['rules'];

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
				'Address of the service up to and including its version segment. The nodes send the private key only to this address.',
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

	/**
	 * Adds the header `Authentication`, as the service spells it (§4 and §5). A function, because
	 * only code can clean a pasted key. n8n's generic kind would also evaluate an expression for each
	 * request, which is slow.
	 */
	authenticate: ICredentialType['authenticate'] = async ({ baseUrl, privateKey }, request) => {
		if (!isBaseUrl(baseUrl)) throw new Error(INVALID_BASE_URL);
		return {
			...request,
			headers: {
				...request.headers,
				Authentication: `Bearer ${privateKeyOf(privateKey)}`,
				// Required on each request, with or without a body (§4).
				'Content-type': 'application/json',
			},
		};
	};

	test: ICredentialTestRequest = {
		request: {
			url: '={{ $credentials.baseUrl.replace(/[/]+$/, "") }}/users',
			disableFollowRedirect: true,
		},
		rules: RULES,
	};
}
