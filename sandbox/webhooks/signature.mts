import { createHmac } from 'node:crypto';

import { Webhook as StandardWebhook } from 'standardwebhooks';

/** The receiver of events, and its proof that they are genuine. */
export interface WebhookRegistration {
	url: string;
	/** What the web pages call the receiver; its URL by default. */
	name?: string;
	/** Proof in a delivery: none, the secret itself, an HMAC-SHA256 of the body, or the headers of Standard Webhooks. */
	style: (typeof STYLES)[number];
	/** For all styles but `none`. `standardWebhooks` needs Base64, with or without `whsec_`. */
	secret?: string;
	/** For `header` and `hmac`. */
	headerName?: string;
	/** For `hmac`; `hex` by default. */
	encoding?: 'hex' | 'base64';
	/** For `hmac`: stands before the signature, e.g. `sha256=`. */
	prefix?: string;
}

export const STYLES = ['none', 'header', 'hmac', 'standardWebhooks'] as const;

/** Returns the headers that prove that a delivery is genuine. */
export function signatureHeaders(
	webhook: WebhookRegistration,
	eventId: string,
	body: string,
): Record<string, string> {
	const { style, secret = '', headerName = '', encoding = 'hex', prefix = '' } = webhook;
	if (style === 'header') return { [headerName]: secret };
	if (style === 'hmac') {
		const signature = createHmac('sha256', secret).update(body).digest(encoding);
		return { [headerName]: prefix + signature };
	}
	if (style === 'none') return {};
	const now = new Date();
	return {
		'webhook-id': eventId,
		'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
		'webhook-signature': new StandardWebhook(secret).sign(eventId, now, body),
	};
}
