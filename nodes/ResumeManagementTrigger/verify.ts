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
const TOLERANCE = 300;

/** Returns why a request is not verified, as a sentence; undefined if it is. */
export function rejection(settings: VerificationSettings, delivery: Delivery): string | undefined {
	const { verification, headerName, webhookSecrets } = settings;
	if (verification === 'none') return undefined;
	const names = verification === 'standardWebhooks' ? STANDARD_HEADERS : [headerName];
	const missing = names.find((name) => headerOf(delivery, name) === '');
	if (missing !== undefined) return `The header ${missing} is missing.`;
	if (verification === 'standardWebhooks') return standardRejection(webhookSecrets, delivery);
	if (verification === 'hmac') return hmacRejection(settings, delivery);
	const value = headerOf(delivery, headerName);
	const isRight = webhookSecrets.some((secret) => isEqual(value, secret));
	return isRight ? undefined : 'The secret is wrong.';
}

const WRONG = 'The signature is wrong.';

function hmacRejection(settings: VerificationSettings, delivery: Delivery): string | undefined {
	const { headerName, signatureEncoding, signaturePrefix, webhookSecrets } = settings;
	const header = headerOf(delivery, headerName);
	const signatures = signaturesIn(header, signaturePrefix);
	if (isSigned(webhookSecrets, delivery.body, signatures, signatureEncoding)) return undefined;
	// Otherwise, the prefix is a part of another one, or is not in the header.
	const isPrefixRight = signatures.some((text) => prefixOf(text) === '');
	const prefix = prefixOf(header);
	if (isPrefixRight || prefix === undefined) return WRONG;
	return prefix === ''
		? `${WRONG} The header has no text before it: clear Signature Prefix.`
		: `${WRONG} The header has ${JSON.stringify(prefix)} before it: enter that in Signature Prefix.`;
}

function standardRejection(secrets: string[], delivery: Delivery): string | undefined {
	const [id, timestamp, header = ''] = STANDARD_HEADERS.map((name) => headerOf(delivery, name));
	const isTimely = Math.abs(delivery.receivedAt.getTime() / 1000 - Number(timestamp)) <= TOLERANCE;
	if (!isTimely) return 'The timestamp is not within 5 minutes of now.';
	const keys = secrets.map((secret) => Buffer.from(withoutPrefix(secret), 'base64'));
	const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), delivery.body]);
	return isSigned(keys, signed, signaturesIn(header, 'v1,'), 'base64') ? undefined : WRONG;
}

/** Returns the ID of a Standard Webhooks message; '' for another verification. */
export function signedId({ verification }: VerificationSettings, delivery: Delivery): string {
	return verification === 'standardWebhooks' ? headerOf(delivery, STANDARD_HEADERS[0]) : '';
}

/**
 * Returns the signatures after a prefix. There may be several, as of the old and the new secret, separated by blanks, commas or
 * semicolons: Node.js joins the lines of a header with a comma.
 */
function signaturesIn(header: string, prefix: string): string[] {
	const escaped = prefix.replace(/\W/g, '\\$&');
	// Base64 without padding, the shorter encoding, has 43 characters.
	const pattern = new RegExp(`(?<=^|[\\s,;])${escaped}\\s?([^\\s,;]{43,})`, 'g');
	return Array.from(header.matchAll(pattern), ([, signature]) => signature!);
}

/** A signature in hex or Base64, and the text directly before it. */
const SIGNATURE = /(?<=^|[\s,;])([^\s,;]{0,32}[=:-])?(?:[\da-f]{64}|[a-z\d+/]{43}=?)(?=$|[\s,;])/i;

/** Returns the text before the first signature, such as `sha256=`; '' without one; undefined without a signature. */
function prefixOf(header: string): string | undefined {
	const found = SIGNATURE.exec(header);
	return found ? (found[1] ?? '') : undefined;
}

/** Checks whether one of the signatures is the HMAC-SHA256 of the bytes with one of the keys. */
function isSigned(
	keys: Array<string | Buffer>,
	bytes: Buffer,
	signatures: string[],
	encoding: VerificationSettings['signatureEncoding'],
): boolean {
	// Hex in any case, Base64 with and without padding.
	const plain = (text: string) =>
		encoding === 'hex' ? text.toLowerCase() : text.replace(/=$/, '');
	return keys.some((key) => {
		const expected = plain(createHmac('sha256', key).update(bytes).digest(encoding));
		return signatures.some((signature) => isEqual(plain(signature), expected));
	});
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
