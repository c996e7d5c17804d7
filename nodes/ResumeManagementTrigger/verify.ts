import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** How a request shows that it comes from the service. */
export type Verification =
	| { kind: 'none' }
	| { kind: 'header'; headerName: string }
	| {
			kind: 'hmac';
			headerName: string;
			encoding: Encoding;
			/** What stands before the signature, such as `sha256=`. */
			prefix: string;
			timestamp?: { headerName: string; tolerance: Seconds };
	  }
	/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
	| { kind: 'standardWebhooks'; tolerance: Seconds }
	/** One header with `t=<time>,v1=<signature>`: https://docs.stripe.com/webhooks#verify-manually */
	| { kind: 'timestampedSignature'; headerName: string; tolerance: Seconds };

type Encoding = 'hex' | 'base64';

/** By how much a timestamp may differ from this machine's clock. */
type Seconds = number;

/** Node's parsed headers: names in lower case. */
export type Headers = Record<string, string | string[] | undefined>;

/** What a request offers as its signature. */
interface Proof {
	/** One of them has to be right. */
	signatures: string[];
	encoding: Encoding;
	/** What is signed before the body. */
	before: string;
	timestamp?: { text: string; tolerance: Seconds; headerName: string };
}

/** The header whose value is the same each time that Standard Webhooks sends a message. */
const MESSAGE_ID = 'webhook-id';

/**
 * Says why a request is not the service's, or undefined when it is. Compares in constant time, and
 * takes no longer than in proportion to what was sent.
 * @param secrets of which either may be used; empty ones are not
 * @param body the bytes as they came, over which an HMAC-SHA256 is made
 * @param now Unix milliseconds
 */
export function rejection(
	verification: Verification,
	secrets: string[],
	headers: Headers,
	body: Buffer,
	now: number,
): string | undefined {
	if (verification.kind === 'none') return undefined;
	// An empty secret would let anybody in who signs with one.
	const usable = secrets.filter((secret) => secret !== '');
	if (usable.length === 0) return 'No webhook secret is set in n8n.';
	if (verification.kind === 'header') {
		const given = header(headers, verification.headerName);
		if (given === undefined) return missing(verification.headerName);
		return usable.some((secret) => equal(given, secret)) ? undefined : 'The secret is wrong.';
	}
	const proof = readProof(verification, headers);
	if (typeof proof === 'string') return proof;
	const { signatures, encoding, before, timestamp } = proof;
	if (timestamp) {
		// No more digits than Unix seconds have, so that milliseconds are told from them.
		if (!/^[0-9]{1,12}$/.test(timestamp.text)) {
			return `The header ${timestamp.headerName} is not a Unix time.`;
		}
		// Whatever is no number fails this, too.
		if (!(Math.abs(now / 1000 - Number(timestamp.text)) <= timestamp.tolerance)) {
			return 'The timestamp is too old, or in the future.';
		}
	}
	const isRight = usable.some((secret) => {
		const key = verification.kind === 'standardWebhooks' ? standardKey(secret) : secret;
		if (key === undefined) return false;
		const expected = createHmac('sha256', key).update(before).update(body).digest(encoding);
		return signatures.some((signature) => isSignature(signature, expected, encoding));
	});
	return isRight ? undefined : 'The signature is wrong.';
}

/** The ID that a verified request carries beside its body, where its kind has one. */
export function signedId({ kind }: Verification, headers: Headers): string | undefined {
	return kind === 'standardWebhooks' ? header(headers, MESSAGE_ID) : undefined;
}

/** The key of a Standard Webhooks secret: Base64, often behind `whsec_`. Undefined for other texts. */
export function standardKey(secret: string): Buffer | undefined {
	const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret;
	const key = Buffer.from(text, 'base64');
	const isBase64 = key.toString('base64').slice(0, text.length) === text;
	return key.length > 0 && isBase64 ? key : undefined;
}

/** @returns a sentence where there is nothing to verify */
function readProof(
	verification: Exclude<Verification, { kind: 'none' | 'header' }>,
	headers: Headers,
): Proof | string {
	if (verification.kind === 'standardWebhooks') {
		const id = header(headers, MESSAGE_ID);
		if (id === undefined) return missing(MESSAGE_ID);
		const headerName = 'webhook-timestamp';
		const text = header(headers, headerName) ?? '';
		const signatures = header(headers, 'webhook-signature');
		if (signatures === undefined) return missing('webhook-signature');
		return {
			signatures: valuesOf(signatures.split(' '), 'v1,'),
			encoding: 'base64',
			before: `${id}.${text}.`,
			timestamp: { text, headerName, tolerance: verification.tolerance },
		};
	}
	const { headerName } = verification;
	const given = header(headers, headerName);
	if (given === undefined) return missing(headerName);
	if (verification.kind === 'timestampedSignature') {
		const parts = given.split(',').map((part) => part.trim());
		const [text, ...others] = valuesOf(parts, 't=');
		if (text === undefined || others.length > 0)
			return `The header ${headerName} does not hold exactly one time.`;
		return {
			signatures: valuesOf(parts, 'v1='),
			encoding: 'hex',
			before: `${text}.`,
			timestamp: { text, headerName, tolerance: verification.tolerance },
		};
	}
	const { encoding, prefix, timestamp } = verification;
	const text = timestamp && (header(headers, timestamp.headerName) ?? '');
	return {
		signatures: valuesOf([given], prefix),
		encoding,
		before: text === undefined ? '' : `${text}.`,
		...(timestamp && text !== undefined && { timestamp: { ...timestamp, text } }),
	};
}

/** What follows the prefix, in those that have it. */
function valuesOf(parts: string[], prefix: string): string[] {
	return parts.filter((part) => part.startsWith(prefix)).map((part) => part.slice(prefix.length));
}

function missing(headerName: string): string {
	return `The header ${headerName} is missing.`;
}

/** The one value of a header; undefined where it is missing, empty or repeated. */
function header(headers: Headers, name: string): string | undefined {
	const value = headers[name.toLowerCase()];
	return typeof value === 'string' ? value.trim() || undefined : undefined;
}

/** Hex in any case; base64 with or without padding. */
function isSignature(given: string, expected: string, encoding: Encoding): boolean {
	const isUnpadded = encoding === 'base64' && given.length === expected.length - 1;
	const signature = encoding === 'hex' ? given.toLowerCase() : isUnpadded ? `${given}=` : given;
	// The length of a signature is no secret, and timingSafeEqual takes equal ones alone.
	const [one, other] = [Buffer.from(signature), Buffer.from(expected)];
	return one.length === other.length && timingSafeEqual(one, other);
}

/** Compares digests, so that not even the length of a secret shows. */
function equal(a: string, b: string): boolean {
	const digest = (text: string) => createHash('sha256').update(text).digest();
	return timingSafeEqual(digest(a), digest(b));
}
