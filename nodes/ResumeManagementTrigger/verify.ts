import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

import { withoutPrefix } from '../shared/secrets';

/** How a request shows that it comes from the service; the names are those of the node's fields. */
export interface Verification {
	/**
	 * `standardWebhooks`: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
	 * `timestampedSignature`: https://docs.stripe.com/webhooks#verify-manually
	 */
	verification: 'none' | 'header' | 'hmac' | 'standardWebhooks' | 'timestampedSignature';
	headerName: string;
	signatureEncoding: 'hex' | 'base64';
	/** The text before the signature, such as `sha256=`. */
	signaturePrefix: string;
	/** '' where only the body is signed. */
	timestampHeader: string;
	/** Seconds by which a timestamp may differ from this machine's clock. */
	timestampTolerance: number;
	/** Each of them is accepted. None of them is empty: anybody can sign with an empty one. */
	webhookSecrets: string[];
}

/** A request as it came. */
export interface Delivery {
	/** Their names are in lower case. */
	headers: Record<string, string | string[] | undefined>;
	/** The bytes, which an HMAC-SHA256 signs. */
	body: Buffer;
	receivedAt: Date;
}

/** The headers of Standard Webhooks. The ID is the same each time that a message is sent. */
const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/**
 * Why a request is not the service's, as a sentence; undefined when it is. Compares in constant time,
 * and takes time in proportion to the length of the request.
 */
export function rejection(settings: Verification, delivery: Delivery): string | undefined {
	const { verification, webhookSecrets, timestampTolerance } = settings;
	if (verification === 'none') return undefined;
	const names = headerNames(settings);
	const values = names.map((name) => header(delivery, name));
	const missing = values.indexOf('');
	if (missing >= 0) return `The header ${names[missing]} is missing.`;
	if (verification === 'header') {
		const isRight = webhookSecrets.some((secret) => equal(digest(values[0]!), digest(secret)));
		return isRight ? undefined : 'The secret is wrong.';
	}
	const { parts, prefix, encoding, signed } = readProof(settings, values);
	const time = signed.at(-1);
	if (time !== undefined) {
		// Unix seconds have no more digits than that; milliseconds have.
		if (!/^[0-9]{1,12}$/.test(time)) return 'The timestamp is not a Unix time in seconds.';
		const difference = Math.abs(delivery.receivedAt.getTime() / 1000 - Number(time));
		const isTimely = difference <= timestampTolerance;
		if (!isTimely) return 'The timestamp is too old, or in the future.';
	}
	const before = signed.map((text) => `${text}.`).join('');
	const given = valuesOf(parts, prefix).map((signature) => plain(signature, encoding));
	const isRight = webhookSecrets.some((secret) => {
		const key = verification === 'standardWebhooks' ? standardKey(secret) : secret;
		if (key === undefined) return false;
		const hmac = createHmac('sha256', key).update(before).update(delivery.body);
		const expected = plain(hmac.digest(encoding), encoding);
		return given.some((one) => equal(Buffer.from(one), Buffer.from(expected)));
	});
	return isRight ? undefined : 'The signature is wrong.';
}

/** The ID that a verified request carries beside its body, if its kind of verification has one. */
export function signedId(settings: Verification, delivery: Delivery): string | undefined {
	if (settings.verification !== 'standardWebhooks') return undefined;
	return header(delivery, STANDARD_HEADERS[0]!);
}

/** The key of a Standard Webhooks secret; undefined for any other text. */
export function standardKey(secret: string): Buffer | undefined {
	const text = withoutPrefix(secret);
	const key = Buffer.from(text, 'base64');
	const isBase64 = key.toString('base64').slice(0, text.length) === text;
	return key.length > 0 && isBase64 ? key : undefined;
}

/** The headers that a request must have. */
function headerNames({ verification, headerName, timestampHeader }: Verification): string[] {
	if (verification === 'standardWebhooks') return STANDARD_HEADERS;
	const isTimed = verification === 'hmac' && timestampHeader !== '';
	return isTimed ? [headerName, timestampHeader] : [headerName];
}

/** The one value of a header; '' where it is missing, empty or repeated. */
function header({ headers }: Delivery, name: string): string {
	const value = headers[name.toLowerCase()];
	return typeof value === 'string' ? value.trim() : '';
}

/** What a request offers as its proof. */
interface Proof {
	/** Some of them are signatures, after the prefix; one of those has to be right. */
	parts: string[];
	prefix: string;
	encoding: Verification['signatureEncoding'];
	/** What is signed before the body, each with a full stop after it; the last is the time. */
	signed: string[];
}

/** @param values those of {@link headerNames} */
function readProof(settings: Verification, values: string[]): Proof {
	const { verification, signatureEncoding: encoding, signaturePrefix: prefix } = settings;
	if (verification === 'standardWebhooks') {
		const [id = '', time = '', signatures = ''] = values;
		return { parts: signatures.split(' '), prefix: 'v1,', encoding: 'base64', signed: [id, time] };
	}
	const [first = '', ...times] = values;
	if (verification === 'hmac') return { parts: [first], prefix, encoding, signed: times };
	const parts = first.split(',').map((part) => part.trim());
	// Two times are no Unix time, and neither is none.
	const time = valuesOf(parts, 't=').join(' ');
	return { parts, prefix: 'v1=', encoding: 'hex', signed: [time] };
}

/** What follows the prefix, in those that have it. A blank may stand in between, as in `HMAC 5257…`. */
function valuesOf(parts: string[], prefix: string): string[] {
	const matching = parts.filter((part) => part.startsWith(prefix));
	return matching.map((part) => part.slice(prefix.length).trim());
}

/** A signature as it is compared: hex in any case, base64 with or without padding. */
function plain(signature: string, encoding: Proof['encoding']): string {
	return encoding === 'hex' ? signature.toLowerCase() : signature.replace(/=$/, '');
}

/** Secrets are compared by their digests, so that not even their length shows. */
function digest(secret: string): Buffer {
	return createHash('sha256').update(secret).digest();
}

function equal(one: Buffer, other: Buffer): boolean {
	return one.length === other.length && timingSafeEqual(one, other);
}
