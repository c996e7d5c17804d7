import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** How a request shows that it comes from the service. */
export type Verification =
	| { kind: 'none' }
	| { kind: 'header'; headerName: string }
	| {
			kind: 'hmac';
			headerName: string;
			encoding: 'hex' | 'base64';
			/** What stands before the signature, such as `sha256=`. */
			prefix: string;
			timestamp?: {
				headerName: string;
				/** Seconds by which the timestamp may differ from this machine's clock. */
				tolerance: number;
			};
	  };

/** Node's parsed headers: names in lower case. */
export type Headers = Record<string, string | string[] | undefined>;

/**
 * Says why a request is not the service's, or undefined when it is. Compares in constant time.
 * @param body the bytes as they came, over which an HMAC-SHA256 is made: of `<timestamp>.<body>`
 * where there is a timestamp header, in Unix seconds
 * @param now Unix milliseconds
 */
export function rejection(
	verification: Verification,
	secret: string,
	headers: Headers,
	body: Buffer,
	now: number,
): string | undefined {
	if (verification.kind === 'none') return undefined;
	// An empty secret would let anybody in who signs with one.
	if (secret === '') return 'No webhook secret is set in n8n.';
	const given = header(headers, verification.headerName);
	if (given === undefined) return `The header ${verification.headerName} is missing.`;
	if (verification.kind === 'header') {
		return equal(given, secret) ? undefined : 'The secret is wrong.';
	}
	const { encoding, prefix, timestamp } = verification;
	const hmac = createHmac('sha256', secret);
	if (timestamp) {
		const time = header(headers, timestamp.headerName) ?? '';
		if (!/^\d+$/.test(time)) return `The header ${timestamp.headerName} is not a Unix time.`;
		if (Math.abs(now / 1000 - Number(time)) > timestamp.tolerance) {
			return 'The timestamp is too old, or lies ahead.';
		}
		hmac.update(`${time}.`);
	}
	const expected = prefix + hmac.update(body).digest(encoding);
	return equal(normalize(given, encoding), normalize(expected, encoding))
		? undefined
		: 'The signature is wrong.';
}

/** The one value of a header; undefined where it is missing, empty or repeated. */
function header(headers: Headers, name: string): string | undefined {
	const value = headers[name.trim().toLowerCase()];
	return typeof value === 'string' && value !== '' ? value.trim() : undefined;
}

/** Hex in any case; base64 with or without padding. */
function normalize(signature: string, encoding: 'hex' | 'base64'): string {
	return encoding === 'hex' ? signature.toLowerCase() : signature.replace(/=+$/, '');
}

/** Compares digests, as `timingSafeEqual` takes equal lengths alone. */
function equal(a: string, b: string): boolean {
	const digest = (text: string) => createHash('sha256').update(text).digest();
	return timingSafeEqual(digest(a), digest(b));
}
