import { createHmac } from 'node:crypto';

import type { WebhookRegistration } from './registration.mts';

/**
 * @param webhook with its defaults filled in
 * @param body the exact bytes that are sent
 * @param now time of the attempt, a Unix timestamp in seconds
 * @returns the headers that prove to the receiver that a delivery is genuine
 */
export function signatureHeaders(
	webhook: WebhookRegistration,
	body: Uint8Array,
	now: number,
): Record<string, string> {
	const { style, secret = '', headerName = '' } = webhook;
	if (style === 'none') return {};
	if (style === 'header') return { [headerName]: secret };

	const { encoding = 'hex', prefix = '', timestampHeader } = webhook;
	const hmac = createHmac('sha256', secret);
	if (timestampHeader !== undefined) hmac.update(`${now}.`);
	const signature = prefix + hmac.update(body).digest(encoding);
	return {
		[headerName]: signature,
		...(timestampHeader !== undefined && { [timestampHeader]: String(now) }),
	};
}
