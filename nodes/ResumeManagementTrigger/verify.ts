import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

import { withoutPrefix } from '../shared/secrets';

/** Settings for proving that the service has sent a request, named as the trigger's fields. */
export interface VerificationSettings {
	/** `standardWebhooks`: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
	verification: 'none' | 'header' | 'hmac' | 'standardWebhooks';
	headerName: string;
	signatureEncoding: 'hex' | 'base64';
	/** The text before the signature, such as `sha256=`. */
	signaturePrefix: string;
	/** Accepted secrets. None is empty, because anybody can sign with an empty secret. */
	webhookSecrets: string[];
}

/** A request as it was received. */
export interface Delivery {
	/** By lower-case name. */
	headers: Record<string, string | string[] | undefined>;
	/** Unpacked bytes, which a signature is made of. */
	body: Buffer;
	receivedAt: Date;
}

/** The headers of Standard Webhooks. A message that is sent again keeps its ID. */
const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/** Seconds by which the timestamp of Standard Webhooks may differ from n8n's clock. */
export const TOLERANCE = 300;

/** Returns why a request is not verified, as a sentence; undefined if it is. */
export function rejection(settings: VerificationSettings, delivery: Delivery): string | undefined {
	const { verification, headerName, webhookSecrets } = settings;
	if (verification === 'none') return undefined;
	const names = verification === 'standardWebhooks' ? STANDARD_HEADERS : [headerName];
	const missing = names.find((name) => headerOf(delivery, name) === '');
	if (missing !== undefined) return `The header ${missing} is missing.`;
	if (verification === 'standardWebhooks') return standardRejection(webhookSecrets, delivery);

	const value = headerOf(delivery, headerName);
	if (verification === 'header') {
		const isRight = webhookSecrets.some((secret) => isEqual(value, secret));
		return isRight ? undefined : 'The secret is wrong.';
	}
	const { signaturePrefix: prefix, signatureEncoding: encoding } = settings;
	const given = value.startsWith(prefix) ? value.slice(prefix.length).trim() : '';
	return signatureRejection(webhookSecrets, delivery.body, [given], encoding);
}

function standardRejection(secrets: string[], delivery: Delivery): string | undefined {
	const [id, timestamp, value = ''] = STANDARD_HEADERS.map((name) => headerOf(delivery, name));
	const isTimely = Math.abs(delivery.receivedAt.getTime() / 1000 - Number(timestamp)) <= TOLERANCE;
	if (!isTimely) return 'The timestamp is not within 5 minutes of now.';
	const keys = secrets.map((secret) => Buffer.from(withoutPrefix(secret), 'base64'));
	const signatures = value
		.split(' ')
		.filter((signature) => signature.startsWith('v1,'))
		.map((signature) => signature.slice('v1,'.length));
	const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), delivery.body]);
	return signatureRejection(keys, signed, signatures, 'base64');
}

/** Returns the ID of a Standard Webhooks message; '' for another verification. */
export function signedId({ verification }: VerificationSettings, delivery: Delivery): string {
	return verification === 'standardWebhooks' ? headerOf(delivery, STANDARD_HEADERS[0]) : '';
}

/** Rejects signatures none of which is the HMAC-SHA256 of the bytes with one of the keys. */
function signatureRejection(
	keys: Array<string | Buffer>,
	bytes: Buffer,
	signatures: string[],
	encoding: VerificationSettings['signatureEncoding'],
): string | undefined {
	// Hex in any case, Base64 with and without padding.
	const plain = (text: string) =>
		encoding === 'hex' ? text.toLowerCase() : text.replace(/=$/, '');
	const isRight = keys.some((key) => {
		const expected = plain(createHmac('sha256', key).update(bytes).digest(encoding));
		return signatures.some((signature) => isEqual(plain(signature), expected));
	});
	return isRight ? undefined : 'The signature is wrong.';
}

/** Returns the value of a header; '' if it is missing. */
function headerOf({ headers }: Delivery, name: string): string {
	const value = headers[name.toLowerCase()];
	return typeof value === 'string' ? value.trim() : '';
}

/** Compares digests, so that the time shows neither the content nor the length of a secret. */
function isEqual(one: string, other: string): boolean {
	const digest = (text: string) => createHash('sha256').update(text).digest();
	return timingSafeEqual(digest(one), digest(other));
}
