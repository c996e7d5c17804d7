import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

import { withoutPrefix } from '../shared/secrets';

/** Settings for proving that the service has sent a request, named as the trigger's fields. */
export interface VerificationSettings {
	/**
	 * `standardWebhooks`:
	 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
	 */
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
	/** The names are in lower case. */
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
export function whyRejected(
	settings: VerificationSettings,
	delivery: Delivery,
): string | undefined {
	const { verification, headerName, webhookSecrets } = settings;
	if (verification === 'none') return undefined;
	const names = verification === 'standardWebhooks' ? STANDARD_HEADERS : [headerName];
	const missing = names.find((name) => headerOf(delivery, name) === '');
	if (missing !== undefined) return `The header ${missing} is missing.`;
	if (verification === 'standardWebhooks') return standardRejection(webhookSecrets, delivery);
	if (verification === 'hmac') return hmacRejection(settings, delivery);
	const value = headerOf(delivery, headerName);
	const withoutScheme = value.replace(/^Bearer +/i, '');
	const isRight = webhookSecrets.some(
		(secret) => isEqual(value, secret) || isEqual(withoutScheme, secret),
	);
	return isRight ? undefined : 'The secret is wrong.';
}

const WRONG = 'The signature is wrong.';

function hmacRejection(settings: VerificationSettings, delivery: Delivery): string | undefined {
	const { headerName, signatureEncoding, signaturePrefix, webhookSecrets } = settings;
	const header = headerOf(delivery, headerName);
	const signatures = signaturesIn(header, signaturePrefix);
	if (isSigned(webhookSecrets, delivery.body, signatures, signatureEncoding)) return undefined;
	if (signatures.length === 0) return WRONG + prefixHint(header);
	const isSecret = webhookSecrets.some((secret) => signatures.some((one) => isEqual(one, secret)));
	if (isSecret) return `${WRONG} It is the secret itself: choose Secret in a Header.`;
	return WRONG + encodingHint(signatures, signatureEncoding);
}

/** Returns a sentence if the sender uses the other encoding; '' if not. */
function encodingHint(
	signatures: string[],
	encoding: VerificationSettings['signatureEncoding'],
): string {
	const isHex = signatures.some(({ length }) => length === 64);
	if (isHex === (encoding === 'hex')) return '';
	return ` It is in ${isHex ? 'hex' : 'Base64'}: choose that in Signature Encoding.`;
}

function standardRejection(secrets: string[], delivery: Delivery): string | undefined {
	const [id, timestamp, header = ''] = STANDARD_HEADERS.map((name) => headerOf(delivery, name));
	const isTimely = Math.abs(delivery.receivedAt.getTime() / 1000 - Number(timestamp)) <= TOLERANCE;
	if (!isTimely) return 'The timestamp, in seconds, is not within 5 minutes of now.';
	const keys = secrets.map((secret) => Buffer.from(withoutPrefix(secret), 'base64'));
	const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), delivery.body]);
	const signatures = signaturesIn(header, 'v1,');
	return isSigned(keys, signed, signatures, 'base64') ? undefined : WRONG;
}

/** Returns the ID of a Standard Webhooks message; '' for another verification. */
export function signedId({ verification }: VerificationSettings, delivery: Delivery): string {
	return verification === 'standardWebhooks' ? headerOf(delivery, STANDARD_HEADERS[0]) : '';
}

/** An HMAC-SHA256 in hex, or in Base64, also for URLs, with or without padding. */
const SIGNATURE = '([0-9a-fA-F]{64}|[a-zA-Z0-9+/_-]{43}=?)';

/**
 * What separates the parts of a header, and stands at its ends. Node.js joins the lines of a header
 * with a comma.
 */
const START = '(?<=^|[ \\t,;])';
const END = '(?=$|[ \\t,;])';

/**
 * Finds the signatures after a prefix. There may be several, such as of the old and the new secret,
 * and a blank before each.
 */
function signaturesIn(header: string, prefix: string): string[] {
	const exactPrefix = prefix.replace(/[^\w\s]/g, '\\$&');
	const pattern = new RegExp(`${START}${exactPrefix} ?${SIGNATURE}${END}`, 'g');
	return Array.from(header.matchAll(pattern), ([, signature]) => signature!);
}

/**
 * A text before a signature that looks like a prefix. It is bounded, because any text could stand
 * there.
 */
const ANY_PREFIX = new RegExp(`${START}([^ \\t,;]{0,32}[=:-])?${SIGNATURE}${END}`);

/**
 * Returns a sentence with the prefix that the sender uses; '' if the header has no signature after
 * one.
 */
function prefixHint(header: string): string {
	const [found, prefix] = ANY_PREFIX.exec(header) ?? [];
	if (found === undefined) return '';
	if (prefix === undefined) return ' The header has no text before it: clear Signature Prefix.';
	return ` The header has ${JSON.stringify(prefix)} before it: enter that in Signature Prefix.`;
}

/** Checks whether one of the signatures is the HMAC-SHA256 of the bytes with one of the keys. */
function isSigned(
	keys: Array<string | Buffer>,
	bytes: Buffer,
	signatures: string[],
	encoding: VerificationSettings['signatureEncoding'],
): boolean {
	return keys.some((key) => {
		const expected = createHmac('sha256', key).update(bytes).digest();
		return signatures.some((signature) => isEqual(Buffer.from(signature, encoding), expected));
	});
}

/** Returns the value of a header; '' if it is missing. */
function headerOf({ headers }: Delivery, name: string): string {
	const value = headers[name.toLowerCase()];
	return typeof value === 'string' ? value.trim() : '';
}

/** Compares digests, so that the time shows neither the content nor the length of a secret. */
function isEqual(given: string | Buffer, expected: string | Buffer): boolean {
	return timingSafeEqual(digestOf(given), digestOf(expected));
}

function digestOf(secret: string | Buffer): Buffer {
	return createHash('sha256').update(secret).digest();
}
