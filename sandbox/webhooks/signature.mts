import { createHmac } from 'node:crypto';

import { standardKey, type WebhookRegistration } from './registration.mts';

/**
 * @param webhook with its defaults filled in
 * @param eventId stays the same for each attempt
 * @param body the exact bytes that are sent
 * @param now time of the attempt, a Unix timestamp in seconds
 * @returns the headers that prove to the receiver that a delivery is genuine
 */
export function signatureHeaders(
	webhook: WebhookRegistration,
	eventId: string,
	body: Uint8Array,
	now: number,
): Record<string, string> {
	const { style, secret = '', headerName = '' } = webhook;
	const sign = (key: string | Buffer, before: string, encoding: 'hex' | 'base64') =>
		createHmac('sha256', key).update(before).update(body).digest(encoding);
	switch (style) {
		case 'none':
			return {};
		case 'header':
			return { [headerName]: secret };
		case 'hmac': {
			const { encoding = 'hex', prefix = '', timestampHeader } = webhook;
			if (timestampHeader === undefined) {
				return { [headerName]: prefix + sign(secret, '', encoding) };
			}
			return {
				[headerName]: prefix + sign(secret, `${now}.`, encoding),
				[timestampHeader]: String(now),
			};
		}
		// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
		case 'standardWebhooks':
			return {
				'webhook-id': eventId,
				'webhook-timestamp': String(now),
				'webhook-signature': `v1,${sign(standardKey(secret), `${eventId}.${now}.`, 'base64')}`,
			};
		case 'timestampedSignature':
			return { [headerName]: `t=${now},v1=${sign(secret, `${now}.`, 'hex')}` };
	}
}
