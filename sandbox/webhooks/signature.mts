import { createHmac } from 'node:crypto';

import { Webhook as StandardWebhook } from 'standardwebhooks';

/** Where deliveries go, and how the receiver can tell that they are genuine. */
export interface WebhookRegistration {
	/** http or https. */
	url: string;
	/**
	 * `none`: no proof. `header`: the secret itself in a header. `hmac`: HMAC-SHA256 of the raw body
	 * in a header. `standardWebhooks`: the three headers of Standard Webhooks.
	 */
	style: (typeof STYLES)[number];
	/** Needed by all but `none`; `standardWebhooks` takes Base64, behind `whsec_` or not. */
	secret?: string;
	/** `X-Webhook-Secret` (`header`) or `X-Webhook-Signature` when missing; `standardWebhooks` has none. */
	headerName?: string;
	/** How `hmac` writes the signature; `hex` when missing. */
	encoding?: 'hex' | 'base64';
	/** Stands before the signature of `hmac`, e.g. `sha256=`. */
	prefix?: string;
}

export const STYLES = ['none', 'header', 'hmac', 'standardWebhooks'] as const;

/**
 * @param eventId stays the same for each attempt
 * @param body as it is sent
 * @param time of the attempt
 * @returns the headers that prove to the receiver that a delivery is genuine
 */
export function signatureHeaders(
	{ style, secret = '', ...options }: WebhookRegistration,
	eventId: string,
	body: string,
	time: Date,
): Record<string, string> {
	const { headerName, encoding = 'hex', prefix = '' } = options;
	switch (style) {
		case 'none':
			return {};
		case 'header':
			return { [headerName || 'X-Webhook-Secret']: secret };
		case 'hmac': {
			const signature = createHmac('sha256', secret).update(body).digest(encoding);
			return { [headerName || 'X-Webhook-Signature']: prefix + signature };
		}
		case 'standardWebhooks':
			return {
				'webhook-id': eventId,
				'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
				'webhook-signature': new StandardWebhook(secret).sign(eventId, time, body),
			};
	}
}
